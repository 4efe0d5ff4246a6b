/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/line.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define RECEIVE_SIZE (64 * 1024)
#define REST_LIMIT (64 * 1024) /* nothing is received while the protocol leaves this much */

struct Line {
    struct event_base *base;
    int fd;
    TlsSession *tls; /* NULL: bytes go as they are */
    GString *output;
    GByteArray *rest; /* received, not used */
    const LineEvents *events;
    void *data;
    struct event *readable, *writable, *deadline;
    int64_t idle_us;
    bool reading, finishing;
    bool ended; /* the peer says no more */
    bool late;  /* a time is over: what the socket does not take at once is not waited for */
};

static void on_readable(evutil_socket_t fd, short what, void *data);
static void on_writable(evutil_socket_t fd, short what, void *data);

static void on_deadline(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    Line *line = data;
    line->late = true;
    line->events->expired(line, LINE_DEADLINE, line->data);
    line_resume(line);
}

Line *line_new(struct event_base *base, int fd, GString *output, const LineEvents *events, void *data)
{
    Line *line = g_new0(Line, 1);
    *line = (Line){.base = base, .fd = fd, .output = output, .events = events, .data = data};
    line->rest = g_byte_array_new();
    line->readable = event_new(base, fd, EV_READ | EV_PERSIST, on_readable, line);
    line->writable = event_new(base, fd, EV_WRITE, on_writable, line);
    line->deadline = evtimer_new(base, on_deadline, line);
    return line;
}

void line_free(Line *line)
{
    if (!line)
        return;
    event_free(line->readable);
    event_free(line->writable);
    event_free(line->deadline);
    tls_session_free(line->tls);
    close(line->fd);
    g_byte_array_unref(line->rest);
    g_free(line);
}

void line_set_tls(Line *line, TlsSession *session)
{
    line->tls = session;
}

const TlsSession *line_tls(const Line *line)
{
    return line->tls;
}

/* A time-out; NULL: none. Those of one length share a queue in libevent, so that they cost a list operation each, not a
 * heap's. */
static const struct timeval *time_out(Line *line, int64_t us)
{
    struct timeval time = {.tv_sec = us / 1000000, .tv_usec = us % 1000000};
    return us > 0 ? event_base_init_common_timeout(line->base, &time) : NULL;
}

void line_set_idle(Line *line, int64_t idle_us)
{
    line->idle_us = idle_us;
    if (line->reading) {
        event_del(line->readable);
        event_add(line->readable, time_out(line, line->idle_us));
    }
}

void line_set_deadline(Line *line, int64_t deadline_us)
{
    event_del(line->deadline);
    if (deadline_us > 0)
        event_add(line->deadline, time_out(line, deadline_us));
}

static void set_reading(Line *line, bool reading)
{
    if (line->reading == reading)
        return;
    line->reading = reading;
    if (reading)
        event_add(line->readable, time_out(line, line->idle_us));
    else
        event_del(line->readable);
}

/* Sends what can be sent. False: the connection is broken. */
static bool flush(Line *line)
{
    GString *output = line->output;
    size_t sent = 0;
    while (sent < output->len) {
        const char *octets = output->str + sent;
        ssize_t count = line->tls ? tls_session_send(line->tls, octets, output->len - sent)
                                  : send(line->fd, octets, output->len - sent, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
            return false;
        if (count < 0) {
            if (!line->tls || !tls_session_awaits_bytes(line->tls))
                event_add(line->writable, time_out(line, line->idle_us));
            break;
        }
        sent += (size_t)count;
    }
    if (sent == output->len)
        g_string_truncate(output, 0);
    else
        g_string_erase(output, 0, (gssize)sent);
    return true;
}

void line_close(Line *line)
{
    set_reading(line, false);
    event_del(line->writable);
    event_del(line->deadline);
    line->events->closed(line, line->data); /* the line may be gone now */
}

/* Offers what is kept until the protocol takes no more. False: it took nothing. */
static bool offer_rest(Line *line)
{
    guint before = line->rest->len;
    while (line->rest->len > 0 && !line->finishing) {
        size_t used = line->events->receive(line, (const char *)line->rest->data, line->rest->len, line->data);
        g_assert(used <= line->rest->len);
        if (used == 0)
            break;
        g_byte_array_remove_range(line->rest, 0, (guint)used);
    }
    return line->rest->len < before;
}

/* After every callback: send, and look whether the line goes on. The last thing a caller does with the line. What the
 * protocol left because too much output waited has its turn as soon as that is sent: the peer may have nothing to say
 * before it is answered. */
static void settle(Line *line)
{
    bool sound, sent;
    do {
        size_t waited = line->output->len;
        sound = flush(line);
        sent = line->output->len < waited;
    } while (sound && sent && offer_rest(line));
    bool awaited = sound && !line->finishing && line->ended && line->events->awaited &&
                   line->events->awaited(line, line->data);
    bool over = line->finishing || (line->ended && !awaited);
    /* Whether what is left of the output is waited for. A peer that is late had its time, and TLS that needs bytes of
     * the peer, as in the handshake, cannot send when no more are received. */
    bool goes_on = line->output->len > 0 && !line->late && event_pending(line->writable, EV_WRITE, NULL);
    if (!sound || (over && !goes_on)) {
        line_close(line);
        return;
    }
    set_reading(line, !line->finishing && !line->ended && line->rest->len < REST_LIMIT);
}

void line_resume(Line *line)
{
    offer_rest(line);
    settle(line);
}

void line_finish(Line *line)
{
    line->finishing = true;
}

static void on_readable(evutil_socket_t fd, short what, void *data)
{
    static char octets[RECEIVE_SIZE]; /* of the one loop of the process */
    Line *line = data;
    if (what & EV_TIMEOUT) {
        line->late = true;
        line->events->expired(line, LINE_IDLE, line->data);
        settle(line);
        return;
    }
    ssize_t count = line->tls ? tls_session_receive(line->tls, octets, sizeof octets)
                              : recv(fd, octets, sizeof octets, 0);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
        if (line->tls) /* the handshake may have ended, and what waited for that goes out */
            settle(line);
        return;
    }
    if (count < 0) {
        line_close(line);
        return;
    }
    line->ended = count == 0;
    if (count > 0 && line->rest->len == 0) { /* the usual case: used where it lies */
        size_t used = line->events->receive(line, octets, (size_t)count, line->data);
        g_assert(used <= (size_t)count);
        if (used < (size_t)count)
            g_byte_array_append(line->rest, (const guint8 *)octets + used, (guint)((size_t)count - used));
    } else if (count > 0) {
        g_byte_array_append(line->rest, (const guint8 *)octets, (guint)count);
        offer_rest(line);
    }
    settle(line);
}

static void on_writable(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    Line *line = data;
    if (what & EV_TIMEOUT) {
        line_close(line);
        return;
    }
    line_resume(line);
}
