/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/server/http_head.h"

#include <string.h>

#define CHUNK_DIGITS 8 /* up to 4 GiB a chunk */

/* ---- the head ---- */

size_t http_head_size(const char *text, size_t length)
{
    const char *end = memmem(text, length, "\r\n\r\n", 4);
    return end ? (size_t)(end - text) + 4 : 0;
}

/* A token (RFC 9110, 5.6.2). */
static bool is_token(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!g_ascii_isalnum(text[i]) && !(text[i] && strchr("!#$%&'*+-.^_`|~", text[i])))
            return false;
    return length > 0;
}

/* The value of a field: visible characters, bytes from 0x80 on, blanks and tabs (RFC 9110, 5.5). */
static bool is_value(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (g_ascii_iscntrl(text[i]) && text[i] != '\t')
            return false;
    return true;
}

/* verb SP target SP "HTTP/1." digit, each of the blanks once. */
static int read_request_line(const char *line, size_t length, HttpHead *head, const char **why, bool *named_host)
{
    static const char version[] = "HTTP/1.";
    const char *blank = memchr(line, ' ', length), *end = line + length;
    const char *last = blank ? memchr(blank + 1, ' ', (size_t)(end - blank - 1)) : NULL;
    *why = "The first line is not of the form: verb, blank, path, blank, HTTP/1.1";
    if (!last || !is_token(line, (size_t)(blank - line)) || last == blank + 1)
        return 400;
    for (const char *at = blank + 1; at < last; at++)
        if (!g_ascii_isgraph(*at))
            return 400;
    if ((size_t)(end - last - 1) != strlen(version) + 1 || memcmp(last + 1, "HTTP/", 5) != 0)
        return 400;
    if (memcmp(last + 1, version, strlen(version)) != 0 || (end[-1] != '0' && end[-1] != '1')) {
        *why = "Only HTTP/1.0 and HTTP/1.1 are spoken here";
        return 505;
    }
    *named_host = end[-1] == '0'; /* HTTP/1.0 needs no Host field */
    head->verb = g_strndup(line, (gsize)(blank - line));
    head->target = g_strndup(blank + 1, (gsize)(last - blank - 1));
    return 0;
}

typedef struct Seen {
    bool host, length, coding;
} Seen;

static bool again(bool *seen)
{
    bool before = *seen;
    *seen = true;
    return before;
}

static int read_field(const char *line, size_t length, HttpHead *head, Seen *seen, const char **why)
{
    const char *colon = memchr(line, ':', length);
    *why = "A line of the head is no field: name, colon, value";
    if (!colon || !is_token(line, (size_t)(colon - line)) || !is_value(colon + 1, (size_t)(line + length - colon - 1)))
        return 400;
    g_autofree char *name = g_strndup(line, (gsize)(colon - line));
    g_autofree char *value = g_strstrip(g_strndup(colon + 1, (gsize)(line + length - colon - 1)));
    if (g_ascii_strcasecmp(name, "Content-Length") == 0) {
        *why = "Content-Length must be there once, and be a number of digits alone";
        bool digits = strlen(value) <= 18 && strspn(value, G_CSET_DIGITS) == strlen(value) &&
                      g_ascii_string_to_unsigned(value, 10, 0, G_MAXINT64, &head->length, NULL);
        return again(&seen->length) || !digits ? 400 : 0;
    }
    if (g_ascii_strcasecmp(name, "Transfer-Encoding") == 0) {
        *why = "The only transfer coding known here is chunked, once";
        head->chunked = g_ascii_strcasecmp(value, "chunked") == 0;
        return again(&seen->coding) ? 400 : head->chunked ? 0 : 501;
    }
    if (g_ascii_strcasecmp(name, "Host") == 0) {
        *why = "Host must be there once";
        return again(&seen->host) ? 400 : 0;
    }
    if (g_ascii_strcasecmp(name, "Authorization") == 0) {
        *why = "Authorization must not be there twice";
        if (head->authorization)
            return 400;
        head->authorization = g_steal_pointer(&value);
    }
    return 0;
}

int http_head_read(const char *text, size_t size, HttpHead *head, const char **why)
{
    Seen seen = {false};
    bool old = false;
    *head = (HttpHead){NULL};
    for (const char *line = text, *next; line < text + size - 2; line = next) {
        const char *end = memmem(line, (size_t)(text + size - line), "\r\n", 2);
        size_t length = (size_t)(end - line);
        int status = line == text ? read_request_line(line, length, head, why, &old)
                                  : read_field(line, length, head, &seen, why);
        if (status != 0)
            return status;
        next = end + 2;
    }
    head->counted = seen.length;
    *why = "A body has a Content-Length or is chunked, not both; HTTP/1.0 knows no chunks";
    if (head->chunked && (seen.length || old))
        return 400;
    *why = "A request of HTTP/1.1 must have a Host field";
    return seen.host || old ? 0 : 400;
}

void http_head_clear(HttpHead *head)
{
    g_clear_pointer(&head->verb, g_free);
    g_clear_pointer(&head->target, g_free);
    g_clear_pointer(&head->authorization, g_free);
}

/* ---- the body ---- */

/* Steps within the frame of a chunk (RFC 9112, 7.1): its size, the line feed behind that, the data, and what ends them;
 * behind the last chunk, which is empty, an empty line ends the body. */
enum { SIZE, SIZE_FEED, DATA, DATA_RETURN, DATA_FEED, LAST_RETURN, LAST_FEED };

void http_body_begin(HttpBody *body, const HttpHead *head)
{
    *body = (HttpBody){.chunked = head->chunked, .left = head->length, .step = SIZE};
    body->ended = !head->chunked && head->length == 0;
}

static bool step_expected(HttpBody *body, char byte, char expected, unsigned next)
{
    body->step = next;
    body->digits = 0;
    return byte == expected;
}

/* Everything but data, a byte at a time. */
static bool step_frame(HttpBody *body, char byte)
{
    switch (body->step) {
    case SIZE:
        if (byte == '\r') {
            body->step = SIZE_FEED;
            return body->digits > 0;
        }
        body->left = body->left * 16 + (uint64_t)MAX(g_ascii_xdigit_value(byte), 0);
        return g_ascii_isxdigit(byte) && ++body->digits <= CHUNK_DIGITS;
    case SIZE_FEED:
        return step_expected(body, byte, '\n', body->left > 0 ? DATA : LAST_RETURN);
    case DATA_RETURN:
        return step_expected(body, byte, '\r', DATA_FEED);
    case DATA_FEED:
        return step_expected(body, byte, '\n', SIZE);
    case LAST_RETURN:
        return step_expected(body, byte, '\r', LAST_FEED);
    default:
        body->ended = byte == '\n';
        return body->ended;
    }
}

size_t http_body_take(HttpBody *body, const char *text, size_t length, bool *sound)
{
    size_t taken = 0;
    *sound = true;
    while (taken < length && !body->ended && *sound) {
        if (body->chunked && body->step != DATA) {
            *sound = step_frame(body, text[taken]);
            taken += *sound;
            continue;
        }
        size_t now = (size_t)MIN(body->left, length - taken);
        taken += now;
        body->left -= now;
        if (body->left == 0) {
            body->step = DATA_RETURN;
            body->ended = !body->chunked;
        }
    }
    return taken;
}
