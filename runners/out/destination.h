/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A destination: servers that bear a load together. Of a relay there is one; with MX lookups, one for each
 * set of servers, which many domains may share. It knows how much may be under way to it (window.h, flights.h), how
 * fast (bucket.h, pace.h), whether it is dead and until when, and what was done for it. Pure: times are passed in, and
 * nothing is done here; the scheduler and the transport ask and tell.
 *
 *   alive      room while busy < window, a token is there and connections are not refused
 *   dead       after `cohorts` full windows of failures in a row; mail for it is put off without
 *              trying. The time doubles with each death from dead_min to dead_max, until a success
 *   probing    alive after having been dead, nothing has succeeded yet: one failure is death again
 *   suspended  by the operator; mail for it waits in memory as far as the limits go, else in the queue
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "runners/out/bucket.h"
#include "runners/out/flights.h"
#include "runners/out/pace.h"
#include "runners/out/window.h"

#define DESTINATION_HISTOGRAM 12 /* bounds: destination_bounds */

/* What all destinations of a transport have in common. */
typedef struct DestinationLimits {
    WindowLimits window;
    Rate rate;                  /* 0: none */
    double burst;               /* tokens */
    int64_t dead_min, dead_max; /* us */
    unsigned share;             /* processes that divide rates among them; at least 1 */
} DestinationLimits;

typedef struct DestinationCounts {
    uint64_t sent, deferred, bounced; /* recipients */
    uint64_t transactions, flights, connections, refused_connections; /* flights: of more than one transaction */
    uint64_t deaths, throttled;
    uint64_t seconds[DESTINATION_HISTOGRAM + 1]; /* transactions by their duration */
    double seconds_sum;
} DestinationCounts;

/* Upper bounds of the histogram, seconds. */
extern const double destination_bounds[DESTINATION_HISTOGRAM];

typedef struct Destination {
    char *name;
    const DestinationLimits *limits; /* the transport's */
    Window window;
    Flights flights;
    unsigned busy;         /* flights under way, each of one batch or more */
    Bucket bucket;
    Pace pace;
    Rate ordered;          /* the operator's; < 0: none given */
    bool suspended;
    bool unresolved;       /* its servers are not known yet */
    unsigned deaths;       /* in a row */
    int64_t dead_until;    /* wall clock; 0: alive */
    char *reason, *status; /* of the last failure */
    unsigned refusals;     /* of further connections, in a row, while others stand */
    int64_t full_until;    /* wall clock: no further connection before */
    char *last_reply;      /* the last that was no success */
    int64_t last_used;
    int64_t clog_told;     /* monotonic */
    DestinationCounts counts;

    /* The scheduler's. */
    GSequence *peers;      /* of Peer, by the order of their jobs */
    GSequenceIter *ready, *asleep;
    struct Job *first;     /* of peers, as `ready` is ordered */
    uint64_t turn;         /* when it was last served */
    int64_t wake_at;
    size_t waiting, waiting_recipients;

    /* The transport's. */
    GQueue idle;           /* of Session: connected and without work */
    unsigned sessions, established;
    unsigned nexthops;     /* that have their batches here */
    void *transport;
} Destination;

/* limits are borrowed. */
Destination *destination_new(const char *name, const DestinationLimits *limits, int64_t now);
void destination_free(Destination *destination);

/* Whether one more batch may go to it now. If not, *wake_at (0: nothing to wait for but events) is when to look
 * again. */
bool destination_room(Destination *destination, int64_t now, int64_t *wake_at);

/* Whether it is well, has no rate to keep, and more waits for it than it has room for: then one more transaction may go
 * in the flight of another (smtp_client_send_behind()). */
bool destination_crowded(Destination *destination, int64_t now);

/* A batch of so many recipients leaves for it, or comes back. */
void destination_begin(Destination *destination, size_t recipients);
void destination_end(Destination *destination);

/* What the batch that is just coming back (still counted as busy) says of the destination. */
typedef enum SiteNews {
    SITE_GOOD,      /* it answered, whatever it said of the mail */
    SITE_FAILED,    /* it is not there, or in trouble */
    SITE_THROTTLED, /* it works and wants less */
    SITE_UNKNOWN,   /* nothing was learnt */
} SiteNews;

/* True when it died of that. reason and status (may be NULL) are kept for those put off. chance: 0 <= chance < 1. */
bool destination_tell(Destination *destination, SiteNews news, size_t recipients, int64_t now, double chance);
/* Dead at once. */
void destination_kill(Destination *destination, int64_t now, double chance);
void destination_set_reason(Destination *destination, const char *status, const char *reason);

bool destination_dead(const Destination *destination);
/* Alive again by time: to be called when dead_until has come. */
void destination_revive(Destination *destination);
/* True until something succeeded. */
bool destination_probing(const Destination *destination);

/* The rate in force: the operator's, else the transport's, else none; or what was learnt, when that is less. */
Rate destination_rate(Destination *destination, int64_t now);
/* rate < 0 takes the order back. */
void destination_order_rate(Destination *destination, double per_second, int64_t now);

/* Orders given under another name hold for it. */
void destination_inherit(Destination *destination, Destination *from, int64_t now);

void destination_observe(Destination *destination, double seconds);

/* "alive", "dead", "probing", "suspended", "throttled", "resolving". */
const char *destination_state(Destination *destination, int64_t now);

/* Whether anything is known that a restart should not forget. */
bool destination_memorable(Destination *destination, int64_t now);
/* What to remember, and the way back; a text that makes no sense changes nothing (false). */
json_t *destination_save(Destination *destination, int64_t now);
bool destination_load(Destination *destination, const json_t *saved, int64_t now);
