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
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/control.h"
#include "base/fail.h"
#include "base/log.h"
#include "master/history.h"
#include "master/status.h"
#include "master/survey.h"
#include "master/worker.h"

#define CLIENTS_MAX 64
#define CLIENT_TIMEOUT 60 /* seconds */
#define ACCEPT_PAUSE 1
#define LOOK_INTERVAL 2 /* seconds, for the runtime directory */

/* ---- what the children know ---- */

/* GATHER_FIGURES asks for all that is known of the destinations with most waiting. GATHER_TROUBLES asks for those that
 * are dead, suspended, or throttled while mail waits for them, 100 of each child. */
typedef enum GatherWhat { GATHER_FIGURES, GATHER_TROUBLES } GatherWhat;

static const struct {
    const char *request;
    int seconds; /* until done is called in any case */
} asks[] = {
    [GATHER_FIGURES] = {"{\"verb\":\"destinations\"}\n", 5},
    [GATHER_TROUBLES] = {"{\"verb\":\"destinations\",\"trouble\":true,\"limit\":100}\n", 1},
};
/* A thousand destinations are less than one. */
#define REPLY_MAX ((size_t)16 << 20)

/* Take the answers. destinations is an array of all that came, each with the "instance" it came from; borrowed. fault
 * says which of the children that were asked gave no answer, and why; borrowed. NULL: all answered. */
typedef void GatherDone(void *data, const json_t *destinations, const char *fault);
typedef struct Gather Gather;

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

/* Stop asking; done is not called. */
static void gather_cancel(Gather *gather)
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
static void on_gather_deadline(evutil_socket_t fd, short what, void *data)
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

static void on_child_read(struct bufferevent *stream, void *data)
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

static void on_child_event(struct bufferevent *stream, short what, void *data)
{
    if (what & (BEV_EVENT_ERROR | BEV_EVENT_EOF | BEV_EVENT_TIMEOUT))
        ask_over(data, "hung up");
}

/* Ask the children that are ready and have a control socket of their own (base/control.h) what they know of
 * destinations. All are asked at once, and the loop goes on meanwhile: a child that stands still must not hold it up.
 * done is called once, from the loop; after that the Gather is gone. */
