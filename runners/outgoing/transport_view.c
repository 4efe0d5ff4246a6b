/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The transport as seen from outside: what it knows, for those who show, remember and forget it. */
#include "base/clock.h"
#include "runners/outgoing/transport_internal.h"

/* A next hop or a destination that nobody used for so long is forgotten. */
#define UNUSED_LIFETIME (600 * CLOCK_SECOND)
/* A message that waits for a destination is looked at again within 15 minutes; and some time for its turn. */
#define LOOKED_AT (1200 * CLOCK_SECOND)
#define TURN (300 * CLOCK_SECOND)

static gboolean forget_nexthop(gpointer key, gpointer value, gpointer data)
{
    (void)key;
    Nexthop *nexthop = value;
    const Transport *transport = data;
    bool unused = nexthop != transport->relay && nexthop->destination->refused_at == 0 &&
                  nexthop->batches == 0 && !nexthop->lookup && !nexthop->resolve &&
                  clock_monotonic() - nexthop->last_used > UNUSED_LIFETIME;
    nexthop->destination->load.nexthops -= unused;
    return unused;
}

static gboolean forget_destination(gpointer key, gpointer value, gpointer data)
{
    (void)key;
    Destination *destination = value;
    int64_t now = clock_steady();
    if (destination->load.nexthops > 0 || destination->busy > 0 || destination->waiting > 0 ||
        destination->load.sessions > 0 || destination->load.holders > 0 || destination_dead(destination) ||
        destination->suspended ||
        destination->ordered.per_second >= 0 || pace_rate(&destination->pace, now).per_second > 0)
        return FALSE;
    return now - destination->last_used > UNUSED_LIFETIME;
}

void transport_tidy(Transport *transport)
{
    int64_t longest = MAX(backoff_longest(transport->backoff), LOOKED_AT);
    refusals_tidy(&transport->refusals, clock_now(), longest + TURN);
    g_hash_table_foreach_remove(transport->nexthops, forget_nexthop, transport);
    g_hash_table_foreach_remove(transport->destinations, forget_destination, NULL);
}

RelayRefusals *transport_refusals(Transport *transport)
{
    return &transport->refusals;
}

void transport_load_refusals(Transport *transport, const json_t *saved)
{
    GHashTableIter iterator;
    gpointer value;
    if (!transport->relay)
        return;
    refusals_load(&transport->refusals, saved);
    if (!transport->refusals.all)
        return;
    g_hash_table_iter_init(&iterator, transport->refusals.all);
    while (g_hash_table_iter_next(&iterator, NULL, &value)) {
        const RelayRefusal *refusal = value;
        if (refusal->apart)
            transport_nexthop_apart(transport, refusal->sender)->destination->refused_at = refusal->phase;
    }
}

const Bucket *transport_bucket(const Transport *transport)
{
    bool used = transport->rate.per_second > 0 && transport->bucket.tokens < transport->burst;
    return used ? &transport->bucket : NULL;
}

void transport_set_bucket(Transport *transport, const Bucket *bucket)
{
    transport->bucket = (Bucket){MIN(bucket->tokens, transport->burst), bucket->filled};
}

GPtrArray *transport_destinations(Transport *transport)
{
    GPtrArray *all = g_ptr_array_sized_new(g_hash_table_size(transport->destinations));
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, transport->destinations);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        g_ptr_array_add(all, value);
    return all;
}

Destination *transport_find(Transport *transport, const char *name, bool make)
{
    Destination *found = g_hash_table_lookup(transport->destinations, name);
    const Nexthop *nexthop = found ? NULL : g_hash_table_lookup(transport->nexthops, name);
    if (nexthop)
        return nexthop->destination;
    return found || !make ? found : transport_destination(transport, name);
}
