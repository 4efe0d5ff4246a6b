/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Decide how much mail may go to a destination, and how fast. A destination is a group of servers that share a load: a
 * relay is one, and with MX lookups each set of mail hosts is one, which many domains may share. It knows how many
 * batches may be under way (its window, and flights), the rate (a bucket, and a pace that is learnt), whether it is
 * dead and until when, and it counts what was sent. It reads no clock: times are passed in (clock_steady(),
 * microseconds, where nothing else is said), and it neither sends nor waits. The scheduler asks it, and the transport
 * tells it what the servers said. A function that may change whether there is room notes so for the scheduler, which
 * looks again before it decides; other code writes none of the fields that room depends on, but for `load`.
 *
 *   alive      there is room while busy < window, a token is there, and connections are not refused
 *   dead       after `cohorts` full windows of failures in a row. Its mail is put off without an attempt. The time
 *              doubles with each death, from dead_min to dead_max, until something succeeds
 *   probing    it was dead, and nothing has succeeded since: one batch goes at a time, and one failure makes it dead
 *              again
 *   throttled  it has a pace, learnt from its refusals
 *   suspended  the operator has stopped it
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "runners/outgoing/destination_parts.h"

#define DESTINATION_HISTOGRAM 12 /* bounds: destination_bounds */

/* DestinationLimits holds the limits that all destinations of a transport have in common. */
typedef struct DestinationLimits {
    WindowLimits window;
    Rate rate;                  /* 0: none */
    double burst;               /* tokens */
    int64_t dead_min, dead_max; /* us */
    bool asks_often;            /* after a refusal (not after silence) it is tried again within PACE_REST_MAX */
    unsigned share;             /* processes that divide the rates among them; at least 1 */
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

/* The place of a destination in the scheduler, which alone looks at it. */
typedef struct DestinationQueue {
    GQueue *changes;       /* borrowed: of destinations to look at again; NULL: nobody asks */
    GList change;          /* in changes */
    bool changed;          /* it is there */
    GSequence *peers;      /* of Peer, by the order of their jobs */
    GSequenceIter *ready, *asleep;
    struct Job *first;     /* the job of the first peer, by which `ready` is ordered */
    uint64_t turn;         /* the scheduler's count when it was last served */
    int64_t wake_at;
} DestinationQueue;

/* Connections and mail that the transport has there. It counts them, and says destination_changed(). */
typedef struct DestinationLoad {
    GQueue idle;           /* of Session: connected and without work */
    unsigned sessions, established, between; /* two batches: RSET is not answered yet */
    unsigned nexthops;     /* next hops whose batches wait here */
    unsigned holders;      /* deliveries with recipients that wait for it */
    ParkedEntries parked;  /* that wait for it alone */
} DestinationLoad;

typedef struct Destination {
    char *name;
    const DestinationLimits *limits; /* the transport's */
    Window window;
    Pipelining pipelining;
    unsigned busy;         /* flights under way, each of one batch or more */
    Bucket bucket;
    Pace pace;
    Rate ordered;          /* set by the operator; < 0: none */
    bool suspended;
    bool own, lmtp;        /* the site's own SMTP relay (judge.h); LMTP */
    unsigned refused_at;   /* it has the mail of a sender whom the relay refuses, at this SmtpPhase; 0: all others */
    bool unresolved;       /* its servers are not known yet */
    unsigned deaths;       /* in a row */
    int64_t away_since;    /* dead, suspended or slow since then; 0: well */
    int64_t dead_until;    /* 0: alive */
    char *reason, *status; /* of the last failure */
    SizeLimits sizes;
    unsigned connections;  /* connections that it accepts at a time; 0: no limit was met */
    unsigned refusals;     /* attempts in a row at one connection more that were refused */
    unsigned borne;        /* the most connections that stood at a time lately */
    int64_t borne_until;   /* this is believed */
    unsigned turned_away, beyond; /* refused since the last accepted one; refused beside as many as were borne */
    bool grew;             /* no connection was refused since the last additional one succeeded */
    int64_t full_until;    /* no additional connection is tried before */
    char *last_reply;      /* the last reply that refused something */
    int64_t last_used;
    int64_t tried_at;      /* due time of the entry that will be the next trial; 0: there is none */
    double took;           /* average seconds of the latest transactions */
    int64_t waited_since;  /* mail has been waiting since then and nothing came back; 0: not so */
    size_t waiting, waiting_recipients; /* batches; the scheduler counts them */
    int64_t clog_told;     /* monotonic: when the log last said that it is slow */
    DestinationCounts counts;
    DestinationQueue queue;
    DestinationLoad load;
} Destination;

/* Make a destination. limits and changes are borrowed; changes is the scheduler's queue for what changed, or NULL. */
Destination *destination_new(const char *name, const DestinationLimits *limits, GQueue *changes, int64_t now);
/* Free a destination for which no mail waits, and remove it from the scheduler, which must not be cleared before. */
void destination_free(Destination *destination);
/* Have the scheduler look again whether there is room. */
void destination_changed(Destination *destination);

/* Return true when one more batch may go there now. Else *wake_at says when to ask again; 0: after an event. */
bool destination_room(Destination *destination, int64_t now, int64_t *wake_at);
/* Return true when one more transaction may go in the flight of another (smtp_client_send_behind()): the destination is
 * well, has no rate to keep, and more mail waits for it than it has room for. */
bool destination_crowded(Destination *destination, int64_t now);
/* Return the most recipients that one transaction may have now, at most `allowed`: no more than the servers were found
 * to take, no more than the pace allows in a second, and one while the pace rests. */
size_t destination_most(Destination *destination, size_t allowed, int64_t now);
/* Return the most transactions that one connection may have, at most `allowed`; 0 means no limit. */
unsigned destination_most_transactions(const Destination *destination, unsigned allowed, int64_t now);
/* Learn that the destination took this many recipients in a transaction, and refused the next. True: that is new. */
bool destination_learn_recipients(Destination *destination, unsigned taken, int64_t now);
/* Learn that the destination took this many transactions over a connection, and refused the next. */
void destination_learn_transactions(Destination *destination, unsigned taken, int64_t now);
/* Learn that a connection, or the mail on it, was refused because there are too many beside the `others`. */
void destination_learn_connections(Destination *destination, unsigned others, int64_t now);
/* Count a connection that was refused, for whatever reason, beside `others`. Several refusals beside as many as were
 * borne lately, or as many in a row as there are others, teach how many the destination takes. */
void destination_turned_away(Destination *destination, unsigned others, int64_t now);
/* Count a connection that was accepted. */
void destination_connected(Destination *destination, int64_t now);
/* Count a batch with this many recipients that goes out, or one that comes back. */
void destination_begin(Destination *destination, size_t recipients);
void destination_end(Destination *destination);
/* The news about the destination that a batch brings when it comes back and still counts as busy; the worst is last. */
typedef enum SiteNews {
    SITE_UNKNOWN,   /* nothing was learnt */
    SITE_GOOD,      /* it answered, whatever it said of the mail */
    SITE_THROTTLED, /* it works and wants less */
    SITE_FAILED,    /* it is not there, or in trouble */
} SiteNews;

typedef struct SiteReport {
    SiteNews news;
    unsigned taken;   /* recipients that it answered for, whatever it said */
    unsigned refused; /* recipients that it refused because there were too many */
    bool replied;     /* the failure is a reply and not silence: it is tried again within PACE_REST_MAX */
} SiteReport;
/* Take a report into account. Return true when the destination died of that; the reason is kept for the mail that
 * waits. chance is random, 0 <= chance < 1. */
bool destination_tell(Destination *destination, const SiteReport *report, int64_t now, double chance);
/* Declare the destination dead at once. replied: because of a reply. */
void destination_kill(Destination *destination, int64_t now, bool replied, double chance);
void destination_set_reason(Destination *destination, const char *status, const char *reason);
static inline bool destination_dead(const Destination *destination)
{
    return destination->dead_until > 0;
}
/* Return true when the destination was dead, lives again, and nothing has succeeded since. */
static inline bool destination_probing(const Destination *destination)
{
    return destination->deaths > 0 && !destination_dead(destination);
}
/* Note whether the destination's servers are unknown. */
void destination_set_unresolved(Destination *destination, bool unresolved);
/* Obey the operator: send it nothing; end its suspension, its death and its pace. */
void destination_suspend(Destination *destination, int64_t now);
void destination_resume(Destination *destination, int64_t now);
/* Let a dead destination live again, when dead_until has come: it is probing then. */
void destination_revive(Destination *destination);
/* Return the rate in force, in recipients a second: that of the operator, else that of the transport, else none. A pace
 * that was learnt and is lower takes its place. */
Rate destination_rate(Destination *destination, int64_t now);
/* Set the operator's rate; < 0 removes it. */
void destination_order_rate(Destination *destination, double per_second, int64_t now);
/* Call it before the destination's limits change: fill the bucket by the rate that held until now. */
void destination_settle(Destination *destination, int64_t now);
/* Call it after the destination's limits have changed. */
void destination_relimit(Destination *destination);
/* Take over the operator's orders and the waiting mail of `from`, which was the name of the same servers before they
 * were known. */
void destination_inherit(Destination *destination, Destination *from, int64_t now);
/* Return a fifth of a time, but at least 1 s and at most 15 minutes: mail waits that long for a destination that has
 * been away for that time. */
int64_t destination_fifth(int64_t lasted);
/* Return the due time of an entry that begins to wait now. The first one that waits comes when the destination is to be
 * tried again, the others destination_fifth() later. */
int64_t destination_return_time(Destination *destination, int64_t now, double chance);
/* Return until when mail for the destination would wait too long in memory; 0: it may be kept there. */
int64_t destination_full_until(Destination *destination, int64_t now);
/* Count a transaction that took this many seconds. */
void destination_observe(Destination *destination, double seconds, int64_t now);
/* Return "alive", "dead", "probing", "suspended", "throttled" or "resolving". */
const char *destination_state(Destination *destination, int64_t now);
/* Return whether something is known that a restart should keep; return that; take it in (false: it makes no sense). */
bool destination_memorable(Destination *destination, int64_t now);
json_t *destination_save(Destination *destination, int64_t now);
bool destination_load(Destination *destination, const json_t *saved, int64_t now);
