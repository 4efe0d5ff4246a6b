/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Split a mail that may be broken into its MIME parts, in order, over the raw bytes, and decode their fields and texts.
 * Boundaries that do not end, parts without a header, encodings that break off: what can be read is read, and nothing
 * fails. A mail is read once, whatever it holds: each line that may be a delimiter is looked up among the boundaries of
 * the multiparts that are open.
 *
 *     start  --boundary        the delimiter, if there is one
 *     head   Content-Type: text/plain
 *
 *     body   text
 *     end                      the line end here belongs to the next delimiter
 *            --boundary--
 *
 * Depth and number of parts are bounded. A part that lies too deep is not split; parts beyond the number are left out.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct MimePart {
    const char *start, *head, *body, *end; /* borrowed from the bytes */
    size_t head_length, body_length;       /* head: with the empty line; body: with the line end before a delimiter */
    char *type;                            /* "text/plain", lower case */
    char *charset, *encoding;              /* lower case, "" when not given */
    guint next;                            /* index of the first part behind this one and all within it */
    bool typed;                            /* it has a Content-Type of its own */
    bool inside; /* a mail inside a message/rfc822 part: `body` has all of it, and `type` is text/plain */
    bool closed; /* it may hold parts, and is not split: it lies too deep, or readers do not agree on its boundary */
} MimePart;

/* Return all parts in order, as an array of MimePart that frees them; g_ptr_array_unref(). The first is the mail
 * itself; each multipart stands before its parts, and a message/rfc822 part before the one part for the mail inside,
 * which is not split. A multipart that cannot be split is text/plain, unless it is the mail itself. mime_parts()
 * returns at most 200 parts, mime_parts_most() at most as many as given. */
GPtrArray *mime_parts(const char *octets, size_t length);
GPtrArray *mime_parts_most(const char *octets, size_t length, unsigned most);

/* Return all parts, also those of messages within, for code that takes some out or changes them, and leaves the other
 * bytes. A message within that is encoded is not split, and each part keeps its type. A head goes on behind a line that
 * is no field where fields of the content follow, because some programs read on there; and encoded words in a type or
 * an encoding are decoded, as some programs do. A multipart without a boundary, with an empty one or with two that
 * differ is closed. Return NULL when there are more than MIME_ALL_PARTS. */
#define MIME_ALL_PARTS 1000
#define MIME_ALL_DEPTH 100
GPtrArray *mime_parts_all(const char *octets, size_t length);

/* Find in the body of a multipart the delimiter of its first part, and the one that closes it. False: one is
 * missing. */
bool mime_delimiters(const char *body, size_t length, const char *boundary, const char **first, const char **last);

/* Return the fields of a part, without the lines of its head that are none. g_bytes_unref() */
GBytes *mime_part_fields(const MimePart *part);

/* Is it a whole message by its type? Is its body written in an encoding that hides the bytes? */
bool mime_is_message(const MimePart *part);
bool mime_is_encoded(const MimePart *part);

/* Return the value of the first field of that name in a head, unfolded and without blanks around. g_free(); NULL when
 * there is no such field. */
char *mime_field(const char *head, size_t length, const char *name);

/* Find several fields in one pass over the head. Each `value` that is NULL before the call is set as mime_field()
 * returns it; any other value is left alone. The caller frees the values. */
typedef struct MimeField {
    const char *name;
    size_t length; /* of name */
    char *value;
} MimeField;
#define MIME_FIELD(text) {.name = text, .length = sizeof(text) - 1}
void mime_fields(const char *head, size_t length, MimeField *fields, size_t count);

/* Return the length of the head, with the empty line that ends it; 0 when the bytes do not begin with a field. */
size_t mime_head(const char *octets, size_t length);

/* Return the first limit bytes of the body of a part, with base64 and quoted-printable undone. g_string_free() */
GString *mime_body(const MimePart *part, size_t limit);

/* Return the text of a part: the first limit bytes of its body, with its encoding undone, in UTF-8, with LF line ends
 * and no NUL. g_string_free() */
GString *mime_text(const MimePart *part, size_t limit);

/* Return the text of HTML for programs to search: without tags, with decoded entities, and with a line end where a
 * block ends. g_string_free() */
GString *mime_strip_html(const GString *html);

/* Return the text of HTML for people to read. Several blanks, or empty lines, in a row become one. The target of a link
 * stands behind its text where that does not name it, "our pages <https://example.com/>". g_string_free() */
GString *mime_html_text(const GString *html);

/* Return the text as mime_html_text() does, and put "> " before each line once for every <blockquote> around it, at
 * most MIME_QUOTED_MAX times. */
#define MIME_QUOTED_MAX 10
GString *mime_html_quoted(const GString *html);

/* Append the character that the reference at the ampersand `at` stands for, in UTF-8, and return the place behind the
 * reference. When no reference stands there, append the ampersand and return the place behind it. A no-break space
 * becomes an ordinary one. */
const char *html_entity_take(const char *at, GString *out);
