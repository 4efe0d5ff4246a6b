/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "t/tools/sink_session.h"

static void session_free(Session *session)
{
    session->sink->open--;
    event_free(session->readable);
    event_free(session->writable);
    event_free(session->timer);
    SSL_free(session->ssl);
    close(session->fd);
    g_string_free(session->output, TRUE);
    g_string_free(session->recipients, TRUE);
    g_string_free(session->message, TRUE);
    g_free(session->helo);
    g_free(session->from);
    g_free(session->user);
    g_free(session->auth_user);
    g_free(session);
}

/* The bytes that begin at at and were used; 0: more must come. */
static size_t step(Session *session, const char *at, const char *end)
{
    if (session->state == STATE_CHUNK) {
        size_t length = (size_t)MIN((uint64_t)(end - at), session->chunk);
        sink_chunk(session, at, length);
        return length;
    }
    const char *feed = memchr(at, '\n', (size_t)(end - at));
    bool full = at == session->input && session->filled == INPUT_SIZE;
    if (feed == NULL && !(session->state == STATE_DATA && full))
        return 0;
    size_t length = feed != NULL ? (size_t)(feed - at) + 1 : (size_t)(end - at);
    if (session->state == STATE_DATA)
        sink_data_line(session, at, length);
    else if (session->state == STATE_AUTH)
        sink_auth_line(session, at, length - 1);
    else
        sink_command(session, at, length - 1);
    return length;
}

static void parse(Session *session)
{
    const char *at = session->input, *end = at + session->filled;
    size_t used;
    while (at < end && session->state <= STATE_CHUNK && !session->upgrade && (used = step(session, at, end)) > 0)
        at += used;
    session->filled = (size_t)(end - at);
    memmove(session->input, at, session->filled);
    if (session->filled == INPUT_SIZE) { /* a command line without end */
        SAY(session, "500 5.5.2 too long\r\n");
        session->state = STATE_CLOSING;
    }
}

static void wait_for(Session *session, long microseconds)
{
    struct timeval tv = {microseconds / 1000000, microseconds % 1000000};
    event_del(session->readable);
    event_add(session->timer, &tv);
    session->waiting = true;
}

/* Sends what there is; false when the session is gone, or the socket is full. */
static bool send_output(Session *session)
{
    while (session->sent < session->output->len) {
        size_t piece = session->sink->dribble ? 1 : session->output->len - session->sent;
        ssize_t n = sink_send(session, session->output->str + session->sent, piece);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            event_add(session->writable, NULL);
            return false;
        }
        if (n < 0) {
            session_free(session);
            return false;
        }
        session->sent += (size_t)n;
    }
    g_string_truncate(session->output, 0);
    session->sent = 0;
    return true;
}

static void handshake(Session *session)
{
    if (!sink_handshake(session))
        session_free(session);
    else if (session->state == STATE_HANDSHAKE && SSL_want_write(session->ssl))
        event_add(session->writable, NULL);
}

static void flush(Session *session)
{
    bool sent;
    while ((sent = send_output(session)) && session->endless)
        for (int i = 0; i < 1000; i++)
            SAY(session, "250-and another line of an answer that never comes to its end\r\n");
    if (!sent)
        return;
    if (session->half_closed)
        shutdown(session->fd, SHUT_WR);
    if (session->state == STATE_CLOSING) {
        session_free(session);
    } else if (session->upgrade) {
        session->upgrade = false;
        session->filled = 0;
        session->state = STATE_HANDSHAKE;
        handshake(session);
    }
}

static void on_readable(evutil_socket_t fd, short what, void *data)
{
    Session *session = data;
    Sink *sink = session->sink;
    if (session->state == STATE_HANDSHAKE) {
        handshake(session);
        return;
    }
    size_t room = INPUT_SIZE - session->filled;
    if (sink->slow_read > 0)
        room = MIN(room, (size_t)MAX(sink->slow_read / 20, 1));
    if (session->state == STATE_STALLED) /* what still comes is of no interest */
        session->filled = 0, room = INPUT_SIZE;
    ssize_t n = sink_receive(session, session->input + session->filled, room);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        session_free(session);
        return;
    }
    if (n < 0 || session->state == STATE_STALLED)
        return;
    session->filled += (size_t)n;
    parse(session);
    if (sink->slow_read > 0)
        wait_for(session, 50000);
    if (sink->latency_ms > 0 && session->output->len > 0)
        wait_for(session, sink->latency_ms * 1000L);
    else if (session->output->len > 0 || session->state >= STATE_STALLED)
        flush(session);
}

static void on_writable(evutil_socket_t fd, short what, void *data)
{
    Session *session = data;
    if (session->state == STATE_HANDSHAKE)
        handshake(session);
    else
        flush(session);
}

static void on_timer(evutil_socket_t fd, short what, void *data)
{
    Session *session = data;
    session->waiting = false;
    event_add(session->readable, NULL);
    flush(session);
}

void sink_session_start(Sink *sink, int fd)
{
    Session *session = g_new0(Session, 1);
    session->sink = sink;
    session->fd = fd;
    session->output = g_string_sized_new(4096);
    session->recipients = g_string_sized_new(1024);
    session->message = g_string_sized_new(sink_store_wanted(sink) ? 8192 : 16);
    session->readable = event_new(sink->base, fd, EV_READ | EV_PERSIST, on_readable, session);
    session->writable = event_new(sink->base, fd, EV_WRITE, on_writable, session);
    session->timer = evtimer_new(sink->base, on_timer, session);
    session->number = ++sink->stats.connections;
    sink->open++;
    event_add(session->readable, NULL);
    if (!sink_misbehave(session, STAGE_CONNECT, NULL))
        SAY(session, "220 sink ESMTP\r\n");
    if (sink->latency_ms > 0)
        wait_for(session, sink->latency_ms * 1000L);
    else
        flush(session);
}
