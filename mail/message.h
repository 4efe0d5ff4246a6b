/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read and edit a message: its raw bytes, cut into header fields and a body. Fields are added, removed and replaced
 * whole. Every other byte leaves as it came, and the body is never copied or looked at.
 *
 *   fields | separator (the empty line) | body
 *
 * Lines end with CRLF or with a bare LF. A field is a name of printable ASCII, a colon, a value, and the lines after it
 * that begin with a blank. NUL, 8-bit bytes and lines of any length are nothing special.
 *
 * The head ends at the first empty line, or before the first line that can be no part of a field: that line belongs to
 * the body, and there is no separator. Postfix, Exim and GNU Mailman read such a mail in the same way, and write an
 * empty line before that line when they pass it on; here the bytes stay as they came. So fields below that line are
 * text for the rules and handlers of a list. A mail program that gets them without an empty line may show them as
 * fields. message_ends_header_early() tells of such a mail.
 *
 * Only as the very first line an mbox "From " line, or a field behind a UTF-8 byte order mark, is let pass: it is kept,
 * as a field without a name.
 *
 * Nothing here fails. Pointers into a message are borrowed until the next edit.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct Message Message;

typedef struct Field {
    const char *text; /* the whole field with its line ends; begins with the name */
    size_t length;
    size_t name_length;  /* 0: a first line that is no field */
    size_t value_offset; /* in text: what follows the colon */
} Field;

/* Read a message, whose bytes may be anything. A new reference to octets is taken. */
Message *message_new(GBytes *octets);
void message_free(Message *message);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Message, message_free)

/* ---- reading; names are compared without regard to case ---- */

size_t message_field_count(const Message *message);
/* Return true when the fields are followed by a line that is no part of a field, with no empty line between. A message
 * without fields gives false. */
bool message_ends_header_early(const Message *message);
/* Return the field at index, from 0 to message_field_count() - 1. */
const Field *message_field(const Message *message, size_t index);

/* Return the first field of that name at or after *index, and set *index to its place; add 1 to look for the next. NULL
 * when there is none. index may be NULL: then the search begins at the first field. */
const Field *message_find(const Message *message, const char *name, size_t *index);
bool message_has(const Message *message, const char *name);

/* Return the value of the first field of that name: raw bytes, but unfolded, without NULs and without blanks around.
 * g_free(). NULL: there is no such field. */
char *message_value(const Message *message, const char *name);
/* Return the value of this field, as message_value() returns it. */
char *field_value(const Field *field);
/* Return the value as field_value() does, but with the line ends of its folds, for a field that is written again. */
char *field_value_folded(const Field *field);
/* Has the field this name? */
bool field_is(const Field *field, const char *name);
/* Does the field tell of the content, by a name that begins with "Content-"? data is not used. */
bool field_is_content(const Field *field, void *data);

/* ---- editing ---- */

/* Put a new field before all others, or behind all others. A value may be folded (a line end before a blank). Any other
 * line end in it becomes a blank, so that no value can make a second field. */
void message_prepend(Message *message, const char *name, const char *value);
void message_append(Message *message, const char *name, const char *value);
size_t message_remove(Message *message, const char *name); /* all fields of that name; returns their number */
size_t message_remove_further(Message *message, const char *name); /* all but the first of that name; likewise */
/* Remove the fields for which unwanted() returns true; it is asked once for each, in order. Return how many were
 * removed. */
typedef bool MessageUnwanted(const Field *field, void *data);
size_t message_remove_if(Message *message, MessageUnwanted *unwanted, void *data);
/* Put the value in the place of the first field of that name, and remove the other fields of the name. Where there is
 * no such field, append one. */
void message_set(Message *message, const char *name, const char *value);

/* Return the head (fields and separator) and the body of the message as they are now, as new references. The body is
 * always a slice of the bytes that came; the head is one when nothing was edited. */
GBytes *message_head(const Message *message);
GBytes *message_body(const Message *message);
/* Return the bytes that the whole message has as it is now. */
size_t message_length(const Message *message);

/* Return the whole message in one piece, as a new reference. */
GBytes *message_octets(const Message *message);

/* Replace the whole message by these bytes, to which a new reference is taken. Bytes that were got before stay valid,
 * fields do not. */
void message_replace(Message *message, GBytes *octets);

/* Put body (a new reference is taken) in the place of the message's own. An empty line is supplied where the header
 * had ended without one. Bytes that were got before stay valid, fields do not. */
void message_set_body(Message *message, GBytes *body);

/* Return the Message-ID without angle brackets; g_free(). Return NULL when there is none. */
char *message_id(const Message *message);

/* Return the Message-ID as message_id() does, cut to MESSAGE_ID_BRIEF bytes, the longest line of RFC 5322, 2.1.1. Use
 * it for metadata and logs, which must not grow with what a sender writes. */
#define MESSAGE_ID_BRIEF 998
char *message_id_brief(const Message *message);

/* Return the value of the field Message-ID-Hash for a Message-ID: the base32 form, 32 characters, of the SHA-1 of the
 * id without its brackets. g_free() */
char *message_id_hash(const char *id);

/* Return the ids that In-Reply-To may name, without brackets, in order; g_ptr_array_unref(). Old mail programs also
 * write words and addresses there: `Message from Tom <tom@example.org> of Monday <1.2@example.org>`, or ids without
 * brackets. Set *likely to the last one that looks like an id, borrowed; NULL: none does. Of more than
 * MESSAGE_REPLIED_MAX ids, return the first ones and the last one. */
#define MESSAGE_REPLIED_MAX 20
GPtrArray *message_replied_ids(const Message *message, const char **likely);
