/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/transport.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "runners/outgoing/delivery.h"
#include "runners/outgoing/transport_internal.h"

/* How long an address that was looked up is used without asking again. */
#define ADDRESS_LIFETIME (60 * CLOCK_SECOND)

Destination *transport_destination(Transport *transport, const char *name)
{
    Destination *destination = g_hash_table_lookup(transport->destinations, name);
    if (destination)
        return destination;
    destination = destination_new(name, &transport->limits, &transport->scheduler.changed, clock_steady());
    destination->own = !transport->mx && !transport->lmtp;
    destination->lmtp = transport->lmtp;
    g_hash_table_insert(transport->destinations, destination->name, destination);
    return destination;
}

/* Its batches go there from now on. */
static void join(Nexthop *nexthop, Destination *destination)
{
    if (nexthop->destination)
        nexthop->destination->load.nexthops--;
    nexthop->destination = destination;
    destination->load.nexthops++;
}

Transport *transport_new(const TransportShared *shared, const char *name, GError **error)
{
    Transport *transport = g_new0(Transport, 1);
    transport->shared = shared;
    transport->name = g_strdup(name);
    transport->nexthops = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)nexthop_free);
    transport->destinations = g_hash_table_new_full(g_str_hash, g_str_equal, NULL,
                                                    (GDestroyNotify)destination_free);
    transport->sessions = g_ptr_array_new_with_free_func((GDestroyNotify)transport_session_free);
    g_queue_init(&transport->idle);
    bool good = transport_read_settings(transport, error);
    scheduler_init(&transport->scheduler, &transport->scheduling);
    transport->scheduler.was_cut = transport_was_cut;
    if (!good) {
        transport_free(transport);
        return NULL;
    }
    if (!transport->mx) {
        transport->relay = nexthop_new(transport, transport->host);
        join(transport->relay, transport_destination(transport, transport->name));
        g_hash_table_insert(transport->nexthops, transport->relay->name, transport->relay);
    }
    return transport;
}

void transport_free(Transport *transport)
{
    if (!transport)
        return;
    g_ptr_array_unref(transport->sessions);
    g_hash_table_unref(transport->nexthops);
    g_hash_table_unref(transport->destinations);
    scheduler_clear(&transport->scheduler);
    refusals_clear(&transport->refusals);
    transport_clear_security(transport);
    g_free(transport->steps);
    g_free(transport->name);
    g_free(transport);
}

const char *transport_name(const Transport *transport)
{
    return transport->name;
}

Scheduler *transport_scheduler(Transport *transport)
{
    return &transport->scheduler;
}

size_t transport_per_transaction(const Transport *transport)
{
    return transport->per_transaction;
}

const Backoff *transport_backoff(const Transport *transport)
{
    return transport->backoff;
}

bool transport_is_relay(const Transport *transport)
{
    return transport->relay != NULL;
}

size_t transport_in_flight(const Transport *transport)
{
    size_t count = 0;
    for (guint i = 0; i < transport->sessions->len; i++)
        count += session_in_flight(transport->sessions->pdata[i]);
    return count;
}

size_t transport_busy(const Transport *transport)
{
    return transport->busy;
}

size_t transport_connections(const Transport *transport)
{
    return transport->sessions->len;
}

/* --- next hops ---------------------------------------------------------- */

static void move_waiting(Transport *transport, Nexthop *nexthop, Destination *from)
{
    GQueue waiting = G_QUEUE_INIT;
    scheduler_take(from, nexthop, &waiting);
    for (GList *link; (link = g_queue_pop_head_link(&waiting)) != NULL;) {
        Batch *batch = link->data;
        nexthop->batches--;
        batch->job->read--;
        transport_accept(transport, batch->job, batch, true);
    }
}

/* Where a next hop waits until its hosts are known: at a destination of its name, unless that is the one of domains
 * whose mail host has this name. */
static Destination *waiting_place(Transport *transport, const char *name)
{
    Destination *destination = transport_destination(transport, name);
    if (destination->load.nexthops == 0)
        return destination;
    g_autofree char *another = g_strconcat(name, "?", NULL);
    return transport_destination(transport, another);
}

/* The hosts of found have this name: who waits there as a domain of that name, with hosts yet unknown, waits
 * elsewhere. */
static void make_way(Transport *transport, const char *name, const Nexthop *found)
{
    Nexthop *nexthop = g_hash_table_lookup(transport->nexthops, name);
    if (!nexthop || nexthop == found || nexthop->hosts->len > 0 || strcmp(nexthop->destination->name, name) != 0)
        return;
    Destination *from = nexthop->destination;
    Destination *to = waiting_place(transport, name);
    destination_set_unresolved(to, true);
    join(nexthop, to);
    move_waiting(transport, nexthop, from);
}

