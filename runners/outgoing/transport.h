/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A way out, of one [transport.NAME]: its next hops, destinations and sessions. It finds out where next hops are,
 * takes one batch after another from its scheduler, gives each to a session of the batch's destination, a kept one
 * or a new one, and tells the destination what became of it. What comes back is its owner's, with the fates of the
 * recipients.
 */
#include <event2/event.h>
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"
#include "runners/outgoing/backoff.h"
#include "runners/outgoing/delivery.h"
#include "runners/outgoing/nexthop.h"
#include "runners/outgoing/reply_table.h"

typedef struct TransportOwner {
    /* A batch comes back with a fate for each recipient; it is the owner's again. */
    void (*finished)(void *data, Batch *batch);
    /* A batch comes back untried because its destination takes nothing now: its recipients wait for it until due
     * (clock_steady()). */
    void (*parked)(void *data, Batch *batch, int64_t due);
    /* A batch comes back untried, not to be tried in this life: its recipients stay as they are. */
    void (*withdrawn)(void *data, Batch *batch);
    /* There is room for what waits for the destination (destination->parked). */
    void (*recalled)(void *data, Destination *destination);
} TransportOwner;

typedef struct TransportShared {
    struct event_base *base;
    const Config *config;
    const ReplyTable *replies;
    MxResolver *resolver; /* NULL: no transport needs one */
    unsigned instances;   /* processes that share the limits of a relay */
    const Backoff *backoff; /* of transports that say nothing else */
    bool alone; /* one relay takes everything, so parking its recipients would free memory for nobody else */
    const TransportOwner *owner;
    void *data;
} TransportShared;

/* shared is borrowed. FAIL_CONFIG, naming section and key. */
Transport *transport_new(const TransportShared *shared, const char *name, GError **error);
/* Drop every connection at once: what is in flight stays undone. */
void transport_free(Transport *transport);

const char *transport_name(const Transport *transport);
Scheduler *transport_scheduler(Transport *transport);
size_t transport_per_transaction(const Transport *transport);
/* transport_settings.c: the backoff_schedule of a section; g_free(). */
int64_t *transport_read_schedule(const Config *config, const char *section, size_t *count);
/* How long what it deferred waits; shared->backoff itself unless the transport has a law of its own. */
const Backoff *transport_backoff(const Transport *transport);
/* Return true when all mail of this transport goes to one relay. */
bool transport_is_relay(const Transport *transport);

/* The next hop for a recipient of this domain (not NUL-terminated, any case); made, and looked up, if it is new. That
 * of a relay is for one family of addresses, AF_UNSPEC: all. */
Nexthop *transport_nexthop(Transport *transport, const char *domain, size_t length, int family);

/* Give batch, which waits nowhere yet, its place: with its destination, or straight back to the owner when
 * nothing can be sent there now. new: scheduler_add_batch(). */
void transport_accept(Transport *transport, Job *job, Batch *batch, bool new);
/* The destination that such a recipient waits for, if its next hop is known; else NULL. */
Destination *transport_place(const Transport *transport, const char *domain, size_t length, int family);
/* When a recipient that was refused for the destination's sake is tried again, its mail being so old. */
int64_t transport_wait_time(const Transport *transport, int64_t age);

/* Start the batches that can go. The owner calls this when the results so far are safe. Return true when any was
 * started. */
bool transport_feed(Transport *transport);

/* When, by clock_steady(), it wants to be fed again though nothing happens; 0: no such time. */
int64_t transport_wake(Transport *transport);

/* Take no more work and say QUIT where it can. */
void transport_stop(Transport *transport);
size_t transport_busy(const Transport *transport); /* connections with batches that are out */
size_t transport_in_flight(const Transport *transport); /* batches that are out; costs a look at each connection */
size_t transport_connections(const Transport *transport);
/* Break off what is still out; its batches are withdrawn. */
void transport_drop(Transport *transport);

/* Return what is left of the transport's rate at `filled` (clock_steady()), to be remembered; NULL: it has none, or all
 * of it is there. */
const Bucket *transport_bucket(const Transport *transport);
void transport_set_bucket(Transport *transport, const Bucket *bucket);

/* Keep to one of `hosts` equal parts of the limits from now on; 0: start nothing. Return whether what is under way, and
 * each connection, is within them already. If not, idle connections are closed, and it is to be called again. */
bool transport_share(Transport *transport, unsigned hosts);

/* Forget next hops and destinations about which there is nothing to know. */
void transport_tidy(Transport *transport);

/* All its destinations. The list is the caller's (g_ptr_array_unref), its elements are borrowed. */
GPtrArray *transport_destinations(Transport *transport);
/* By name, or by the name of a next hop; NULL. make: made if it is not there. */
Destination *transport_find(Transport *transport, const char *name, bool make);
/* Something about it was changed from outside: what waits for it leaves memory, or is called back. */
void transport_look(Transport *transport, Destination *destination);
