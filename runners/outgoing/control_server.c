/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/control_server.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/control.h"
#include "base/fail.h"
#include "base/log.h"

/* --- requests -------------------------------------------------------------- */

/* Destinations in one reply unless another number is asked for. */
#define LIMIT 1000

static json_t *text_or_null(const char *text)
{
    g_autofree char *valid = text ? g_utf8_make_valid(text, -1) : NULL;
    return valid ? json_string(valid) : json_null();
}

static json_t *time_or_null(int64_t steady)
{
    g_autofree char *text = steady > 0 ? clock_text(clock_of_steady(steady)) : NULL;
    return text ? json_string(text) : json_null();
}

/* Refusals because of us are shown with the relay's own destination. */
static bool has_refusals(Transport *transport, const Destination *destination)
{
    return transport->relay && strcmp(destination->name, transport->name) == 0;
}

/* How many messages wait because of us, and the refusals themselves as *shown, a new reference. */
static json_int_t refused_messages(Transport *transport, const Destination *destination, json_t **shown)
{
    *shown = has_refusals(transport, destination) ? refusals_show(&transport->refusals, clock_now()) : json_array();
    size_t at;
    json_t *one;
    json_int_t sum = 0;
    json_array_foreach(*shown, at, one)
        sum += json_integer_value(json_object_get(one, "messages"));
    return sum;
}

static json_t *destination_json(Transport *transport, Destination *destination)
{
    int64_t now = clock_steady(), wake;
    const DestinationCounts *counts = &destination->counts;
    g_autofree char *rate = rate_print(destination_rate(destination, now));
    double dead_for = destination_dead(destination) ? (double)(destination->dead_until - now) / CLOCK_SECOND : 0;
    destination_room(destination, now, &wake);
    json_t *buckets = json_array(), *refusals;
    uint64_t sum = 0;
    for (int i = 0; i <= DESTINATION_HISTOGRAM; i++) {
        sum += counts->seconds[i];
        json_array_append_new(buckets, json_pack("[o,I]",
                                                 i < DESTINATION_HISTOGRAM ? json_real(destination_bounds[i])
                                                                           : json_string("+Inf"),
                                                 (json_int_t)sum));
    }
    json_t *shown = json_pack(
        "{s:s,s:o,s:s,s:i,s:i,s:i,s:I,s:I,s:s,s:f,s:i,s:f,s:o,s:o,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:{s:o,s:f,s:I}}",
        "transport", transport->name, "name", text_or_null(destination->name), "state",
        destination_state(destination, now), "window", (int)destination->window.size, "busy", (int)destination->busy,
        "sessions", (int)destination->load.sessions, "waiting", (json_int_t)destination->waiting, "waiting_recipients",
        (json_int_t)destination->waiting_recipients, "rate", rate, "tokens", destination->bucket.tokens, "deaths",
        (int)destination->deaths, "dead_for", MAX(dead_for, 0), "reason", text_or_null(destination->reason),
        "last_reply", text_or_null(destination->last_reply), "sent", (json_int_t)counts->sent, "deferred",
        (json_int_t)counts->deferred, "bounced", (json_int_t)counts->bounced, "transactions",
        (json_int_t)counts->transactions, "flights", (json_int_t)counts->flights, "connections",
        (json_int_t)counts->connections, "refused_connections", (json_int_t)counts->refused_connections, "died",
        (json_int_t)counts->deaths, "throttled", (json_int_t)counts->throttled, "seconds", "buckets", buckets, "sum",
        counts->seconds_sum, "count", (json_int_t)counts->transactions);
    json_int_t messages = refused_messages(transport, destination, &refusals);
    json_object_set_new(shown, "refusals", refusals);
    json_object_set_new(shown, "refused_messages", json_integer(messages));
    json_object_set_new(shown, "parked",
                        json_integer((json_int_t)parked_count(&destination->load.parked, clock_now())));
    json_object_set_new(shown, "away_since", time_or_null(destination->away_since));
    json_object_set_new(shown, "next_attempt", time_or_null(wake));
    json_object_set_new(shown, "transaction_recipients",
                        json_integer((json_int_t)destination_most(destination, transport->per_transaction,
                                                                  now)));
    return shown;
}

