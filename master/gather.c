/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/gather.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/control.h"
#include "master/group.h"

static const struct {
    const char *request;
    int seconds;
} asks[] = {
    [GATHER_FIGURES] = {"{\"verb\":\"destinations\"}\n", 5},
    [GATHER_TROUBLES] = {"{\"verb\":\"destinations\",\"trouble\":true,\"limit\":100}\n", 1},
};
/* A thousand destinations are less than one. */
#define REPLY_MAX ((size_t)16 << 20)

/* One child that was asked. */
typedef struct Ask {
    Gather *gather;
    unsigned instance;
    char *name;                 /* RUNNER-INSTANCE */
    struct bufferevent *stream; /* NULL: it has answered, or failed */
} Ask;

struct Gather {
    GatherWhat what;
    GPtrArray *asks; /* of Ask, owned */
    guint open;
    json_t *destinations;
    GString *fault;
    struct event *deadline;
    GatherDone *done;
    void *data;
};

static void ask_free(Ask *ask)
{
    g_clear_pointer(&ask->stream, bufferevent_free);
    g_free(ask->name);
    g_free(ask);
}

void gather_cancel(Gather *gather)
{
    event_free(gather->deadline);
    g_ptr_array_unref(gather->asks);
    json_decref(gather->destinations);
    g_string_free(gather->fault, TRUE);
    g_free(gather);
}

static void note(Gather *gather, const Ask *ask, const char *why)
{
    g_string_append_printf(gather->fault, "%s%s %s", gather->fault->len > 0 ? "; " : "", ask->name, why);
}

/* In the loop, when all have answered or the time is over. */
static void on_deadline(evutil_socket_t fd, short what, void *data)
{
    Gather *gather = data;
    for (guint i = 0; i < gather->asks->len; i++) {
        const Ask *ask = gather->asks->pdata[i];
        if (ask->stream)
            note(gather, ask, "does not answer");
    }
    gather->done(gather->data, gather->destinations, gather->fault->len > 0 ? gather->fault->str : NULL);
    gather_cancel(gather);
}

/* why: what went wrong, or NULL. */
static void ask_over(Ask *ask, const char *why)
{
    Gather *gather = ask->gather;
    if (why)
        note(gather, ask, why);
    g_clear_pointer(&ask->stream, bufferevent_free);
    if (--gather->open == 0)
        event_active(gather->deadline, EV_TIMEOUT, 0);
}

static void on_read(struct bufferevent *stream, void *data)
{
    Ask *ask = data;
    struct evbuffer *input = bufferevent_get_input(stream);
    char *line = evbuffer_readln(input, NULL, EVBUFFER_EOL_LF);
    if (!line) {
        if (evbuffer_get_length(input) > REPLY_MAX)
            ask_over(ask, "says too much");
        return;
    }
    json_t *reply = json_loads(line, 0, NULL);
    bool good = json_is_true(json_object_get(reply, "ok"));
    size_t i;
    json_t *destination;
    json_array_foreach(good ? json_object_get(reply, "destinations") : NULL, i, destination) {
        json_object_set_new(destination, "instance", json_integer(ask->instance));
        json_array_append(ask->gather->destinations, destination);
    }
    json_decref(reply);
    free(line);
    ask_over(ask, good ? NULL : "gives no answer that can be read");
}

static void on_event(struct bufferevent *stream, short what, void *data)
{
    if (what & (BEV_EVENT_ERROR | BEV_EVENT_EOF | BEV_EVENT_TIMEOUT))
        ask_over(data, "hung up");
}

Gather *gather_destinations(const Master *master, GatherWhat what, GatherDone *done, void *data)
{
    Gather *gather = g_new0(Gather, 1);
    *gather = (Gather){.what = what,
                       .asks = g_ptr_array_new_with_free_func((GDestroyNotify)ask_free),
                       .open = 1, /* ourselves, so that it does not end while we ask */
                       .destinations = json_array(),
                       .fault = g_string_new(NULL),
                       .done = done,
                       .data = data};
    gather->deadline = evtimer_new(master->base, on_deadline, gather);
    struct timeval wait = {asks[what].seconds, 0};
    evtimer_add(gather->deadline, &wait);
    for (guint i = 0; i < master->groups->len; i++) {
        const Group *group = g_ptr_array_index(master->groups, i);
        for (guint k = 0; k < group->workers->len; k++) {
            const Worker *worker = g_ptr_array_index(group->workers, k);
            struct sockaddr_un address = {.sun_family = AF_UNIX};
            g_autofree char *name = g_strdup_printf("%s-%u", worker->group->plan->name, worker->instance);
            g_autofree char *path = g_strdup_printf("%s/%s.sock", master->plan->runtime, name);
            bool fits = g_strlcpy(address.sun_path, path, sizeof address.sun_path) < sizeof address.sun_path;
            if (worker->state != WORKER_READY || !fits || access(path, F_OK) != 0)
                continue;
            Ask *ask = g_new0(Ask, 1);
            *ask = (Ask){.gather = gather, .instance = worker->instance, .name = g_steal_pointer(&name)};
            g_ptr_array_add(gather->asks, ask);
            gather->open++;
            ask->stream = bufferevent_socket_new(master->base, -1, BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
            bufferevent_setcb(ask->stream, on_read, NULL, on_event, ask);
            bufferevent_enable(ask->stream, EV_READ | EV_WRITE);
            bufferevent_write(ask->stream, asks[what].request, strlen(asks[what].request));
            if (bufferevent_socket_connect(ask->stream, (struct sockaddr *)&address, sizeof address) != 0)
                ask_over(ask, "cannot be reached");
        }
    }
    if (--gather->open == 0)
        event_active(gather->deadline, EV_TIMEOUT, 0);
    return gather;
}
