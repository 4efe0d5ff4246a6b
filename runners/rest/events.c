/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * /listrunner/events: what happens, as server-sent events (WHATWG HTML, 9.2). Events come from the store, where the
 * runner hooks puts them; it touches a file when there are more. A reader is one who has read up to a number. Rows are
 * read for it only when all that was sent before has left, so that a slow one costs no more memory than others.
 */
#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <event2/event.h>

#include "base/fail.h"
#include "base/log.h"
#include "lists/event.h"
#include "runners/rest/resources.h"
#include "store/event_row.h"

#define HEARTBEAT_S 15
#define ROWS 100     /* that are read at once */
#define TURNS_MAX 20 /* readings for one reader, whom none of their rows concerns, before others have their turn */

typedef struct EventReaders {
    Rest *rest;
    GPtrArray *all; /* of Reader */
    int watch;      /* inotify; -1: none was to be had */
    bool is_watching; /* the runtime directory */
    struct event *watched, *heartbeat;
} EventReaders;

typedef struct EventsReader {
    EventReaders *readers;
    HttpStream *stream;
    Token *token;   /* NULL: a user of the password file */
    char **types;   /* words; empty: all */
    char *list_id;  /* NULL: of all lists */
    int64_t number; /* of the last event that it has, or does not want */
} EventsReader;

/* ---- feeding ---- */

/* Adds the next events that the reader wants. *more: there may be others behind them. */
static bool read_some(EventsReader *reader, Store *store, GString *text, bool *more, GError **error)
{
    g_autoptr(GPtrArray) rows = event_row_after(store, reader->number, ROWS, error);
    if (!rows)
        return false;
    for (guint at = 0; at < rows->len; at++) {
        const EventRow *event = rows->pdata[at];
        bool wanted = !*reader->types;
        for (char **word = reader->types; *word && !wanted; word++)
            wanted = event_fits(*word, event->type);
        wanted = wanted && (!reader->list_id || strcmp(reader->list_id, event->list_id) == 0);
        if (wanted && reader->token && !token_sees(reader->token, store, event, &wanted, error))
            return false;
        reader->number = event->number;
        if (wanted)
            g_string_append_printf(text, "id: %" G_GINT64_FORMAT "\nevent: %s\ndata: %s\n\n", event->number,
                                   event->type, event->body);
    }
    *more = rows->len == ROWS;
    return true;
}

static void feed(EventsReader *reader)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GString) text = g_string_new(NULL);
    Seat *seat = &reader->readers->rest->seat;
    bool more = !http_stream_busy(reader->stream) && seat_keep(seat, &error);
    for (int turn = 0; more && text->len == 0; turn++) {
        if (turn == TURNS_MAX)
            g_string_append(text, ":\n\n"); /* goes on when that has left */
        else if (!read_some(reader, seat->store, text, &more, &error))
            break;
    }
    if (error)
        log_error("events cannot be read: %s", error->message);
    if (text->len > 0)
        http_stream_send(reader->stream, text->str, text->len);
}

static void on_room(HttpStream *stream)
{
    feed(http_stream_data(stream));
}

static void on_closed(HttpStream *stream)
{
    EventsReader *reader = http_stream_data(stream);
    g_ptr_array_remove_fast(reader->readers->all, reader);
    token_free(reader->token);
    g_strfreev(reader->types);
    g_free(reader->list_id);
    g_free(reader);
}

/* Without a watch the store is looked at each second, and the directory, too: it may be there again. */
static void set_watching(EventReaders *readers, bool is_watching)
{
    readers->is_watching = is_watching;
    event_add(readers->heartbeat, &(struct timeval){is_watching ? HEARTBEAT_S : 1, 0});
}

static bool watch_directory(const EventReaders *readers)
{
    const char *directory = config_string(readers->rest->config, "master", "runtime_directory");
    return inotify_add_watch(readers->watch, directory, IN_ATTRIB | IN_CREATE | IN_MOVE_SELF | IN_ONLYDIR) >= 0;
}

static void on_watched(evutil_socket_t fd, short what, void *data)
{
    EventReaders *readers = data;
    char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
    bool touched = false;
    (void)what;
    for (ssize_t length; (length = read(fd, buffer, sizeof buffer)) > 0;)
        for (ssize_t at = 0; at < length;) {
            const struct inotify_event *event = (const void *)(buffer + at);
            touched |= event->len > 0 && strcmp(event->name, EVENT_SIGN) == 0;
            if (event->mask & IN_MOVE_SELF)
                inotify_rm_watch(fd, event->wd);
            if (event->mask & (IN_IGNORED | IN_MOVE_SELF)) /* it was removed or moved away */
                set_watching(readers, false);
            at += (ssize_t)(sizeof *event + event->len);
        }
    for (guint at = 0; touched && at < readers->all->len; at++)
        feed(readers->all->pdata[at]);
}

/* A token may have been revoked since, or have expired, or have lost a list that was removed. */
static bool still_allowed(EventsReader *reader)
{
    g_autoptr(GError) error = NULL;
    Seat *seat = &reader->readers->rest->seat;
    bool open = reader->token && seat_keep(seat, &error);
    g_autoptr(Token) now = open ? token_find(seat->store, reader->token->id, &error) : NULL;
    bool gone = g_error_matches(error, FAIL, FAIL_MISSING);
    if (now) {
        token_free(reader->token);
        reader->token = g_steal_pointer(&now);
    }
    return !gone && (!reader->token || reader->token->expires_at == 0 ||
                     reader->token->expires_at > g_get_real_time());
}

