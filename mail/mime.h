/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The MIME structure of a mail that may be broken: a list of its parts in
 * order, over the raw bytes. Boundaries that do not end, parts without
 * header, encodings that break off: what can be read is read, and nothing
 * fails. Made for the recognition of bounces, where the mail is small,
 * hostile, and written by programs that never read RFC 2045.
 *
 * Depth and number of parts are bounded; what is beyond is not split or left
 * out.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct MimePart {
    const char *head, *body; /* borrowed from the bytes */
    size_t head_length, body_length;
    char *type;     /* "text/plain", lower case */
    const char *charset, *encoding; /* lower case, "" when not given */
    char *own_charset, *own_encoding; /* what the two point to, or NULL */
    bool typed;     /* it says itself what it is */
    bool inside;    /* below a message/rfc822: the mail that came back, all of it the body, taken for text/plain */
} MimePart;

/* All parts in order: the mail itself and what it holds; a mail inside is one part. A multipart that cannot be
 * split is text/plain. They are 200 at most, or as many as the other says. */
GPtrArray *mime_parts(const char *octets, size_t length);
GPtrArray *mime_parts_most(const char *octets, size_t length, unsigned most);

/* Return the place in parts behind all that the part at `at` holds. */
guint mime_parts_behind(const GPtrArray *parts, guint at);

/* The value of the first field of that name in a head: unfolded, without blanks
 * around. g_free(), NULL when there is none. */
char *mime_field(const char *head, size_t length, const char *name);

/* Several fields in one pass: sets each value as mime_field() returns it, where it is NULL before. */
typedef struct MimeField {
    const char *name;
    size_t length; /* of name */
    char *value;
} MimeField;
#define MIME_FIELD(text) {.name = text, .length = sizeof(text) - 1}
void mime_fields(const char *head, size_t length, MimeField *fields, size_t count);

/* The head's length, the empty line included; 0 when it does not begin with a field. */
size_t mime_head(const char *octets, size_t length);

/* At most limit bytes of the part's body as UTF-8 text: decoded, line ends LF,
 * no NUL. */
GString *mime_text(const MimePart *part, size_t limit);

/* HTML to text: tags away, lines where blocks end, entities decoded. */
GString *mime_strip_html(const GString *html);

/* The same for people to read: blanks and empty lines in a row are one, and the target of a link stands behind its text
 * where that does not name it, "our pages <https://example.com/>". */
GString *mime_html_text(const GString *html);

/* The same, and lines within a <blockquote> have a "> " before them for each, up to MIME_QUOTED_MAX. */
#define MIME_QUOTED_MAX 10
GString *mime_html_quoted(const GString *html);
