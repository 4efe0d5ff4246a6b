/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/control.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/control.h"
#include "base/fail.h"
#include "base/log.h"
#include "master/group.h"
#include "master/reload.h"
#include "master/status.h"

#define CLIENTS_MAX 64
#define CLIENT_TIMEOUT 60 /* seconds */
#define ACCEPT_PAUSE 1

struct Control {
    Master *master;
    struct evconnlistener *listener;
    struct event *pause; /* until it accepts again */
    GPtrArray *clients; /* struct bufferevent * */
    char *path;
};

/* Carries out one request. The reply is a new reference; NULL means
 * {"ok":true}, or the fault when error is set. */
typedef json_t *Verb(Master *master, const json_t *request, GError **error);

static json_t *verb_status(Master *master, const json_t *request, GError **error)
{
    return status_json(master);
}

static json_t *verb_reload(Master *master, const json_t *request, GError **error)
{
    reload_apply(master, error);
    return NULL;
}

static json_t *verb_stop(Master *master, const json_t *request, GError **error)
{
    supervisor_stop(master);
    return NULL;
}

/* The group that the request names, which must be there to stay. */
static Group *named_group(const Master *master, const json_t *request, GError **error)
{
    const char *runner = json_string_value(json_object_get(request, "runner"));
    Group *group = runner ? supervisor_find(master, runner) : NULL;
    if (!runner)
        fail(error, FAIL_CONFIG, "\"runner\" must name a runner");
    else if (!group || !group_goal(group))
        fail(error, FAIL_CONFIG, "there is no runner %s", runner);
    return group && group_goal(group) ? group : NULL;
}

static json_t *verb_rescale(Master *master, const json_t *request, GError **error)
{
    const json_t *instances = json_object_get(request, "instances");
    const Group *known = named_group(master, request, error);
    if (!known)
        return NULL;
    if (!json_is_integer(instances) || !plan_instances_valid(json_integer_value(instances))) {
        fail(error, FAIL_CONFIG, "\"instances\" must be a power of two from 1 to 256");
        return NULL;
    }
    Group *group = supervisor_find(master, known->plan->name);
    g_autoptr(PlanRunner) next = plan_runner_copy(group_goal(group));
    if (next->instances == (unsigned)json_integer_value(instances))
        return NULL;
    next->instances = (unsigned)json_integer_value(instances);
    group_change(group, next);
    return NULL;
}

static void restart_group(Group *group)
{
    g_autoptr(PlanRunner) same = plan_runner_copy(group_goal(group));
    group_change(group, same);
}

static json_t *verb_restart(Master *master, const json_t *request, GError **error)
{
    if (json_object_get(request, "runner")) {
        Group *group = named_group(master, request, error);
        if (group)
            restart_group(group);
        return NULL;
    }
    for (guint i = 0; i < master->groups->len; i++)
        if (group_goal(g_ptr_array_index(master->groups, i)))
            restart_group(g_ptr_array_index(master->groups, i));
    return NULL;
}

static const struct {
    const char *name;
    Verb *run;
    bool while_stopping;
} verbs[] = {
    {"status", verb_status, true},    {"reload", verb_reload, false}, {"rescale", verb_rescale, false},
    {"restart", verb_restart, false}, {"stop", verb_stop, true},
};

static json_t *answer(Master *master, const char *line, GError **error)
{
    json_error_t where;
    json_t *request = json_loads(line, JSON_REJECT_DUPLICATES, &where);
    const char *name = json_string_value(json_object_get(request, "verb"));
    json_t *reply = NULL;
    size_t i = 0;
    while (i < G_N_ELEMENTS(verbs) && g_strcmp0(name, verbs[i].name) != 0)
        i++;
    if (!request)
        fail(error, FAIL_CONFIG, "no JSON object: %s", where.text);
    else if (i == G_N_ELEMENTS(verbs))
        fail(error, FAIL_CONFIG, "\"verb\" must be status, reload, rescale, restart or stop");
    else if (master->stopping && !verbs[i].while_stopping)
        fail(error, FAIL_LATER, "the master is stopping");
    else
        reply = verbs[i].run(master, request, error);
    if (i < G_N_ELEMENTS(verbs) && verbs[i].run != verb_status)
        log_info("command: %s", line);
    json_decref(request);
    return reply;
}