/* So that neither side takes a silent connection for a dead one, and events of other hosts are seen, too. */
static void on_heartbeat(evutil_socket_t fd, short what, void *data)
{
    EventReaders *readers = data;
    (void)fd, (void)what;
    if (readers->watch >= 0 && !readers->is_watching && watch_directory(readers))
        set_watching(readers, true);
    for (guint at = 0; at < readers->all->len; at++) {
        EventsReader *reader = readers->all->pdata[at];
        if (!still_allowed(reader)) {
            http_stream_end(reader->stream);
            continue;
        }
        feed(reader);
        if (!http_stream_busy(reader->stream))
            http_stream_send(reader->stream, ":\n\n", 3);
    }
}

/* ---- readers ---- */

static EventReaders *readers_new(Rest *rest)
{
    EventReaders *readers = g_new0(EventReaders, 1);
    readers->rest = rest;
    readers->all = g_ptr_array_new();
    readers->heartbeat = event_new(http_loop(rest->http), -1, EV_PERSIST, on_heartbeat, readers);
    readers->watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    set_watching(readers, readers->watch >= 0 && watch_directory(readers));
    if (!readers->is_watching) /* the system lends few watches to a user */
        log_warn("the runtime directory cannot be watched (%s); events are looked for each second", g_strerror(errno));
    if (readers->watch < 0)
        return readers;
    readers->watched = event_new(http_loop(rest->http), readers->watch, EV_READ | EV_PERSIST, on_watched, readers);
    event_add(readers->watched, NULL);
    return readers;
}

void event_readers_free(EventReaders *readers)
{
    if (!readers)
        return;
    event_free(readers->heartbeat);
    if (readers->watched) {
        event_free(readers->watched);
        close(readers->watch);
    }
    g_ptr_array_unref(readers->all);
    g_free(readers);
}

/* Find the begin: behind the event that the client names, else with the next one that happens. A number that was not
 * given yet is of a database that was restored since: also with the next one. False: it was answered. */
static bool read_begin(Call *call, Store *store, int64_t *number)
{
    int64_t named = G_MAXINT64;
    GError *error = NULL;
    const char *last = http_header(call->http, "Last-Event-ID");
    if (!last)
        last = form_text(call, "last_event_id");
    if (last && !g_ascii_string_to_signed(last, 10, 0, G_MAXINT64, &named, NULL))
        return form_refuse(call, "last_event_id", "\"%s\" is no number of an event", last);
    if (!event_row_last(store, number, &error)) {
        rest_fail(call, error);
        return false;
    }
    *number = MIN(*number, named);
    return true;
}

/* May one more read, and is there something to read? False: 503 was answered. */
static bool can_serve(Call *call)
{
    Rest *rest = call->rest;
    if (!rest->site.tells) {
        answer_refusal(call, 503, "No events are noted on this site: [runner.hooks] is not started");
        return false;
    }
    if (!rest->readers)
        rest->readers = readers_new(rest);
    if (rest->readers->all->len < config_integer(rest->config, "rest", "max_connections") / 2)
        return true;
    answer_refusal(call, 503, "There are as many readers of events as [rest] max_connections has room for");
    return false;
}

static void get(Call *call)
{
    static const HttpStreamSpec spec = {.room = on_room, .closed = on_closed};
    int64_t number;
    g_auto(GStrv) types = form_words(call, "type");
    if (!form_expect(call, "", "type list_id last_event_id"))
        return;
    for (char **type = types; *type; type++)
        if (!event_known(*type)) {
            form_refuse(call, "type", "\"%s\" is no type of event, nor a word as member.*", *type);
            return;
        }
    if (!read_begin(call, call->store, &number) || !can_serve(call))
        return;
    if (strcmp(http_verb(call->http), "HEAD") == 0) {
        answer_text(call, "text/event-stream", "");
        return;
    }
    EventsReader *reader = g_new0(EventsReader, 1);
    *reader = (EventsReader){.readers = call->rest->readers,
                             .token = g_steal_pointer(&call->token),
                             .types = g_steal_pointer(&types),
                             .number = number,
                             .list_id = g_strdup(form_is_empty(call, "list_id") ? NULL : form_text(call, "list_id"))};
    call->answered = true;
    http_set_header(call->http, "Cache-Control", "no-store");
    reader->stream = http_stream(call->http, "text/event-stream", &spec, reader);
    g_ptr_array_add(reader->readers->all, reader);
    /* When that has left, feed() begins. */
    http_stream_send(reader->stream, "retry: 3000\n\n", strlen("retry: 3000\n\n"));
}

/* They choose events; whether an event may be seen is asked of each by itself (token_sees()). */
static const RestField fields[] = {
    {"type", MAY_KNOWN, MAY_NOBODY},
    {"list_id", MAY_KNOWN, MAY_NOBODY},
    {"last_event_id", MAY_KNOWN, MAY_NOBODY},
    {0},
};

const RestRoute rest_events[] = {
    {"GET", "listrunner/events", OF_SITE, MAY_KNOWN, fields, get, "What happens, as server-sent events"},
    {0},
};
