/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "t/tools/sink.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define INPUT_SIZE 65536

typedef enum State { STATE_COMMAND, STATE_DATA, STATE_STALLED, STATE_CLOSING } State;

typedef struct Session {
    Sink *sink;
    uint64_t number; /* of the connection */
    int fd;
    State state;
    struct event *readable, *writable, *timer;
    bool waiting; /* the timer is set: nothing is read before it fires */
    char input[INPUT_SIZE];
    size_t filled;
    GString *output;
    size_t sent;
    char *helo, *from;
    GString *recipients, *message;
    unsigned count;
    uint64_t octets;
    bool inside_line; /* the last octets of DATA did not end a line */
} Session;

static void session_free(Session *session)
{
    session->sink->open--;
    event_free(session->readable);
    event_free(session->writable);
    event_free(session->timer);
    close(session->fd);
    g_string_free(session->output, TRUE);
    g_string_free(session->recipients, TRUE);
    g_string_free(session->message, TRUE);
    g_free(session->helo);
    g_free(session->from);
    g_free(session);
}

static void reset(Session *session)
{
    g_clear_pointer(&session->from, g_free);
    g_string_truncate(session->recipients, 0);
    g_string_truncate(session->message, 0);
    session->count = 0;
    session->octets = 0;
    session->inside_line = false;
}

#define SAY(session, text) g_string_append_len((session)->output, text, sizeof(text) - 1)

/* Commits the fault of this stage, if there is one; true: nothing else is to be said. */
static bool misbehave(Session *session, SinkStage stage, const char *subject)
{
    if (session->sink->faults->len == 0)
        return false;
    const SinkFault *fault = sink_fault_find(session->sink, stage, subject);
    if (fault == NULL)
        return false;
    if (fault->action == ACTION_REPLY) {
        g_string_append(session->output, fault->reply);
        if (strncmp(fault->reply, "421", 3) == 0)
            session->state = STATE_CLOSING;
    } else {
        session->state = fault->action == ACTION_CLOSE ? STATE_CLOSING : STATE_STALLED;
    }
    return true;
}

/* The address between angle brackets (or the word) after the colon; g_free(). */
static char *path_of(const char *line, size_t length)
{
    const char *colon = memchr(line, ':', length);
    const char *end = line + length;
    if (colon == NULL)
        return NULL;
    const char *open = memchr(colon, '<', (size_t)(end - colon));
    const char *shut = open != NULL ? memrchr(open, '>', (size_t)(end - open)) : NULL;
    return shut != NULL ? g_strndup(open + 1, (gsize)(shut - open - 1)) : NULL;
}

static void on_helo(Session *session, const char *line, size_t length)
{
    if (misbehave(session, STAGE_HELO, NULL))
        return;
    reset(session);
    g_free(session->helo);
    session->helo = length > 5 ? g_strndup(line + 5, length - 5) : g_strdup("");
    if (line[0] == 'E' || line[0] == 'e')
        SAY(session, "250-sink\r\n250-PIPELINING\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n250-ENHANCEDSTATUSCODES\r\n"
                     "250 SIZE 0\r\n");
    else
        SAY(session, "250 sink\r\n");
}

static void on_mail(Session *session, const char *line, size_t length)
{
    g_autofree char *from = path_of(line, length);
    if (from == NULL) {
        SAY(session, "501 5.5.4 no address\r\n");
    } else if (session->from != NULL) {
        SAY(session, "503 5.5.1 nested MAIL\r\n");
    } else if (!misbehave(session, STAGE_MAIL, from)) {
        session->from = g_steal_pointer(&from);
        SAY(session, "250 2.1.0 ok\r\n");
    }
}

static void on_rcpt(Session *session, const char *line, size_t length)
{
    if (session->from == NULL) {
        SAY(session, "503 5.5.1 MAIL first\r\n");
        return;
    }
    g_autofree char *to = path_of(line, length);
    if (to == NULL || *to == '\0') {
        SAY(session, "501 5.5.4 no address\r\n");
        return;
    }
    if (misbehave(session, STAGE_RCPT, to)) {
        session->sink->stats.refused++;
        return;
    }
    g_string_append(session->recipients, to);
    g_string_append_c(session->recipients, '\n');
    session->count++;
    SAY(session, "250 2.1.5 ok\r\n");
}

static void on_data(Session *session, const char *line, size_t length)
{
    if (session->count == 0) {
        SAY(session, "554 5.5.1 no valid recipients\r\n");
    } else if (!misbehave(session, STAGE_DATA, session->recipients->str)) {
        session->state = STATE_DATA;
        SAY(session, "354 go on\r\n");
    }
}

static void on_rset(Session *session, const char *line, size_t length)
{
    if (misbehave(session, STAGE_RSET, NULL))
        return;
    reset(session);
    SAY(session, "250 2.0.0 ok\r\n");
}

static void on_noop(Session *session, const char *line, size_t length)
{
    SAY(session, "250 2.0.0 ok\r\n");
}