static Gather *gather_destinations(const Master *master, GatherWhat what, GatherDone *done, void *data)
{
    Gather *gather = g_new0(Gather, 1);
    *gather = (Gather){.what = what,
                       .asks = g_ptr_array_new_with_free_func((GDestroyNotify)ask_free),
                       .open = 1, /* ourselves, so that it does not end while we ask */
                       .destinations = json_array(),
                       .fault = g_string_new(NULL),
                       .done = done,
                       .data = data};
    gather->deadline = evtimer_new(master->base, on_gather_deadline, gather);
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
            bufferevent_setcb(ask->stream, on_child_read, NULL, on_child_event, ask);
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

/* ---- the clients ---- */

/* A socket that we listen on. */
typedef struct ControlDoor {
    Control *control;
    char *path;
    mode_t mode;
    bool commands; /* not only those verbs that look */
    struct evconnlistener *listener;
    struct event *pause; /* until it accepts again */
} ControlDoor;

struct Control {
    Master *master;
    ControlDoor doors[2];
    struct event *look;  /* are the sockets still there? */
    char *fault;         /* why it cannot be made again; NULL: none */
    Survey *survey;
    GPtrArray *clients; /* of ControlPeer, owned */
};

typedef struct ControlPeer {
    Control *control;
    bool may_command;           /* if the process at the other end may, too */
    struct bufferevent *stream; /* not read while something is asked for it: replies come in order */
    GatherWhat asked;           /* figures for metrics, troubles for status */
    Gather *gather;             /* NULL: it has answered, or nothing is asked */
    SurveyWish *wish;           /* the same */
    json_t *destinations, *waiting; /* what came */
    char *fault;                /* of gather */
    unsigned pending;           /* of the survey */
    char *scrape;               /* the request line of HTTP whose header is being read; NULL: JSON lines */
    bool ending;                /* hang up when all is written */
} ControlPeer;

/* Carries out one request. The reply is a new reference; NULL means
 * {"ok":true}, or the fault when error is set. */
typedef json_t *Verb(Master *master, const json_t *request, GError **error);

static json_t *verb_reload(Master *master, const json_t *request, GError **error)
{
    supervisor_reload(master, error);
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
    else if (!group || !supervisor_goal(group))
        fail(error, FAIL_CONFIG, "there is no runner %s; listrunner status shows them", runner);
    return group && supervisor_goal(group) ? group : NULL;
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
    g_autoptr(PlanRunner) next = plan_runner_copy(supervisor_goal(group));
    if (next->instances == (unsigned)json_integer_value(instances))
        return NULL;
    next->instances = (unsigned)json_integer_value(instances);
    supervisor_change(group, next);
    return NULL;
}

static void restart_group(Group *group)
{
    g_autoptr(PlanRunner) same = plan_runner_copy(supervisor_goal(group));
    supervisor_change(group, same);
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
        if (supervisor_goal(g_ptr_array_index(master->groups, i)))
            restart_group(g_ptr_array_index(master->groups, i));
    return NULL;
}

static json_t *verb_history(Master *master, const json_t *request, GError **error)
{
    const char *range = json_string_value(json_object_get(request, "range"));
    json_t *history = range ? history_json(master->history, range, clock_now()) : NULL;
    if (history)
        json_object_set_new(history, "ok", json_true());
    else
        fail(error, FAIL_CONFIG, "\"range\" must be hour, day or month");
    return history;
}

/* The reply to one of these comes later, or now if it fails. */
typedef bool LaterVerb(ControlPeer *client, const json_t *request, GError **error);
static LaterVerb later_status, later_metrics, later_pause, later_resume;

static const struct {
    const char *name;
    Verb *run; /* or: */
    LaterVerb *later;
    bool while_stopping, looks; /* looks: changes nothing */
} verbs[] = {
    {"status", NULL, later_status, true, true},    {"metrics", NULL, later_metrics, true, true},
    {"reload", verb_reload, NULL, false, false},   {"rescale", verb_rescale, NULL, false, false},
    {"restart", verb_restart, NULL, false, false}, {"stop", verb_stop, NULL, true, false},
    {"history", verb_history, NULL, true, true},   {"pause", NULL, later_pause, false, false},
    {"resume", NULL, later_resume, true, false},
};

static void client_free(ControlPeer *client)
{
    supervisor_go_on(client->control->master, client);
    g_clear_pointer(&client->gather, gather_cancel);
    if (client->wish)
        survey_forget(client->control->survey, client->wish);
    json_decref(client->destinations);
    json_decref(client->waiting);
    g_free(client->fault);
    bufferevent_free(client->stream);
    g_free(client->scrape);
    g_free(client);
}

static void hang_up(ControlPeer *client)
{
    g_ptr_array_remove_fast(client->control->clients, client);
}

/* reply is consumed; NULL stands for {"ok":true}. */
static void send_reply(const ControlPeer *client, json_t *reply)
{
    if (!reply)
        reply = json_pack("{s:b}", "ok", 1);
    char *text = reply ? json_dumps(reply, JSON_COMPACT) : NULL;
    json_decref(reply);
    if (!text) /* a text in it was no UTF-8 */
        text = strdup("{\"ok\":false,\"error\":\"the reply cannot be put into words\"}");
    bufferevent_write(client->stream, text, strlen(text));
    bufferevent_write(client->stream, "\n", 1);
    free(text);
}

static void send_page(ControlPeer *client, const char *status, const char *body)
{
    g_autofree char *head = g_strdup_printf("HTTP/1.0 %s\r\nContent-Type: " METRICS_TYPE "\r\nContent-Length: %zu\r\n"
                                            "Connection: close\r\n\r\n",
                                            status, strlen(body));
    client->ending = true;
    bufferevent_write(client->stream, head, strlen(head));
    bufferevent_write(client->stream, body, strlen(body));
}

static void read_lines(ControlPeer *client);

/* When both the queues and the runners have been asked. */
static void answer_asked(ControlPeer *client)
{
    if (client->gather || client->wish)
        return;
    json_t *status = status_json(client->control->master);
    json_object_set_new(status, "waiting", g_steal_pointer(&client->waiting));
    json_object_set_new(status, "pending", json_integer(client->pending));
    if (client->asked == GATHER_FIGURES) {
        g_autoptr(GString) text = status_metrics(status, client->destinations);
        json_decref(status);
        if (client->scrape && client->fault)
            g_string_append_printf(text, "# %s\n", client->fault);
        if (client->scrape)
            send_page(client, "200 OK", text->str);
        else
            send_reply(client, json_pack("{s:b,s:s,s:s?}", "ok", 1, "metrics", text->str, "fault", client->fault));
    } else {
        json_object_set(status, "troubles", client->destinations);
        json_object_set_new(status, "troubles_fault", client->fault ? json_string(client->fault) : json_null());
        send_reply(client, status);
    }
    g_clear_pointer(&client->destinations, json_decref);
    g_clear_pointer(&client->fault, g_free);
    bufferevent_enable(client->stream, EV_READ);
    read_lines(client);
}

static void on_gathered(void *data, const json_t *destinations, const char *fault)
{
    ControlPeer *client = data;
    client->gather = NULL;
    client->destinations = json_deep_copy(destinations);
    client->fault = g_strdup(fault);
    answer_asked(client);
}

static void on_surveyed(void *data, json_t *waiting, unsigned pending)
{
    ControlPeer *client = data;
    client->wish = NULL;
    client->waiting = waiting;
    client->pending = pending;
    answer_asked(client);
}

/* old: counts of queues that somebody else asked for a while ago will do. */
static void ask(ControlPeer *client, GatherWhat what, bool old)
{
    const Control *control = client->control;
    bufferevent_disable(client->stream, EV_READ);
    client->asked = what;
    client->gather = gather_destinations(control->master, what, on_gathered, client);
    client->wish = survey_ask(control->survey, old, on_surveyed, client);
}

static bool later_status(ControlPeer *client, const json_t *request, GError **error)
{
    ask(client, GATHER_TROUBLES, json_is_true(json_object_get(request, "old")));
    return true;
}

static bool later_metrics(ControlPeer *client, const json_t *request, GError **error)
{
    ask(client, GATHER_FIGURES, false);
    return true;
}

/* The stream is read meanwhile, so that we notice when the client is gone. */
static void on_paused(void *data, const GError *error)
{
    const ControlPeer *client = data;
    send_reply(client, error ? json_pack("{s:b,s:s}", "ok", 0, "error", error->message) : NULL);
}

static bool later_pause(ControlPeer *client, const json_t *request, GError **error)
{
    return supervisor_pause(client->control->master, on_paused, client, error);
}

static bool later_resume(ControlPeer *client, const json_t *request, GError **error)
{
    if (!supervisor_go_on(client->control->master, client))
        return fail(error, FAIL_LATER, "the pause was over before");
    send_reply(client, NULL);
    return true;
}

static void answer(ControlPeer *client, const char *line)
{
    Master *master = client->control->master;
    g_autoptr(GError) error = NULL;
    json_error_t where;
    json_auto_t *request = json_loads(line, JSON_REJECT_DUPLICATES, &where);
    json_t *reply = NULL;
    const char *name = json_string_value(json_object_get(request, "verb"));
    bool forbidden = false;
    size_t i = 0;
    while (i < G_N_ELEMENTS(verbs) && g_strcmp0(name, verbs[i].name) != 0)
        i++;
    bool known = i < G_N_ELEMENTS(verbs);
    if (!request)
        fail(&error, FAIL_CONFIG, "no JSON object: %s", where.text);
    else if (!known)
        fail(&error, FAIL_CONFIG,
             "\"verb\" must be status, metrics, history, reload, rescale, restart, pause, resume or stop");
    else if (!verbs[i].looks && !client->may_command)
        forbidden = !fail(&error, FAIL_NEVER, "this socket is for status, metrics and history alone");
    else if (!verbs[i].looks && !control_may_command(bufferevent_getfd(client->stream), &error))
        forbidden = true;
    else if (master->stopping && !verbs[i].while_stopping)
        fail(&error, FAIL_LATER, "the master is stopping");
    else if (verbs[i].run)
        reply = verbs[i].run(master, request, &error);
    if (known && !verbs[i].looks)
        log_info("command%s: %s", forbidden ? " refused, its sender may not give it" : "", line);
    if (!error && known && !verbs[i].run && verbs[i].later(client, request, &error))
        return;
    if (error)
        reply = json_pack("{s:b,s:b,s:s}", "ok", 0, "forbidden", (int)forbidden, "error", error->message);
    send_reply(client, reply);
}

static void on_event(struct bufferevent *stream, short what, void *data)
{
    ControlPeer *client = data;
    /* A client that asked for a stop waits for our end, and only listens. */
    if ((what & BEV_EVENT_TIMEOUT) && client->control->master->stopping)
        return;
    /* A client that has said all may still listen. */
    client->ending = (what & BEV_EVENT_EOF) && evbuffer_get_length(bufferevent_get_output(stream)) > 0;
    if (!client->ending)
        hang_up(client);
}

static void on_written(struct bufferevent *stream, void *data)
{
    ControlPeer *client = data;
    if (client->ending)
        hang_up(client);
}

/* Until there is no whole line, or one whose answer must be waited for. */
static void read_lines(ControlPeer *client)
{
    struct evbuffer *input = bufferevent_get_input(client->stream);
    while (!client->gather && !client->wish && !client->ending) {
        char *line = evbuffer_readln(input, NULL, client->scrape ? EVBUFFER_EOL_CRLF : EVBUFFER_EOL_LF);
        if (!line)
            break;
        if (client->scrape && *line == '\0') { /* the header of an HTTP request has ended */
            g_auto(GStrv) words = g_strsplit(client->scrape, " ", 3);
            if (g_strcmp0(words[1], "/metrics") == 0)
                ask(client, GATHER_FIGURES, false);
            else
                send_page(client, "404 Not Found", "There is only /metrics.\n");
        } else if (!client->scrape && g_str_has_prefix(line, "GET "))
            client->scrape = g_strdup(line);
        else if (!client->scrape)
            answer(client, line);
        free(line);
    }
}

static void on_read(struct bufferevent *stream, void *data)
{
    read_lines(data);
    if (evbuffer_get_length(bufferevent_get_input(stream)) > CONTROL_REQUEST_MAX)
        hang_up(data);
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address, int length,
                      void *data)
{
    const ControlDoor *door = data;
    Control *control = door->control;
    struct bufferevent *stream = control->clients->len < CLIENTS_MAX
                                     ? bufferevent_socket_new(control->master->base, fd, BEV_OPT_CLOSE_ON_FREE)
                                     : NULL;
    if (!stream) {
        evutil_closesocket(fd);
        return;
    }
    ControlPeer *client = g_new0(ControlPeer, 1);
    *client = (ControlPeer){.control = control, .may_command = door->commands, .stream = stream};
    struct timeval timeout = {CLIENT_TIMEOUT, 0};
    bufferevent_setcb(stream, on_read, on_written, on_event, client);
    bufferevent_set_timeouts(stream, &timeout, &timeout);
    g_ptr_array_add(control->clients, client);
    bufferevent_enable(stream, EV_READ | EV_WRITE);
}

static void on_pause_over(evutil_socket_t fd, short what, void *data)
{
    evconnlistener_enable(((ControlDoor *)data)->listener);
}

/* Out of descriptors: whoever waits stays readable, and asking at once would only spin. */
static void on_accept_fault(struct evconnlistener *listener, void *data)
{
    const ControlDoor *door = data;
    log_warn("%s: %s", door->path, g_strerror(errno));
    struct timeval pause = {ACCEPT_PAUSE, 0};
    evconnlistener_disable(listener);
    evtimer_add(door->pause, &pause);
}

/* Listen in place of the listener that there is, if there is one. */
static bool open_door(ControlDoor *door, GError **error)
{
    int fd = listen_unix(door->path, door->mode, error);
    if (fd < 0)
        return false;
    if (door->listener)
        evconnlistener_free(door->listener);
    door->listener = evconnlistener_new(door->control->master->base, on_accept, door,
                                        LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
    evconnlistener_set_error_cb(door->listener, on_accept_fault);
    return true;
}

/* Runners get the sockets that they listen on at their start. */
static bool renew_listeners(Master *master, GError **error)
{
    bool all = true;
    for (guint i = 0; i < master->groups->len; i++) {
        Group *group = g_ptr_array_index(master->groups, i);
        const PlanRunner *goal = supervisor_goal(group);
        bool any = false, one;
        for (char **address = goal ? goal->listen : NULL; address && *address; address++) {
            all &= listen_renew(master->listen, *address, goal->socket_mode, &one, all ? error : NULL);
            any |= one;
        }
        if (any) {
            log_info("%s: the file of a socket was gone; it starts anew with another", goal->name);
            restart_group(group);
        }
    }
    return all;
}

/* The runtime directory may be removed by who cleans up, with all that is in it. */
static void on_look(evutil_socket_t fd, short what, void *data)
{
    Control *control = data;
    Master *master = control->master;
    g_autoptr(GError) error = NULL;
    bool made, sound = control_make_directory(master->plan->runtime, &made, &error);
    for (unsigned at = 0; sound && at < G_N_ELEMENTS(control->doors); at++) {
        ControlDoor *door = &control->doors[at];
        if (access(door->path, F_OK) == 0)
            continue;
        sound = open_door(door, &error);
        if (sound)
            log_info("%s was gone, and is made again", door->path);
    }
    sound = sound &&
            (access(master->config_copy, F_OK) == 0 || supervisor_keep(master, master->config_text, &error)) &&
            (master->stopping || renew_listeners(master, &error));
    if (!sound && g_strcmp0(control->fault, error->message) != 0)
        log_error("%s; nobody can ask or order anything until it is there again and may be written by this user",
                  error->message);
    g_free(control->fault);
    control->fault = sound ? NULL : g_strdup(error->message);
}

bool control_make_directory(const char *path, bool *made, GError **error)
{
    g_autofree char *above = g_path_get_dirname(path);
    *made = g_mkdir_with_parents(above, 0755) == 0 && mkdir(path, 0755) == 0;
    return *made || errno == EEXIST || fail_errno(error, FAIL_CONFIG, "make directory %s", path);
}

Control *control_new(Master *master, GError **error)
{
    const Plan *plan = master->plan;
    const ControlDoor doors[] = {
        {.path = g_build_filename(plan->runtime, CONTROL_SOCKET, NULL), .mode = 0660, .commands = true},
        {.path = g_build_filename(plan->runtime, CONTROL_MONITOR_SOCKET, NULL), .mode = plan->monitor_mode},
    };
    Control *control = g_new0(Control, 1);
    control->master = master;
    control->clients = g_ptr_array_new_with_free_func((GDestroyNotify)client_free);
    bool sound = true;
    for (unsigned at = 0; at < G_N_ELEMENTS(doors); at++) {
        ControlDoor *door = &control->doors[at];
        *door = doors[at];
        door->control = control;
        door->pause = evtimer_new(master->base, on_pause_over, door);
        sound = sound && open_door(door, error);
    }
    if (!sound) {
        control_free(control);
        return NULL;
    }
    control->look = event_new(master->base, -1, EV_PERSIST, on_look, control);
    evtimer_add(control->look, (&(struct timeval){LOOK_INTERVAL, 0}));
    control->survey = survey_new(master);
    /* So that the first who asks is answered from more than half a second. */
    survey_ask(control->survey, false, NULL, NULL);
    return control;
}

void control_free(Control *control)
{
    /* The loop has ended, perhaps in the turn that answered: the last words go out by hand. */
    for (guint i = 0; i < control->clients->len; i++) {
        const ControlPeer *client = g_ptr_array_index(control->clients, i);
        struct evbuffer *output = bufferevent_get_output(client->stream);
        evbuffer_unfreeze(output, 1); /* which only the loop may drain otherwise */
        evbuffer_write(output, bufferevent_getfd(client->stream));
    }
    g_clear_pointer(&control->look, event_free);
    for (unsigned at = 0; at < G_N_ELEMENTS(control->doors); at++) {
        ControlDoor *door = &control->doors[at];
        if (door->listener) {
            evconnlistener_free(door->listener);
            unlink(door->path);
        }
        if (door->pause)
            event_free(door->pause);
        g_free(door->path);
    }
    g_ptr_array_unref(control->clients);
    g_clear_pointer(&control->survey, survey_free);
    g_free(control->fault);
    g_free(control);
}
