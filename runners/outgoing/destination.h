/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A destination: servers that bear a load together. Of a relay there is one; with MX lookups, one for each
 * set of servers, which many domains may share. It knows how much may be under way to it (window.h, pipelining.h), how
 * fast (bucket.h, pace.h), whether it is dead and until when, and what was done for it. Pure: times are passed in, and
 * nothing is done here; the scheduler and the transport ask and tell.
 *
 *   alive      room while busy < window, a token is there and connections are not refused
 *   dead       after `cohorts` full windows of failures in a row; mail for it is put off without
 *              trying. The time doubles with each death from dead_min to dead_max, until a success
 *   probing    alive after having been dead, nothing has succeeded yet: one batch at a time, and one failure is death
 *              again
 *   throttled  it has a pace (pace.h)
 *   suspended  by the operator
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "runners/outgoing/bucket.h"
#include "runners/outgoing/pipelining.h"
#include "runners/outgoing/pace.h"
#include "runners/outgoing/window.h"

#define DESTINATION_HISTOGRAM 12 /* bounds: destination_bounds */

/* What all destinations of a transport have in common. */
typedef struct DestinationLimits {
    WindowLimits window;
    Rate rate;                  /* 0: none */
    double burst;               /* tokens */
    int64_t dead_min, dead_max; /* us */
    bool asks_often;            /* one that refused, rather than be silent, is tried within PACE_REST_MAX */
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

/* What its servers were found to take at a time, each until (clock_steady()) it is tried out again. 0: unknown. */
typedef struct SizeLimits {
    unsigned recipients;   /* of a transaction */
    int64_t recipients_until;
    unsigned unlikely;     /* so few were taken lately, which is not believed yet */
    int64_t unlikely_until;
    unsigned transactions; /* of a connection */
    int64_t transactions_until;
} SizeLimits;
#define SIZE_MEMORY (INT64_C(24) * 3600 * 1000000)

/* An entry that is due later because it waits for the destination. */
typedef struct Parked {
    unsigned source;
    uint8_t hash[20];
    int64_t due;
} Parked;

typedef struct Destination {
    char *name;
    const DestinationLimits *limits; /* the transport's */
    Window window;
    Pipelining pipelining;
    unsigned busy;         /* flights under way, each of one batch or more */
    Bucket bucket;
    Pace pace;
    Rate ordered;          /* the operator's; < 0: none given */
    bool suspended;
    bool unresolved;       /* its servers are not known yet */
    unsigned deaths;       /* in a row */
    int64_t away_since;    /* clock_steady(): dead, suspended or slow since then; 0: well */
    int64_t dead_until;    /* clock_steady(); 0: alive */
    char *reason, *status; /* of the last failure */
    SizeLimits sizes;
    unsigned connections;  /* so many it bears at a time, as far as is known; 0: no such limit was met */
    unsigned refusals;     /* of further ones, in a row */
    bool grew;             /* none was refused since the last further one stood */
    int64_t full_until;    /* clock_steady(): no further one is tried before */
    char *last_reply;      /* the last that was no success */
    int64_t last_used;
    int64_t tried_at;      /* when the entry comes that was put off to be the next trial; 0: none was */
    double took;           /* seconds a transaction takes, lately */
    int64_t waited_since;  /* clock_steady(): something waits and nothing has come back since then; 0: not so */
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
    unsigned holders;      /* deliveries of which recipients wait for it */
    GArray *parked;        /* of Parked: entries that wait for it alone, oldest first; NULL: none */
    guint parked_most;     /* when there are so many, and not before parked_look, it is looked which still wait */
    int64_t parked_look;
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

/* The most recipients of one transaction now, of those that the transport allows: as many as the servers were found
 * to take, no more than go in a second by the pace, and one alone while it rests. */
size_t destination_most(Destination *destination, size_t allowed, int64_t now);
/* The same for the transactions of a connection; 0: no limit. */
unsigned destination_most_transactions(const Destination *destination, unsigned allowed, int64_t now);

/* It took so many in one transaction, or over one connection, and no more. True when that is news. */
bool destination_learn_recipients(Destination *destination, unsigned taken, int64_t now);
/* It refused a connection, or its mail, because there are too many; so many others stand. */
void destination_learn_connections(Destination *destination, unsigned others, int64_t now);
/* One more stands. */
void destination_connected(Destination *destination, int64_t now);
void destination_learn_transactions(Destination *destination, unsigned taken, int64_t now);

/* A batch of so many recipients leaves for it, or comes back. */
void destination_begin(Destination *destination, size_t recipients);
void destination_end(Destination *destination);

/* What the batch that is just coming back (still counted as busy) says of the destination; the worst comes last. */
typedef enum SiteNews {
    SITE_UNKNOWN,   /* nothing was learnt */
    SITE_GOOD,      /* it answered, whatever it said of the mail */
    SITE_THROTTLED, /* it works and wants less */
    SITE_FAILED,    /* it is not there, or in trouble */
} SiteNews;

typedef struct SiteReport {
    SiteNews news;
    unsigned taken;   /* recipients with which it dealt, well or not */
    unsigned refused; /* those it refused for their number */
    bool replied;     /* a failure is what it said, not silence: it is tried again within PACE_REST_MAX */
} SiteReport;

/* True when it died of that. The reason is kept for those that wait. chance: 0 <= chance < 1. */
bool destination_tell(Destination *destination, const SiteReport *report, int64_t now, double chance);
/* Dead at once. replied: by what it said. */
void destination_kill(Destination *destination, int64_t now, bool replied, double chance);
void destination_set_reason(Destination *destination, const char *status, const char *reason);

bool destination_dead(const Destination *destination);
/* By order: neither suspended, dead nor slow any more. */
void destination_resume(Destination *destination, int64_t now);
/* Alive again by time: to be called when dead_until has come. */
void destination_revive(Destination *destination);
/* True until something succeeded. */
bool destination_probing(const Destination *destination);

/* The rate in force, recipients a second: the operator's, else the transport's, else none; or the pace that was learnt,
 * when that is less. */
Rate destination_rate(Destination *destination, int64_t now);
/* rate < 0 takes the order back. */
void destination_order_rate(Destination *destination, double per_second, int64_t now);

/* Orders given under another name hold for it, and what waits there waits for it. */
void destination_inherit(Destination *destination, Destination *from, int64_t now);

/* Remember an entry that was put off for it. Of more than 200,000 the last are not, and come at their time. */
void destination_park(Destination *destination, const Parked *parked, int64_t now);
/* A fifth of a time, from 1 s to 15 minutes: how long mail waits for one that has been away for that time. */
int64_t destination_fifth(int64_t lasted);
/* When an entry that begins to wait now is looked at again: after that, and the first one when it is to be tried. */
int64_t destination_return_time(Destination *destination, int64_t now, double chance);
/* Until when more would wait in memory for too long; 0: there is room. */
int64_t destination_full_until(Destination *destination, int64_t now);
void destination_observe(Destination *destination, double seconds, int64_t now);
/* "alive", "dead", "probing", "suspended", "throttled", "resolving". */
const char *destination_state(Destination *destination, int64_t now);

/* Whether anything is known that a restart should not forget. */
bool destination_memorable(Destination *destination, int64_t now);
/* What to remember, and the way back; a text that makes no sense changes nothing (false). */
json_t *destination_save(Destination *destination, int64_t now);
bool destination_load(Destination *destination, const json_t *saved, int64_t now);
