/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/smtp_body.h"

#include <string.h>

struct SmtpBody {
    int references;
    GBytes *message;
    size_t bare;  /* line feeds without CR before them */
    bool dots;    /* one begins a line */
    bool eight_bit;
};

/* Whether any octet has its top bit set, eight at a time. */
static bool find_8bit(const char *data, size_t length)
{
    size_t at = 0;
    for (; at + sizeof(uint64_t) <= length; at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, data + at, sizeof(word));
        if (word & UINT64_C(0x8080808080808080))
            return true;
    }
    for (; at < length; at++)
        if ((unsigned char)data[at] > 127)
            return true;
    return false;
}

static size_t count_bare(const char *data, size_t length)
{
    size_t count = 0;
    const char *end = data + length;
    for (const char *at = data; (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++)
        count += at == data || at[-1] != '\r';
    return count;
}

static bool find_dots(const char *data, size_t length)
{
    const char *end = data + length;
    for (const char *at = data; (at = memchr(at, '.', (size_t)(end - at))) != NULL; at++)
        if (at == data || at[-1] == '\n' || at[-1] == '\r')
            return true;
    return false;
}

SmtpBody *smtp_body_new(GBytes *message)
{
    SmtpBody *body = g_new0(SmtpBody, 1);
    size_t length;
    const char *data = g_bytes_get_data(message, &length);
    body->references = 1;
    body->message = g_bytes_ref(message);
    if (length > 0) {
        body->bare = count_bare(data, length);
        body->dots = find_dots(data, length);
        body->eight_bit = find_8bit(data, length);
    }
    return body;
}

SmtpBody *smtp_body_ref(SmtpBody *body)
{
    body->references++;
    return body;
}

void smtp_body_unref(SmtpBody *body)
{
    if (!body || --body->references > 0)
        return;
    g_bytes_unref(body->message);
    g_free(body);
}

size_t smtp_body_size(const SmtpBody *body)
{
    return g_bytes_get_size(body->message);
}

/* What the last line lacks of its end. */
static size_t end_size(const char *data, size_t length)
{
    char last = length > 0 ? data[length - 1] : '\n';
    return last == '\n' ? 0 : last == '\r' ? 1 : 2;
}

size_t smtp_body_wire_size(const SmtpBody *body)
{
    size_t length;
    const char *data = g_bytes_get_data(body->message, &length);
    return length + body->bare + end_size(data, length);
}

bool smtp_body_8bit(const SmtpBody *body)
{
    return body->eight_bit;
}

static void release_reference(const void *data, size_t length, void *message)
{
    (void)data;
    (void)length;
    g_bytes_unref(message);
}

/* Every LF has its CR by now. */
static void write_end(struct evbuffer *out, const char *data, size_t length, bool chunk)
{
    size_t missing = end_size(data, length);
    evbuffer_add(out, "\r\n" + 2 - missing, missing);
    if (!chunk)
        evbuffer_add(out, ".\r\n", 3);
}

/* Rewrites up to stop; returns where it stands. */
static size_t write_changed(struct evbuffer *out, const char *data, size_t at, size_t stop, bool chunk)
{
    size_t from = at; /* what is not yet copied */
    for (; at < stop; at++) {
        char before = at > 0 ? data[at - 1] : '\n';
        bool insert_dot = !chunk && data[at] == '.' && (before == '\n' || before == '\r');
        bool insert_cr = data[at] == '\n' && (at == 0 || before != '\r');
        if (!insert_dot && !insert_cr)
            continue;
        evbuffer_add(out, data + from, at - from);
        evbuffer_add(out, insert_dot ? "." : "\r", 1);
        from = at;
    }
    evbuffer_add(out, data + from, at - from);
    return at;
}

void smtp_body_write(SmtpBody *body, SmtpBodyCursor *cursor, struct evbuffer *out, size_t limit)
{
    size_t length;
    const char *data = g_bytes_get_data(body->message, &length);
    if (body->bare == 0 && (cursor->chunk || !body->dots)) {
        if (length > 0)
            evbuffer_add_reference(out, data, length, release_reference, g_bytes_ref(body->message));
        cursor->offset = length;
    } else {
        cursor->offset = write_changed(out, data, cursor->offset, MIN(length, cursor->offset + limit),
                                       cursor->chunk);
    }
    if (cursor->offset < length)
        return;
    write_end(out, data, length, cursor->chunk);
    cursor->ended = true;
}
