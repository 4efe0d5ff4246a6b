/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The part of the limits of [transport.NAME] that is this process's. */
#include "base/clock.h"
#include "runners/outgoing/transport_internal.h"

/* Instances share one relay, and the mail hosts of many domains. A domain's mail is one instance's, and so are its mail
 * hosts where they are nobody else's concern (group_by_mx = no). Hosts share all of them. Less than one connection for
 * each process would be none. */
void transport_limit(Transport *transport)
{
    DestinationLimits *limits = &transport->limits;
    unsigned instances = MAX(transport->shared->instances, 1), hosts = MAX(transport->hosts, 1);
    limits->share = hosts * (transport->mx && !transport->group_by_mx ? 1 : instances);
    limits->window.limit = MAX(transport->whole.concurrency / limits->share, 1);
    transport->sessions_max = transport->hosts ? MAX(transport->whole.processes / (instances * hosts), 1) : 0;
    transport->rate.per_second = transport->whole.rate.per_second / (instances * hosts);
}

/* Have the connections that wait for work closed, and return false, where there are too many of one kind. */
static bool is_within(size_t connections, size_t most, const GQueue *idle)
{
    if (connections <= most)
        return true;
    for (size_t excess = connections - most; excess > 0 && !g_queue_is_empty((GQueue *)idle); excess--)
        session_quit(idle->head->data);
    return false;
}

static void change(Transport *transport, unsigned hosts)
{
    g_autoptr(GPtrArray) destinations = transport_destinations(transport);
    int64_t now = clock_steady();
    bucket_wait(&transport->bucket, transport->rate, transport->burst, now);
    for (guint i = 0; i < destinations->len; i++)
        destination_settle(destinations->pdata[i], now);
    transport->hosts = hosts;
    transport_limit(transport);
    for (guint i = 0; i < destinations->len; i++)
        destination_relimit(destinations->pdata[i]);
}

bool transport_share(Transport *transport, unsigned hosts)
{
    if (transport->hosts != hosts)
        change(transport, hosts);
    g_autoptr(GPtrArray) destinations = transport_destinations(transport);
    bool within = is_within(transport->sessions->len, transport->sessions_max, &transport->idle);
    for (guint i = 0; i < destinations->len; i++) {
        const Destination *destination = destinations->pdata[i];
        within &= is_within(destination->sessions, destination->limits->window.limit, &destination->idle);
    }
    return within;
}
