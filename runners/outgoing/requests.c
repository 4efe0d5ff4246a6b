/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/requests.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"

/* Destinations in one reply unless another number is asked for. */
#define LIMIT 1000

static json_t *text_or_null(const char *text)
{
    g_autofree char *valid = text ? g_utf8_make_valid(text, -1) : NULL;
    return valid ? json_string(valid) : json_null();
}

static json_t *histogram_json(const DestinationCounts *counts)
{
    json_t *buckets = json_array();
    uint64_t sum = 0;
    for (int i = 0; i <= DESTINATION_HISTOGRAM; i++) {
        sum += counts->seconds[i];
        json_array_append_new(buckets, json_pack("[o,I]",
                                                 i < DESTINATION_HISTOGRAM ? json_real(destination_bounds[i])
                                                                           : json_string("+Inf"),
                                                 (json_int_t)sum));
    }
    return json_pack("{s:o,s:f,s:I}", "buckets", buckets, "sum", counts->seconds_sum, "count",
                     (json_int_t)counts->transactions);
}

static json_t *time_or_null(int64_t steady)
{
    g_autofree char *text = steady > 0 ? clock_text(clock_of_steady(steady)) : NULL;
    return text ? json_string(text) : json_null();
}

/* Refusals because of us are shown with the relay's own destination. */
static bool has_refusals(Transport *transport, const Destination *destination)
{
    return transport_is_relay(transport) && strcmp(destination->name, transport_name(transport)) == 0;
}

static json_t *refusals_of(Transport *transport, const Destination *destination)
{
    return has_refusals(transport, destination) ? refusals_show(transport_refusals(transport), clock_now())
                                                : json_array();
}