/* Let the batches that wait for the next hop wait for another destination from now on. */
static void move_batches(Transport *transport, Nexthop *nexthop, Destination *to)
{
    Destination *from = nexthop->destination;
    join(nexthop, to);
    destination_inherit(to, from, clock_steady());
    move_waiting(transport, nexthop, from);
    /* It stood for one domain until its hosts were known. A delivery of which somebody waits for it still looks at it;
     * then transport_tidy() ends it. */
    if (from->load.nexthops == 0 && from->busy == 0 && from->load.sessions == 0 && from->waiting == 0 &&
        from->load.holders == 0 && !destination_dead(from))
        g_hash_table_remove(transport->destinations, from->name);
}

static void on_mx(const MxAnswer *answer, void *data)
{
    Nexthop *nexthop = data;
    Transport *transport = nexthop->transport;
    nexthop->lookup = NULL;
    int64_t now = clock_monotonic();
    if (answer->outcome == MX_FOUND) {
        nexthop_take_mx(nexthop, answer);
        g_autofree char *key = g_strdup(transport->group_by_mx ? answer->key : nexthop->name);
        make_way(transport, key, nexthop);
        Destination *destination = transport_destination(transport, key);
        destination_set_unresolved(destination, false);
        if (destination != nexthop->destination)
            move_batches(transport, nexthop, destination);
        transport_resolved(transport, destination);
        return;
    }
    if (answer->outcome == MX_LATER && nexthop->hosts->len > 0) {
        nexthop->expires = now + ADDRESS_LIFETIME;
        log_warn("transport %s: %s: %s; what was known before is used", transport->name, nexthop->name, answer->text);
        return;
    }
    int64_t until = answer->outcome == MX_NEVER ? answer->expires : now + transport->limits.dead_min;
    nexthop_refuse(nexthop, answer, MAX(until, now + CLOCK_SECOND));
    log_info("transport %s: %s: %s", transport->name, nexthop->name, answer->text);
    GQueue waiting = G_QUEUE_INIT;
    scheduler_take(nexthop->destination, nexthop, &waiting);
    for (GList *link; (link = g_queue_pop_head_link(&waiting)) != NULL;)
        transport_put_off_refused(transport, link->data);
}

static void on_resolved(struct addrinfo *addresses, const GError *error, void *data)
{
    Nexthop *nexthop = data;
    Transport *transport = nexthop->transport;
    int64_t now = clock_monotonic();
    nexthop->resolve = NULL;
    destination_set_unresolved(nexthop->destination, false);
    if (addresses) {
        nexthop_take_addresses(nexthop, addresses, transport->host, now + ADDRESS_LIFETIME);
        freeaddrinfo(addresses);
        transport_resolved(transport, nexthop->destination);
    } else if (nexthop->hosts->len > 0) {
        log_warn("transport %s: %s; the address known before is used", transport->name, error->message);
        nexthop->expires = now + ADDRESS_LIFETIME;
    } else {
        /* A relay whose name cannot be found is as good as dead. */
        destination_set_reason(nexthop->destination, "4.4.3", error->message);
        destination_kill(nexthop->destination, clock_steady(), true, g_random_double());
        transport_say_dead(transport, nexthop->destination);
        transport_park_all(transport, nexthop->destination);
    }
}

void transport_know_hosts(Transport *transport, Nexthop *nexthop)
{
    int64_t now = clock_monotonic();
    if (nexthop->lookup || nexthop->resolve || (nexthop->hosts->len > 0 && now < nexthop->expires) ||
        nexthop_refused(nexthop, now))
        return;
    if (transport->path) {
        nexthop_take_path(nexthop, transport->path);
        return;
    }
    if (nexthop->hosts->len == 0)
        destination_set_unresolved(nexthop->destination, true);
    if (transport->mx)
        nexthop->lookup = mx_lookup(transport->shared->resolver, nexthop->name, transport->port_number, on_mx, nexthop);
    else
        nexthop->resolve = resolve_start_family(transport->shared->base,
                                                &(ResolveName){transport->host, transport->port, nexthop->family},
                                                on_resolved, nexthop);
}

static void fold(char name[256], const char *domain, size_t length)
{
    size_t used = MIN(length, 255);
    for (size_t i = 0; i < used; i++)
        name[i] = g_ascii_tolower(domain[i]);
    name[used] = '\0';
}

/* "HOST/ipv6", which is no domain; g_free(). */
static char *name_of_family(const char *name, int family)
{
    return g_strconcat(name, family == AF_INET ? "/ipv4" : "/ipv6", NULL);
}

/* "HOST/SENDER": no name of a family, which has no dot. g_free() */
static char *name_of_sender(const char *name, const char *sender)
{
    return g_strconcat(name, "/", *sender ? sender : "<>", NULL);
}