static void serve(const Control *control, struct bufferevent *client, const char *line)
{
    g_autoptr(GError) error = NULL;
    json_t *reply = answer(control->master, line, &error);
    if (error)
        reply = json_pack("{s:b,s:s}", "ok", 0, "error", error->message);
    else if (!reply)
        reply = json_pack("{s:b}", "ok", 1);
    char *text = reply ? json_dumps(reply, JSON_COMPACT) : NULL;
    json_decref(reply);
    if (!text) /* a text in it was no UTF-8 */
        text = strdup("{\"ok\":false,\"error\":\"the reply cannot be put into words\"}");
    bufferevent_write(client, text, strlen(text));
    bufferevent_write(client, "\n", 1);
    free(text);
}

static void on_event(struct bufferevent *client, short what, void *data)
{
    Control *control = data;
    /* Who asked for a stop waits for our end, and only listens. */
    if ((what & BEV_EVENT_TIMEOUT) && control->master->stopping)
        return;
    g_ptr_array_remove_fast(control->clients, client);
}

static void on_read(struct bufferevent *client, void *data)
{
    Control *control = data;
    struct evbuffer *input = bufferevent_get_input(client);
    char *line;
    while ((line = evbuffer_readln(input, NULL, EVBUFFER_EOL_LF)) != NULL) {
        serve(control, client, line);
        free(line);
    }
    if (evbuffer_get_length(input) > CONTROL_REQUEST_MAX)
        g_ptr_array_remove_fast(control->clients, client);
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address, int length,
                      void *data)
{
    Control *control = data;
    struct bufferevent *client = control->clients->len < CLIENTS_MAX
                                     ? bufferevent_socket_new(control->master->base, fd, BEV_OPT_CLOSE_ON_FREE)
                                     : NULL;
    if (!client) {
        evutil_closesocket(fd);
        return;
    }
    struct timeval timeout = {CLIENT_TIMEOUT, 0};
    bufferevent_setcb(client, on_read, NULL, on_event, control);
    bufferevent_set_timeouts(client, &timeout, &timeout);
    g_ptr_array_add(control->clients, client);
    bufferevent_enable(client, EV_READ | EV_WRITE);
}

static void on_pause_over(evutil_socket_t fd, short what, void *data)
{
    evconnlistener_enable(((Control *)data)->listener);
}

/* Out of descriptors: whoever waits stays readable, and asking at once would only spin. */
static void on_accept_fault(struct evconnlistener *listener, void *data)
{
    Control *control = data;
    log_warn("control socket: %s", g_strerror(errno));
    struct timeval pause = {ACCEPT_PAUSE, 0};
    evconnlistener_disable(listener);
    evtimer_add(control->pause, &pause);
}

Control *control_new(Master *master, GError **error)
{
    g_autofree char *path = g_build_filename(master->plan->runtime, CONTROL_SOCKET, NULL);
    int fd = listen_unix(path, 0660, error);
    if (fd < 0)
        return NULL;
    Control *control = g_new0(Control, 1);
    control->master = master;
    control->path = g_steal_pointer(&path);
    control->clients = g_ptr_array_new_with_free_func((GDestroyNotify)bufferevent_free);
    control->listener = evconnlistener_new(master->base, on_accept, control,
                                           LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
    evconnlistener_set_error_cb(control->listener, on_accept_fault);
    control->pause = evtimer_new(master->base, on_pause_over, control);
    return control;
}

/* The loop has ended, perhaps in the turn that answered: the last words go out by hand. */
static void flush_clients(const Control *control)
{
    for (guint i = 0; i < control->clients->len; i++) {
        struct bufferevent *client = g_ptr_array_index(control->clients, i);
        struct evbuffer *output = bufferevent_get_output(client);
        evbuffer_unfreeze(output, 1); /* which only the loop may drain otherwise */
        evbuffer_write(output, bufferevent_getfd(client));
    }
}

void control_free(Control *control)
{
    flush_clients(control);
    event_free(control->pause);
    evconnlistener_free(control->listener);
    g_ptr_array_unref(control->clients);
    unlink(control->path);
    g_free(control->path);
    g_free(control);
}
