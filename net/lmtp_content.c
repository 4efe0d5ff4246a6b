/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "base/bytes.h"
#include "net/lmtp_internal.h"

#define CAPACITY_FIRST 8192
#define REFUSED_SIZE "552 5.3.4 The message is larger than this server takes"
#define REFUSED_ENDS "554 5.6.0 A lone dot stands between line ends that are not CR LF"

void lmtp_content_clear(LmtpSession *session)
{
    LmtpContent *content = &session->content;
    session->server->memory -= content->capacity;
    g_free(content->octets);
    *content = (LmtpContent){ .before = { '\r', '\n' } };
}

/* From now on the bytes are only drained; the first reason stands. */
static void refuse(LmtpSession *session, const char *refusal)
{
    LmtpContent *content = &session->content;
    if (!content->refusal)
        content->refusal = refusal;
    session->server->memory -= content->capacity;
    g_clear_pointer(&content->octets, g_free);
    content->length = content->capacity = 0;
}

static bool grow(LmtpSession *session, size_t needed)
{
    LmtpServer *server = session->server;
    LmtpContent *content = &session->content;
    size_t capacity = content->capacity;
    if (capacity == 0) {
        uint64_t hint = MIN(session->announced, server->limits.message_size);
        capacity = MAX(CAPACITY_FIRST, (size_t)MIN(hint, 1024 * 1024) + 512);
    }
    while (capacity < needed)
        capacity *= 2;
    if (server->memory + (capacity - content->capacity) > server->limits.memory) {
        refuse(session, LMTP_NO_MEMORY);
        return false;
    }
    server->memory += capacity - content->capacity;
    content->octets = g_realloc(content->octets, capacity);
    content->capacity = capacity;
    return true;
}

static void store(LmtpSession *session, const char *octets, size_t length)
{
    LmtpContent *content = &session->content;
    if (length == 0 || content->refusal)
        return;
    if (content->length + length > session->server->limits.message_size) {
        refuse(session, REFUSED_SIZE);
        return;
    }
    size_t needed = content->length + length;
    if (needed > content->capacity && !grow(session, needed))
        return;
    memcpy(content->octets + content->length, octets, length);
    content->length += length;
    content->high = content->high || bytes_8bit(octets, length);
}

/* Remembers the two bytes before `end` of a piece that began at start. */
static void remember(LmtpContent *content, const char *start, const char *end)
{
    if (end - start >= 2) {
        content->before[0] = end[-2];
        content->before[1] = end[-1];
    } else if (end > start) {
        content->before[0] = content->before[1];
        content->before[1] = end[-1];
    }
}

/* One byte after a dot that began a line. True: the message ends here. */
static bool after_dot(LmtpSession *session, char octet)
{
    LmtpContent *content = &session->content;
    LmtpDot dot = content->dot;
    content->dot = DOT_NONE;
    switch (dot) {
    case DOT_STRAY:
        if (octet == '\r' || octet == '\n')
            refuse(session, REFUSED_ENDS);
        return false;
    case DOT_FIRST:
        if (octet == '\n')
            refuse(session, REFUSED_ENDS);
        if (octet == '\r')
            content->dot = DOT_CR;
        return false;
    case DOT_CR:
        if (octet == '\n')
            return true;
        refuse(session, REFUSED_ENDS);
        return false;
    case DOT_NONE:
        break;
    }
    return false;
}

/* A dot only matters at the beginning of a line, under the strictest and
 * the laxest reading of what ends one. */
static const char *next_dot(const LmtpContent *content, const char *start, const char *at, const char *end)
{
    while ((at = memchr(at, '.', (size_t)(end - at)))) {
        char last = at > start ? at[-1] : content->before[1];
        if (last == '\n' || last == '\r')
            return at;
        at++;
    }
    return NULL;
}

static bool after_crlf(const LmtpContent *content, const char *start, const char *dot)
{
    char last = dot > start ? dot[-1] : content->before[1];
    char earlier = dot - start >= 2 ? dot[-2] : dot > start ? content->before[1] : content->before[0];
    return earlier == '\r' && last == '\n';
}

size_t lmtp_content_data(LmtpSession *session, const char *octets, size_t length, bool *ended)
{
    LmtpContent *content = &session->content;
    const char *start = octets, *end = octets + length, *from = octets, *at = octets;
    *ended = false;
    while (at < end) {
        if (content->dot != DOT_NONE) {
            if (after_dot(session, *at)) {
                *ended = true;
                return (size_t)(at + 1 - octets);
            }
            if (content->dot == DOT_CR) {
                store(session, from, (size_t)(at - from));
                from = ++at; /* the CR is stored by nobody: it is the end's, or the message is refused */
            }
            continue;
        }
        const char *dot = next_dot(content, start, at, end);
        if (!dot)
            break;
        if (after_crlf(content, start, dot)) {
            store(session, from, (size_t)(dot - from));
            from = dot + 1;
            content->dot = DOT_FIRST;
        } else {
            content->dot = DOT_STRAY;
        }
        at = dot + 1;
    }
    store(session, from, (size_t)(end - from));
    remember(content, start, end);
    return length;
}

/* In a chunk a dot ends nothing, but one between bare line ends would be as
 * dangerous to a server behind us. */
void lmtp_content_chunk(LmtpSession *session, const char *octets, size_t length)
{
    LmtpContent *content = &session->content;
    const char *end = octets + length;
    for (const char *at = octets; at < end;) {
        if (content->dot != DOT_NONE) {
            after_dot(session, *at);
            continue;
        }
        const char *dot = next_dot(content, octets, at, end);
        if (!dot)
            break;
        if (!after_crlf(content, octets, dot))
            content->dot = DOT_STRAY;
        at = dot + 1;
    }
    store(session, octets, length);
    remember(content, octets, end);
}

void lmtp_content_finish(LmtpSession *session)
{
    LmtpContent *content = &session->content;
    LmtpTransaction *transaction = session->transaction;
    if (content->capacity > 2 * content->length + CAPACITY_FIRST) {
        session->server->memory -= content->capacity - content->length;
        content->octets = g_realloc(content->octets, content->length);
        content->capacity = content->length;
    }
    transaction->eight_bit = transaction->eight_bit || content->high;
    transaction->content = content->capacity;
    transaction->message = g_bytes_new_take(content->octets, content->length);
    content->octets = NULL;
    content->capacity = content->length = 0;
    lmtp_content_clear(session);
}
