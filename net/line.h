/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A Line is one connected socket on an event loop that carries a line
 * protocol: it offers the bytes that came to the protocol, keeps what the
 * protocol did not use yet, sends the protocol's output, and keeps the time.
 *
 * The Line owns the descriptor. It is freed by its owner, in or after
 * closed(), never in receive().
 */
#include <event2/event.h>
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/tls_door.h"

typedef struct Line Line;

typedef enum LineTime {
    LINE_IDLE,     /* nothing came for the time of line_set_idle() */
    LINE_DEADLINE, /* the time of line_set_deadline() is over */
} LineTime;

typedef struct LineEvents {
    /* Octets came: returns how many were used, from the front. The others
     * are offered again when more came, when the output was sent, or by
     * line_resume(). */
    size_t (*receive)(Line *line, const char *octets, size_t length, void *data);
    /* The peer says no more, and what it said was offered. True: replies to it are still to come, and line_resume()
     * with them; false: the line is closed when the output is sent. */
    bool (*awaited)(Line *line, void *data);
    /* Time is over; the protocol may write a last word and line_finish(). */
    void (*expired)(Line *line, LineTime which, void *data);
    /* The last call for a line: the peer is gone, it took nothing for
     * idle time, or what line_finish() waited for is sent. */
    void (*closed)(Line *line, void *data);
} LineEvents;

/* Nothing is sent or received before the first line_resume(). output is the
 * protocol's: what it appends is sent and erased after each callback and at
 * line_resume(). fd is non-blocking. */
Line *line_new(struct event_base *base, int fd, GString *output, const LineEvents *events, void *data);
void line_free(Line *line); /* closes the socket */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Line, line_free)

/* Before the first line_resume(): carry the protocol over TLS. The session becomes the line's. */
void line_set_tls(Line *line, TlsSession *session);
const TlsSession *line_tls(const Line *line); /* NULL: none */

/* Microseconds; 0: no limit. */
void line_set_idle(Line *line, int64_t idle_us);
void line_set_deadline(Line *line, int64_t deadline_us);

/* Send the output, offer what was not used. May end in closed(). */
void line_resume(Line *line);

/* No more is received; closed() follows when the output is sent, at once
 * after the callback in progress or at the next line_resume(). */
void line_finish(Line *line);
