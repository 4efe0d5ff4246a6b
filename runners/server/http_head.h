/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read the head of an HTTP/1.x request, and find the end of its body, by the letter of RFC 9112. What two programs can
 * read in two ways is refused, because a proxy may stand before this server: nobody may be able to send what the proxy
 * takes for one request and we for two. Refused are a line that does not end in CRLF, a folded field, a blank before a
 * colon, and a control character. Two Content-Length, Host or Authorization fields are refused, and a length that is
 * not of digits alone or stands beside a transfer coding. So are any coding but "chunked", extensions of chunks, and
 * fields behind the last chunk.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct HttpHead {
    char *verb, *target;
    char *authorization; /* NULL: there is no such field */
    bool chunked;
    uint64_t length; /* bytes of the body where it is not chunked; 0: it has none */
    bool counted;    /* it has a Content-Length field */
} HttpHead;

/* Return how many bytes at the start of text are a head, its empty line included; 0: the empty line has not come. */
size_t http_head_size(const char *text, size_t length);
/* Read a head of exactly that size. *head is to be cleared in either case. Returns 0, or the status to refuse it with
 * (400, 501, 505); *why then says what is wrong. */
int http_head_read(const char *text, size_t size, HttpHead *head, const char **why);
void http_head_clear(HttpHead *head);

/* A body on its way; its fields belong to http_head.c, but for `ended`. */
typedef struct HttpBody {
    bool ended; /* all of it has come */
    bool chunked;
    unsigned step;   /* within the frame of a chunk */
    unsigned digits; /* of its size, so far */
    uint64_t left;   /* bytes of the body, or of the chunk */
} HttpBody;

/* Begin to read the body that follows this head. */
void http_body_begin(HttpBody *body, const HttpHead *head);
/* Take what belongs to the body, at most length bytes. Returns how many bytes that is; false in *sound: the chunks are
 * malformed at the byte behind those, and nothing that follows can be understood. */
size_t http_body_take(HttpBody *body, const char *text, size_t length, bool *sound);