/* NULL: not made yet. */
static Nexthop *find_relay(const Transport *transport, int family, const char *sender)
{
    const RelayRefusal *refusal = family == AF_UNSPEC ? refusals_find(&transport->refusals, sender) : NULL;
    if (refusal && refusal->apart) {
        g_autofree char *name = name_of_sender(transport->relay->name, sender);
        return g_hash_table_lookup(transport->nexthops, name);
    }
    if (family == AF_UNSPEC || transport->path)
        return transport->relay;
    g_autofree char *name = name_of_family(transport->host, family);
    return g_hash_table_lookup(transport->nexthops, name);
}

/* Mail that keeps to one kind of address has a destination of its own, so that its failures concern no other mail. */
static Nexthop *relay_for(Transport *transport, int family, const char *sender)
{
    Nexthop *relay = find_relay(transport, family, sender);
    if (relay)
        return relay;
    g_autofree char *name = name_of_family(transport->host, family);
    g_autofree char *place = name_of_family(transport->name, family);
    relay = nexthop_new(transport, name);
    relay->family = family;
    join(relay, transport_destination(transport, place));
    g_hash_table_insert(transport->nexthops, relay->name, relay);
    return relay;
}

Nexthop *transport_nexthop_apart(Transport *transport, const char *sender)
{
    g_autofree char *name = name_of_sender(transport->relay->name, sender);
    Nexthop *relay = g_hash_table_lookup(transport->nexthops, name);
    if (relay)
        return relay;
    g_autofree char *place = name_of_sender(transport->name, sender);
    relay = nexthop_new(transport, name);
    relay->sender = g_strdup(sender);
    join(relay, transport_destination(transport, place));
    g_hash_table_insert(transport->nexthops, relay->name, relay);
    return relay;
}

Destination *transport_place(const Transport *transport, const char *domain, size_t length, int family,
                             const char *sender)
{
    char name[256];
    if (transport->relay) {
        const Nexthop *relay = find_relay(transport, family, sender);
        return relay ? relay->destination : NULL;
    }
    fold(name, domain, length);
    const Nexthop *nexthop = g_hash_table_lookup(transport->nexthops, name);
    return nexthop ? nexthop->destination : NULL;
}

Nexthop *transport_nexthop(Transport *transport, const char *domain, size_t length, int family, const char *sender)
{
    if (transport->relay) {
        Nexthop *relay = relay_for(transport, family, sender);
        transport_know_hosts(transport, relay);
        return relay;
    }
    char name[256];
    fold(name, domain, length);
    Nexthop *nexthop = g_hash_table_lookup(transport->nexthops, name);
    if (!nexthop) {
        nexthop = nexthop_new(transport, name);
        join(nexthop, waiting_place(transport, name));
        g_hash_table_insert(transport->nexthops, nexthop->name, nexthop);
    }
    transport_know_hosts(transport, nexthop);
    return nexthop;
}

/* --- feeding ------------------------------------------------------------ */

/* Until the transport's own rate allows one more, us. */
static int64_t rate_wait(Transport *transport, int64_t now)
{
    return bucket_wait(&transport->bucket, transport->rate, transport->burst, now);
}

static bool has_room(const Transport *transport)
{
    return transport->busy + transport->between < transport->sessions_max;
}

bool transport_feed(Transport *transport)
{
    int64_t now = clock_steady();
    bool any = false;
    if (transport->stopping)
        return false;
    scheduler_wake(&transport->scheduler, now);
    while (has_room(transport) && rate_wait(transport, now) == 0) {
        Destination *front = scheduler_front(&transport->scheduler, now), *destination;
        if (!front)
            break;
        /* Where it would need a connection that another has to be closed for, an open one goes on instead. */
        bool scarce = transport->sessions->len >= transport->sessions_max && g_queue_is_empty(&front->load.idle);
        Destination *kept = scarce ? session_goes_on(transport, front) : NULL;
        Batch *batch = scheduler_next(&transport->scheduler, kept ? kept : front, &destination, now);
        transport->bucket.tokens -= (double)batch->count;
        session_send(transport, destination, batch);
        any = true;
    }
    return any;
}

int64_t transport_wake(Transport *transport)
{
    int64_t now = clock_steady();
    if (transport->stopping)
        return 0;
    int64_t wake = scheduler_wake(&transport->scheduler, now);
    int64_t wait = rate_wait(transport, now);
    if (wait == 0 || g_sequence_is_empty(transport->scheduler.ready) || !has_room(transport))
        return wake;
    return wake > 0 ? MIN(wake, now + wait) : now + wait;
}

void transport_stop(Transport *transport)
{
    transport->stopping = true;
    for (guint i = 0; i < transport->sessions->len; i++)
        session_quit(transport->sessions->pdata[i]);
}

void transport_drop(Transport *transport)
{
    Batch *batch;
    while (transport->sessions->len > 0) {
        Session *session = transport->sessions->pdata[transport->sessions->len - 1];
        while ((batch = session_steal_batch(session)) != NULL)
            transport_withdraw(transport, batch);
        g_ptr_array_remove_index_fast(transport->sessions, transport->sessions->len - 1);
    }
}
