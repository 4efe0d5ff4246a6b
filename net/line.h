/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Carry a line protocol over one connected socket on an event loop, a Line. It offers the bytes that came to the
 * protocol, keeps what the protocol did not use yet, sends the protocol's output, and keeps the time.
 *
 * The Line owns the descriptor. The owner frees the Line in or after closed(), never in receive().
 *
 * A Line may carry TLS for a door that serves nobody but holders of a certificate (TlsDoor). The client must show a
 * certificate that the door's authority has signed and that has not expired. A client without, or one that speaks no
 * TLS, is refused in the handshake, before a byte of the protocol is sent. Everything belongs to one thread.
 */
#include <event2/event.h>
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Line Line;
typedef struct TlsSession TlsSession; /* of one connection */

typedef enum LineTime {
    LINE_IDLE,     /* nothing came for the time of line_set_idle() */
    LINE_DEADLINE, /* the time of line_set_deadline() is over */
} LineTime;

typedef struct LineEvents {
    /* Take bytes that came, and return how many were used, from the front. The rest is offered again when more came,
     * when the output was sent, or by line_resume(). */
    size_t (*receive)(Line *line, const char *octets, size_t length, void *data);
    /* The peer has ended its side, and all that it sent was offered. Return true when replies are still to come: the
     * protocol then calls line_resume() with them. Return false to have the line closed when the output is sent, as it
     * is for a protocol without this function. */
    bool (*awaited)(Line *line, void *data);
    /* A time is over. The protocol may append a last reply to the output and call line_finish(), now or when it has
     * done what it was asked for. The peer gets as much of the output as its socket takes at once. */
    void (*expired)(Line *line, LineTime which, void *data);
    /* The last call for a line: the peer is gone, it took nothing for
     * idle time, or what line_finish() waited for is sent or cannot be. */
    void (*closed)(Line *line, void *data);
} LineEvents;

/* Make a line of a connected, non-blocking socket, which becomes the line's. Nothing is sent or received before the
 * first line_resume(). output stays the protocol's: bytes that it appends are sent and erased after each callback and
 * at line_resume(). */
Line *line_new(struct event_base *base, int fd, GString *output, const LineEvents *events, void *data);
void line_free(Line *line); /* closes the socket */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Line, line_free)

/* Carry the protocol over TLS; call it before the first line_resume(). The session becomes the line's. */
void line_set_tls(Line *line, TlsSession *session);
const TlsSession *line_tls(const Line *line); /* NULL: none */

/* Set after how many microseconds expired() is called: since the last byte came (idle), or from now on (deadline). 0:
 * no limit. */
void line_set_idle(Line *line, int64_t idle_us);
void line_set_deadline(Line *line, int64_t deadline_us);

/* Offer the bytes that were not used again, and send the output. closed() may be called before this returns. */
void line_resume(Line *line);

/* Receive no more. closed() follows when the output is sent: after the callback in progress, or at the next
 * line_resume(). */
void line_finish(Line *line);

/* Call closed() now, whatever is still to be sent. */
void line_close(Line *line);

/* ---- TLS ---- */

typedef struct TlsDoor TlsDoor; /* what all sessions share */

/* Files in PEM. */
typedef struct TlsFiles {
    const char *certificate, *key; /* our own; the certificate may be followed by those between it and the authority */
    const char *authority;         /* whose signature makes a certificate valid */
} TlsFiles;

/* Read the files. FAIL_CONFIG: a file cannot be read, or key and certificate do not belong together. */
TlsDoor *tls_door_new(const TlsFiles *files, GError **error);
void tls_door_free(TlsDoor *door);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TlsDoor, tls_door_free)

/* Make a session for line_set_tls(), on the socket of that line; the handshake is made later. */
TlsSession *tls_session_new(TlsDoor *door, int fd);

/* Return why TLS failed, for the log, borrowed; NULL: it did not. */
const char *tls_session_problem(const TlsSession *session);

/* Return the host names in the client's certificate (subjectAltName, or the common name where there is none) after the
 * handshake; g_strfreev(). NULL: the handshake is not over. */
char **tls_session_names(const TlsSession *session);