static json_int_t refused_messages(Transport *transport, const Destination *destination)
{
    g_autoptr(json_t) all = refusals_of(transport, destination);
    size_t at;
    json_t *one;
    json_int_t sum = 0;
    json_array_foreach(all, at, one)
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
    json_t *shown = json_pack(
        "{s:s,s:o,s:s,s:i,s:i,s:i,s:I,s:I,s:s,s:f,s:i,s:f,s:o,s:o,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o}",
        "transport", transport_name(transport), "name", text_or_null(destination->name), "state",
        destination_state(destination, now), "window", (int)destination->window.size, "busy", (int)destination->busy,
        "sessions", (int)destination->load.sessions, "waiting", (json_int_t)destination->waiting, "waiting_recipients",
        (json_int_t)destination->waiting_recipients, "rate", rate, "tokens", destination->bucket.tokens, "deaths",
        (int)destination->deaths, "dead_for", MAX(dead_for, 0), "reason", text_or_null(destination->reason),
        "last_reply", text_or_null(destination->last_reply), "sent", (json_int_t)counts->sent, "deferred",
        (json_int_t)counts->deferred, "bounced", (json_int_t)counts->bounced, "transactions",
        (json_int_t)counts->transactions, "flights", (json_int_t)counts->flights, "connections",
        (json_int_t)counts->connections, "refused_connections", (json_int_t)counts->refused_connections,
        "died", (json_int_t)counts->deaths, "throttled",
        (json_int_t)counts->throttled, "seconds", histogram_json(counts));
    json_object_set_new(shown, "refusals", refusals_of(transport, destination));
    json_object_set_new(shown, "refused_messages", json_integer(refused_messages(transport, destination)));
    json_object_set_new(shown, "parked",
                        json_integer((json_int_t)parked_count(&destination->load.parked, clock_now())));
    json_object_set_new(shown, "away_since", time_or_null(destination->away_since));
    json_object_set_new(shown, "next_attempt", time_or_null(wake));
    json_object_set_new(shown, "transaction_recipients",
                        json_integer((json_int_t)destination_most(destination, transport_per_transaction(transport),
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
        if (one->destination->refused_at > 0 && !one->destination->suspended)
            continue; /* it is told with the relay */
        if (one->destination->suspended || one->destination->deaths > 0 || slowed(one->destination, now) ||
            refused_messages(one->transport, one->destination) > 0)
            g_array_index(found, FoundDestination, kept++) = *one;
    }
    g_array_set_size(found, kept);
}

/* Of the transport named, or of all; by name, or all. */
static GArray *find(const Out *out, const char *transport, const char *name)
{
    GArray *found = g_array_new(FALSE, FALSE, sizeof(FoundDestination));
    for (guint i = 0; i < out->transports->len; i++) {
        FoundDestination one = {out->transports->pdata[i], NULL};
        if (transport && strcmp(transport_name(one.transport), transport) != 0)
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

static json_t *list(const Out *out, const GArray *found, size_t limit)
{
    json_t *destinations = json_array();
    for (guint i = 0; i < found->len && i < limit; i++) {
        const FoundDestination *one = &g_array_index(found, FoundDestination, i);
        json_array_append_new(destinations, destination_json(one->transport, one->destination));
    }
    return json_pack("{s:b,s:i,s:I,s:o}", "ok", 1, "instance", (int)out->slice.index, "total", (json_int_t)found->len,
                     "destinations", destinations);
}

/* Find the destinations that an order is about. One that nobody knows is made in the default transport, so that the
 * order holds when mail for it comes. */
static GArray *find_ordered(Out *out, const char *transport, const char *name, GError **error)
{
    Transport *wanted = transport ? out_find_transport(out, transport) : out->standard;
    if (!wanted) {
        fail(error, FAIL_MISSING, "there is no transport %s", transport);
        return NULL;
    }
    g_autoptr(GArray) found = find(out, transport, name);
    if (found->len > 0)
        return g_steal_pointer(&found);
    if (transport_is_relay(wanted)) {
        fail(error, FAIL_MISSING, "there is no destination %s; transport %s has one, named %s", name,
             transport_name(wanted), transport_name(wanted));
        return NULL;
    }
    FoundDestination made = {wanted, transport_find(wanted, name, true)};
    g_array_append_val(found, made);
    return g_steal_pointer(&found);
}

static bool parse_rate(const char *text, double *per_second, GError **error)
{
    Rate rate;
    *per_second = -1;
    if (!text)
        return fail(error, FAIL_CONFIG, "\"rate\" must be a rate such as 30/m, none or default");
    if (strcmp(text, "default") == 0)
        return true;
    if (!rate_parse(text, &rate, error))
        return false;
    *per_second = rate.per_second;
    return true;
}

static json_t *order(Out *out, const char *verb, const json_t *request, GError **error)
{
    const char *name = json_string_value(json_object_get(request, "name"));
    const char *transport = json_string_value(json_object_get(request, "transport"));
    double per_second = 0;
    if (!name || !*name || strlen(name) > 1000) {
        fail(error, FAIL_CONFIG, "\"name\" must name a destination");
        return NULL;
    }
    if (strcmp(verb, "rate") == 0 &&
        !parse_rate(json_string_value(json_object_get(request, "rate")), &per_second, error))
        return NULL;
    g_autofree char *lower = g_ascii_strdown(name, -1);
    g_autoptr(GArray) found = find_ordered(out, transport, lower, error);
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
        log_info("transport %s: destination %s: %s %s by order", transport_name(one->transport),
                 one->destination->name, verb, json_string_value(json_object_get(request, "rate")) ?: "");
    }
    return list(out, found, found->len);
}

json_t *requests_answer(Out *out, const json_t *request, bool *changed, GError **error)
{
    const char *verb = json_string_value(json_object_get(request, "verb"));
    *changed = false;
    if (g_strcmp0(verb, "destinations") == 0) {
        const json_t *limit = json_object_get(request, "limit");
        const char *name = json_string_value(json_object_get(request, "name"));
        g_autofree char *lower = name ? g_ascii_strdown(name, -1) : NULL;
        g_autoptr(GArray) found = find(out, json_string_value(json_object_get(request, "transport")), lower);
        if (json_is_true(json_object_get(request, "trouble")))
            keep_troubled(found);
        return list(out, found, json_is_integer(limit) ? (size_t)MAX(json_integer_value(limit), 0) : LIMIT);
    }
    const char *const orders[] = {"suspend", "resume", "rate", NULL};
    if (!verb || !g_strv_contains(orders, verb)) {
        fail(error, FAIL_CONFIG, "\"verb\" must be destinations, suspend, resume, rate or leave");
        return NULL;
    }
    json_t *reply = order(out, verb, request, error);
    *changed = reply != NULL;
    return reply;
}