typedef struct FoundDestination {
    Transport *transport;
    Destination *destination;
} FoundDestination;

/* Most waiting first, then most sent. */
static int compare_found(const void *a, const void *b)
{
    const Destination *one = ((const FoundDestination *)a)->destination;
    const Destination *other = ((const FoundDestination *)b)->destination;
    if (one->waiting_recipients != other->waiting_recipients)
        return one->waiting_recipients > other->waiting_recipients ? -1 : 1;
    if (one->counts.sent != other->counts.sent)
        return one->counts.sent > other->counts.sent ? -1 : 1;
    return strcmp(one->name, other->name);
}

/* Whether mail waits for it because of the pace that it bears. A pace by itself is no trouble: it is kept for an hour,
 * and mail hosts that bear less than we could send are a matter of every day. */
static bool slowed(Destination *destination, int64_t now)
{
    return pace_rate(&destination->pace, now).per_second > 0 &&
           (destination->waiting_recipients > 0 || parked_count(&destination->load.parked, clock_now()) > 0 ||
            pace_rests(&destination->pace));
}

static void keep_troubled(GArray *found)
{
    int64_t now = clock_steady();
    guint kept = 0;
    for (guint i = 0; i < found->len; i++) {
        const FoundDestination *one = &g_array_index(found, FoundDestination, i);
        json_t *refusals = NULL;
        if (one->destination->refused_at > 0 && !one->destination->suspended)
            continue; /* it is told with the relay */
        if (one->destination->suspended || one->destination->deaths > 0 || slowed(one->destination, now) ||
            refused_messages(one->transport, one->destination, &refusals) > 0)
            g_array_index(found, FoundDestination, kept++) = *one;
        json_decref(refusals);
    }
    g_array_set_size(found, kept);
}

/* Of the transport named, or of all; by name, or all. */
static GArray *find(const ControlOwner *owner, const char *transport, const char *name)
{
    GArray *found = g_array_new(FALSE, FALSE, sizeof(FoundDestination));
    for (guint i = 0; i < owner->transports->len; i++) {
        FoundDestination one = {owner->transports->pdata[i], NULL};
        if (transport && strcmp(one.transport->name, transport) != 0)
            continue;
        if (name) {
            one.destination = transport_find(one.transport, name, false);
            if (one.destination)
                g_array_append_val(found, one);
            continue;
        }
        g_autoptr(GPtrArray) all = transport_destinations(one.transport);
        for (guint j = 0; j < all->len; j++) {
            one.destination = all->pdata[j];
            g_array_append_val(found, one);
        }
    }
    g_array_sort(found, compare_found);
    return found;
}

static json_t *list(const ControlOwner *owner, const GArray *found, size_t limit)
{
    json_t *destinations = json_array();
    for (guint i = 0; i < found->len && i < limit; i++) {
        const FoundDestination *one = &g_array_index(found, FoundDestination, i);
        json_array_append_new(destinations, destination_json(one->transport, one->destination));
    }
    return json_pack("{s:b,s:i,s:I,s:o}", "ok", 1, "instance", (int)owner->instance, "total", (json_int_t)found->len,
                     "destinations", destinations);
}

/* Find the destinations that an order is about. One that nobody knows is made in the default transport, so that the
 * order holds when mail for it comes. */
static GArray *find_ordered(const ControlOwner *owner, const char *transport, const char *name, GError **error)
{
    Transport *wanted = transport ? transport_named(owner->transports, transport) : owner->standard;
    if (!wanted) {
        fail(error, FAIL_MISSING, "there is no transport %s", transport);
        return NULL;
    }
    g_autoptr(GArray) found = find(owner, transport, name);
    if (found->len > 0)
        return g_steal_pointer(&found);
    if (wanted->relay) {
        fail(error, FAIL_MISSING, "there is no destination %s; transport %s has one, named %s", name,
             wanted->name, wanted->name);
        return NULL;
    }
    FoundDestination made = {wanted, transport_find(wanted, name, true)};
    g_array_append_val(found, made);
    return g_steal_pointer(&found);
}