static void on_quit(Session *session, const char *line, size_t length)
{
    if (misbehave(session, STAGE_QUIT, NULL))
        return;
    SAY(session, "221 2.0.0 bye\r\n");
    session->state = STATE_CLOSING;
}

static const struct {
    const char *verb;
    void (*run)(Session *session, const char *line, size_t length);
} commands[] = {
    {"RCPT", on_rcpt}, {"MAIL", on_mail}, {"DATA", on_data}, {"EHLO", on_helo},
    {"HELO", on_helo}, {"RSET", on_rset}, {"NOOP", on_noop}, {"QUIT", on_quit},
};

static void command(Session *session, const char *line, size_t length)
{
    if (length > 0 && line[length - 1] == '\r')
        length--;
    for (size_t i = 0; length >= 4 && i < G_N_ELEMENTS(commands); i++) {
        if (strncasecmp(line, commands[i].verb, 4) == 0) {
            commands[i].run(session, line, length);
            return;
        }
    }
    SAY(session, "500 5.5.2 what?\r\n");
}

static void finish_message(Session *session)
{
    Sink *sink = session->sink;
    session->state = STATE_COMMAND;
    size_t said = session->output->len;
    bool wrong = misbehave(session, STAGE_DOT, session->recipients->str);
    bool refused = wrong && session->output->len > said && session->output->str[said] != '2';
    SinkMail mail = {
        .from = session->from, .helo = session->helo != NULL ? session->helo : "", .recipients = session->recipients,
        .count = session->count, .message = session->message, .octets = session->octets,
        .session = session->number,
        .result = refused ? "refused" : wrong && session->output->len == said ? "silent" : "accepted",
    };
    sink_store_keep(sink, &mail);
    if (refused) {
        sink->stats.refused += session->count;
    } else {
        int64_t now = g_get_real_time();
        sink->stats.transactions++;
        sink->stats.recipients += session->count;
        sink->stats.octets += session->octets;
        sink->stats.first = sink->stats.first != 0 ? sink->stats.first : now;
        sink->stats.last = now;
    }
    if (!wrong)
        g_string_append_printf(session->output, "250 2.0.0 ok %" G_GUINT64_FORMAT "\r\n", sink->serial);
    reset(session);
}

static void take(Session *session, const char *data, size_t length)
{
    session->octets += length;
    if (sink_store_wanted(session->sink))
        g_string_append_len(session->message, data, (gssize)length);
}

/* One line of DATA with its line feed, or a piece of one that is longer than the buffer. */
static void data_line(Session *session, const char *line, size_t length)
{
    bool ended = line[length - 1] == '\n';
    if (!session->inside_line && line[0] == '.') {
        if (ended && (length == 2 || (length == 3 && line[1] == '\r'))) {
            finish_message(session);
            return;
        }
        line++;
        length--;
    }
    take(session, line, length);
    session->inside_line = !ended;
}

static void parse(Session *session)
{
    const char *at = session->input, *end = at + session->filled;
    while (at < end && session->state <= STATE_DATA) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        if (feed == NULL && !(session->state == STATE_DATA && at == session->input && session->filled == INPUT_SIZE))
            break;
        size_t length = feed != NULL ? (size_t)(feed - at) + 1 : (size_t)(end - at);
        if (session->state == STATE_DATA)
            data_line(session, at, length);
        else
            command(session, at, length - 1);
        at += length;
    }
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

/* False when the session is gone. */
static bool flush(Session *session)
{
    while (session->sent < session->output->len) {
        size_t piece = session->sink->dribble ? 1 : session->output->len - session->sent;
        ssize_t n = send(session->fd, session->output->str + session->sent, piece, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            event_add(session->writable, NULL);
            return true;
        }
        if (n < 0) {
            session_free(session);
            return false;
        }
        session->sent += (size_t)n;
    }
    g_string_truncate(session->output, 0);
    session->sent = 0;
    if (session->state == STATE_CLOSING) {
        shutdown(session->fd, SHUT_WR);
        session_free(session);
        return false;
    }
    return true;
}

static void on_readable(evutil_socket_t fd, short what, void *data)
{
    Session *session = data;
    Sink *sink = session->sink;
    size_t room = INPUT_SIZE - session->filled;
    if (sink->slow_read > 0)
        room = MIN(room, (size_t)MAX(sink->slow_read / 20, 1));
    if (session->state == STATE_STALLED) /* what still comes is of no interest */
        session->filled = 0, room = INPUT_SIZE;
    ssize_t n = recv(fd, session->input + session->filled, room, 0);
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
    else if (session->output->len > 0 || session->state == STATE_CLOSING)
        flush(session);
}

static void on_writable(evutil_socket_t fd, short what, void *data)
{
    flush(data);
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
    if (!misbehave(session, STAGE_CONNECT, NULL))
        SAY(session, "220 sink ESMTP\r\n");
    if (sink->latency_ms > 0)
        wait_for(session, sink->latency_ms * 1000L);
    else
        flush(session);
}
