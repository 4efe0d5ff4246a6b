/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/smtp_body.h"

#include <string.h>

#include "base/bytes.h"

/* Bytes between two cuts, or what fills one. What depends on the byte before it, which
 * differs by copy, is told apart from what does not. */
typedef struct Piece {
    const char *data;
    size_t length;
    char before;  /* the byte before it; a line feed where the message begins */
    size_t bare;  /* line feeds without CR before them, behind the first byte */
    bool dots;    /* one begins a line, behind the first byte */
} Piece;

struct SmtpBody {
    int references;
    GBytes *message;
    SmtpBody *pattern; /* whose bytes the pieces of a copy are; NULL: none */
    char *fills;       /* the copy's own bytes */
    size_t size, wire_size;
    char last; /* byte */
    bool eight_bit;
    size_t count;
    Piece pieces[];
};

/* Looks through data, less what the first byte is together with the one before it. */
static void scan(Piece *piece)
{
    const char *data = piece->data, *end = data + piece->length;
    if (piece->length < 2)
        return;
    for (const char *at = data + 1; (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++)
        piece->bare += at[-1] != '\r';
    for (const char *at = data + 1; !piece->dots && (at = memchr(at, '.', (size_t)(end - at))) != NULL; at++)
        piece->dots = at[-1] == '\n' || at[-1] == '\r';
}

static bool first_is_bare(const Piece *piece)
{
    return piece->length > 0 && piece->data[0] == '\n' && piece->before != '\r';
}

/* Return the number of bytes that the last line lacks of its end. */
static size_t end_size(char last)
{
    return last == '\n' ? 0 : last == '\r' ? 1 : 2;
}

static SmtpBody *new_body(size_t count)
{
    SmtpBody *body = g_malloc0(sizeof(SmtpBody) + count * sizeof(Piece));
    body->references = 1;
    body->count = count;
    return body;
}

/* Set the values that follow from all pieces together. */
static void add_up(SmtpBody *body)
{
    char before = '\n';
    for (size_t at = 0; at < body->count; at++) {
        Piece *piece = &body->pieces[at];
        piece->before = before;
        body->size += piece->length;
        body->wire_size += piece->length + piece->bare + first_is_bare(piece);
        if (piece->length > 0)
            before = piece->data[piece->length - 1];
    }
    body->last = before;
    body->wire_size += end_size(before);
}

SmtpBody *smtp_body_new_cut(GBytes *message, const size_t *cuts, size_t count)
{
    SmtpBody *body = new_body(count + 1);
    size_t length, done = 0;
    const char *data = g_bytes_get_data(message, &length);
    body->message = g_bytes_ref(message);
    for (size_t at = 0; at <= count; at++) {
        size_t stop = at < count ? cuts[at] : length;
        body->pieces[at] = (Piece){.data = data + done, .length = stop - done};
        scan(&body->pieces[at]);
        done = stop;
    }
    body->eight_bit = bytes_8bit(data, length);
    add_up(body);
    return body;
}

SmtpBody *smtp_body_new(GBytes *message)
{
    return smtp_body_new_cut(message, NULL, 0);
}

SmtpBody *smtp_body_new_copy(SmtpBody *pattern, const SmtpFill *fills)
{
    size_t own = 0, cuts = pattern->count - 1;
    for (size_t at = 0; at < cuts; at++)
        own += fills[at].length;
    SmtpBody *body = new_body(pattern->count + cuts);
    body->pattern = smtp_body_ref(pattern);
    body->message = g_bytes_ref(pattern->message);
    body->fills = g_malloc(own + 1);
    char *place = body->fills;
    for (size_t at = 0; at < pattern->count; at++) {
        body->pieces[2 * at] = pattern->pieces[at];
        if (at == cuts)
            break;
        Piece *fill = &body->pieces[2 * at + 1];
        memcpy(place, fills[at].text, fills[at].length);
        *fill = (Piece){.data = place, .length = fills[at].length};
        scan(fill);
        place += fill->length;
    }
    body->eight_bit = pattern->eight_bit || bytes_8bit(body->fills, own);
    add_up(body);
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
    smtp_body_unref(body->pattern);
    g_free(body->fills);
    g_free(body);
}

size_t smtp_body_wire_size(const SmtpBody *body)
{
    return body->wire_size;
}

bool smtp_body_8bit(const SmtpBody *body)
{
    return body->eight_bit;
}

static void release_reference(const void *data, size_t length, void *body)
{
    (void)data;
    (void)length;
    smtp_body_unref(body);
}

/* Pieces below this are cheaper copied than referred to. */
#define COPY_MAX 512

/* Write a piece from one offset to another, changed. */
static void write_changed(struct evbuffer *out, const Piece *piece, size_t at, size_t stop, bool chunk)
{
    const char *data = piece->data;
    size_t from = at; /* what is not yet copied */
    for (; at < stop; at++) {
        char before = at > 0 ? data[at - 1] : piece->before;
        bool insert_dot = !chunk && data[at] == '.' && (before == '\n' || before == '\r');
        bool insert_cr = data[at] == '\n' && before != '\r';
        if (!insert_dot && !insert_cr)
            continue;
        evbuffer_add(out, data + from, at - from);
        evbuffer_add(out, insert_dot ? "." : "\r", 1);
        from = at;
    }
    evbuffer_add(out, data + from, at - from);
}

void smtp_body_write(SmtpBody *body, SmtpBodyCursor *cursor, struct evbuffer *out, size_t limit)
{
    while (cursor->piece < body->count) {
        const Piece *piece = &body->pieces[cursor->piece];
        bool first_is_dot = piece->length > 0 && piece->data[0] == '.' &&
                            (piece->before == '\n' || piece->before == '\r');
        bool clean = piece->bare == 0 && !first_is_bare(piece) && (cursor->chunk || (!piece->dots && !first_is_dot));
        size_t stop = clean ? piece->length : MIN(piece->length, cursor->offset + limit);
        if (!clean) {
            limit -= stop - cursor->offset;
            write_changed(out, piece, cursor->offset, stop, cursor->chunk);
        } else if (piece->length > COPY_MAX) {
            evbuffer_add_reference(out, piece->data, piece->length, release_reference, smtp_body_ref(body));
        } else {
            evbuffer_add(out, piece->data, piece->length);
        }
        cursor->offset = stop;
        if (stop < piece->length)
            return;
        cursor->piece++;
        cursor->offset = 0;
    }
    size_t missing = end_size(body->last); /* every LF has its CR by now */
    evbuffer_add(out, "\r\n" + 2 - missing, missing);
    if (!cursor->chunk)
        evbuffer_add(out, ".\r\n", 3);
    cursor->ended = true;
}