static json_t *order(const ControlOwner *owner, const char *verb, const json_t *request, GError **error)
{
    const char *name = json_string_value(json_object_get(request, "name"));
    const char *transport = json_string_value(json_object_get(request, "transport"));
    double per_second = 0;
    if (!name || !*name || strlen(name) > 1000) {
        fail(error, FAIL_CONFIG, "\"name\" must name a destination");
        return NULL;
    }
    if (strcmp(verb, "rate") == 0) {
        const char *text = json_string_value(json_object_get(request, "rate"));
        Rate rate = {-1};
        if (!text)
            fail(error, FAIL_CONFIG, "\"rate\" must be a rate such as 30/m, none or default");
        if (!text || (strcmp(text, "default") != 0 && !rate_parse(text, &rate, error)))
            return NULL;
        per_second = rate.per_second;
    }
    g_autofree char *lower = g_ascii_strdown(name, -1);
    g_autoptr(GArray) found = find_ordered(owner, transport, lower, error);
    if (!found)
        return NULL;
    /* An order about a relay holds for the mail that it refuses, too, which has a destination of its own meanwhile. */
    for (guint i = 0, count = found->len; i < count; i++) {
        FoundDestination one = g_array_index(found, FoundDestination, i);
        if (!has_refusals(one.transport, one.destination))
            continue;
        g_autoptr(GPtrArray) all = transport_destinations(one.transport);
        for (guint j = 0; j < all->len; j++) {
            one.destination = all->pdata[j];
            if (one.destination->refused_at > 0)
                g_array_append_val(found, one);
        }
    }
    for (guint i = 0; i < found->len; i++) {
        const FoundDestination *one = &g_array_index(found, FoundDestination, i);
        if (strcmp(verb, "rate") == 0)
            destination_order_rate(one->destination, per_second, clock_steady());
        else if (strcmp(verb, "suspend") == 0)
            destination_suspend(one->destination, clock_steady());
        else
            destination_resume(one->destination, clock_steady());
        transport_look(one->transport, one->destination);
        log_info("transport %s: destination %s: %s %s by order", one->transport->name,
                 one->destination->name, verb, json_string_value(json_object_get(request, "rate")) ?: "");
    }
    return list(owner, found, found->len);
}

/* Return the reply to a request, a new reference; NULL with *error: it cannot be carried out. */
static json_t *answer(const ControlOwner *owner, void *data, const json_t *request, GError **error)
{
    const char *verb = json_string_value(json_object_get(request, "verb"));
    if (g_strcmp0(verb, "leave") == 0)
        return owner->leave(data, json_object_get(request, "entries"));
    if (g_strcmp0(verb, "destinations") == 0) {
        const json_t *limit = json_object_get(request, "limit");
        const char *name = json_string_value(json_object_get(request, "name"));
        g_autofree char *lower = name ? g_ascii_strdown(name, -1) : NULL;
        g_autoptr(GArray) found = find(owner, json_string_value(json_object_get(request, "transport")), lower);
        if (json_is_true(json_object_get(request, "trouble")))
            keep_troubled(found);
        return list(owner, found, json_is_integer(limit) ? (size_t)MAX(json_integer_value(limit), 0) : LIMIT);
    }
    const char *const orders[] = {"suspend", "resume", "rate", NULL};
    if (!verb || !g_strv_contains(orders, verb)) {
        fail(error, FAIL_CONFIG, "\"verb\" must be destinations, suspend, resume, rate or leave");
        return NULL;
    }
    json_t *reply = order(owner, verb, request, error);
    if (reply)
        owner->ordered(data);
    return reply;
}

/* --- the socket ------------------------------------------------------------ */

#define CLIENTS_MAX 16
#define CLIENT_TIMEOUT 30 /* seconds */

struct ControlServer {
    struct event_base *base;
    struct evconnlistener *listener;
    GPtrArray *clients; /* of struct bufferevent, owned */
    const ControlOwner *owner;
    void *data;
    char *path;
};

static void serve(ControlServer *server, struct bufferevent *client, const char *line)
{
    g_autoptr(GError) error = NULL;
    json_error_t where;
    json_t *request = json_loads(line, JSON_REJECT_DUPLICATES, &where);
    json_t *reply = NULL;
    bool looks = g_strcmp0(json_string_value(json_object_get(request, "verb")), "destinations") == 0;
    bool allowed = looks || control_may_command(bufferevent_getfd(client), &error);
    if (!json_is_object(request)) {
        g_clear_error(&error);
        fail(&error, FAIL_CONFIG, "no JSON object: %s", request ? "another value" : where.text);
    } else if (allowed)
        reply = answer(server->owner, server->data, request, &error);
    if (!reply)
        reply = json_pack("{s:b,s:b,s:s}", "ok", 0, "forbidden", !allowed, "error",
                          error ? error->message : "no answer");
    json_decref(request);
    char *text = reply ? json_dumps(reply, JSON_COMPACT) : NULL;
    json_decref(reply);
    if (!text)
        text = strdup("{\"ok\":false,\"error\":\"the reply cannot be put into words\"}");
    bufferevent_write(client, text, strlen(text));
    bufferevent_write(client, "\n", 1);
    free(text);
}

static void on_event(struct bufferevent *client, short what, void *data)
{
    (void)what;
    g_ptr_array_remove_fast(((ControlServer *)data)->clients, client);
}

static void on_read(struct bufferevent *client, void *data)
{
    ControlServer *server = data;
    struct evbuffer *input = bufferevent_get_input(client);
    char *line;
    while ((line = evbuffer_readln(input, NULL, EVBUFFER_EOL_LF)) != NULL) {
        serve(server, client, line);
        free(line);
    }
    if (evbuffer_get_length(input) > CONTROL_REQUEST_MAX)
        g_ptr_array_remove_fast(server->clients, client);
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address, int length,
                      void *data)
{
    (void)listener;
    (void)address;
    (void)length;
    ControlServer *server = data;
    struct bufferevent *client = server->clients->len < CLIENTS_MAX
                                     ? bufferevent_socket_new(server->base, fd, BEV_OPT_CLOSE_ON_FREE)
                                     : NULL;
    if (!client) {
        evutil_closesocket(fd);
        return;
    }
    struct timeval timeout = {CLIENT_TIMEOUT, 0};
    bufferevent_setcb(client, on_read, NULL, on_event, server);
    bufferevent_set_timeouts(client, &timeout, &timeout);
    g_ptr_array_add(server->clients, client);
    bufferevent_enable(client, EV_READ | EV_WRITE);
}

ControlServer *control_server_new(struct event_base *base, const char *path, const ControlOwner *owner, void *data,
                                  GError **error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (g_strlcpy(address.sun_path, path, sizeof address.sun_path) >= sizeof address.sun_path) {
        fail(error, FAIL_CONFIG, "%s is too long for a socket", path);
        return NULL;
    }
    auto_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    unlink(path); /* the slice is ours alone: a socket that is there is one of a dead instance */
    /* Nobody can connect before the mode is set, since nobody listens yet. */
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || chmod(path, 0660) != 0) {
        fail_errno(error, FAIL_LATER, "make the socket %s", path);
        return NULL;
    }
    ControlServer *server = g_new0(ControlServer, 1);
    *server = (ControlServer){.base = base, .owner = owner, .data = data, .path = g_strdup(path)};
    server->clients = g_ptr_array_new_with_free_func((GDestroyNotify)bufferevent_free);
    server->listener = evconnlistener_new(base, on_accept, server, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC,
                                           16, auto_fd_steal(&fd));
    return server;
}

bool control_server_present(const ControlServer *server)
{
    return access(server->path, F_OK) == 0;
}

void control_server_free(ControlServer *server)
{
    if (!server)
        return;
    evconnlistener_free(server->listener);
    g_ptr_array_unref(server->clients);
    unlink(server->path);
    g_free(server->path);
    g_free(server);
}
