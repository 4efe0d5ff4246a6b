/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Send batches of recipients over SMTP or LMTP as one section [transport.NAME] says. A transport has next hops (the
 * domain or relay that mail is for), destinations (groups of servers, destination.h) and sessions (connections). It
 * looks up the servers of next hops and takes one batch after another from its scheduler. A session of the batch's
 * destination, a kept one or a new one, sends it; then the destination is told of the result.
 *
 * Its owner is the runner's loop. It gives batches by transport_accept(), and calls transport_feed() to start them.
 * Each batch comes back to the owner by one of the functions of TransportOwner, and belongs to it again.
 */
#include <event2/event.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/config.h"
#include "net/mx.h"
#include "net/resolve.h"
#include "net/smtp_client.h"
#include "runners/outgoing/delivery.h"
#include "runners/outgoing/scheduler.h"
#include "runners/outgoing/judge.h"

typedef struct TransportOwner {
    /* A batch comes back with a fate for each recipient. */
    void (*finished)(void *data, Batch *batch);
    /* A batch comes back untried, because its destination takes nothing now: its recipients are to wait for that
     * destination until due (clock_steady()). */
    void (*parked)(void *data, Batch *batch, int64_t due);
    /* A batch comes back unfinished, and is not tried again in this life of the process: its recipients stay "to
     * do". */
    void (*withdrawn)(void *data, Batch *batch);
    /* The destination has room again: claim the entries that wait for it alone (destination->parked). */
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

typedef struct Host {
    char *name; /* for the log and for TLS */
    unsigned preference;
    struct sockaddr_storage address;
    socklen_t length;
    int64_t bad_until; /* monotonic: others are tried first */
    int64_t without[SMTP_FALLBACK_EHLO + 1]; /* monotonic, by SmtpFallback: until then that feature is not used here */
} Host;

/* A next hop is where the recipients of one batch go. With MX lookups each domain is one. With a relay, the relay is
 * one. A next hop knows the hosts to connect to, and its destination: domains with the same set of MX hosts share one
 * destination. After their time, the hosts are looked up again; the old ones are used until the answer has come. */
typedef struct Nexthop {
    char *name;
    struct Transport *transport;
    Destination *destination;
    char *sender;      /* of a relay: for the mail of this sender domain, which it refuses; NULL: for all other */
    GArray *hosts;     /* of Host; empty: not known */
    int64_t expires;   /* monotonic */
    MxLookup *lookup;
    Resolve *resolve;
    /* Why nothing can be sent until refused_until (monotonic), when it is asked again; text NULL: no reason. */
    char *status, *text;
    unsigned code;
    bool never;
    int64_t refused_until;
    size_t batches;    /* batches for this next hop, waiting or out */
    int64_t last_used; /* monotonic */
} Nexthop;

/* Others read the name, the relay, the back-off, per_transaction, and what waits, is under way or was refused. */
struct Transport {
    const TransportShared *shared;
    char *name;
    const char *host;
    char port[8];
    uint16_t port_number;
    const char *path;     /* of a socket on this host; NULL: host and port */
    bool mx;              /* next hops are looked up */
    bool lmtp;
    bool group_by_mx;
    bool asks_reports;    /* delivery reports are asked for by the parameters of DSN */
    SmtpSettings settings;
    SmtpTls *tls;         /* of settings */
    char *password;
    DestinationLimits limits;
    const Backoff *backoff; /* how long deferred mail waits: own_backoff, or the one of all */
    Backoff own_backoff;
    int64_t *steps;       /* of own_backoff */
    Rate rate;            /* of all destinations together, this process's share; 0: no limit */
    double burst;
    Bucket bucket;
    SchedulerSettings scheduling;
    size_t sessions_max;
    unsigned hosts; /* that divide the limits among them, this one being one of them; 0: this one has no part */
    struct {
        unsigned concurrency, processes;
        Rate rate;
    } whole; /* the limits of all hosts and processes together */
    size_t per_transaction;
    unsigned per_connection;
    unsigned pipelined;   /* transactions in a flight; 0: as many as pay off (pipelining_most()) */
    int64_t reuse_time;   /* us; 0: no limit */

    Scheduler scheduler;
    GHashTable *nexthops;     /* name -> Nexthop, owned */
    GHashTable *destinations; /* name -> Destination, owned */
    Nexthop *relay;           /* all mail goes there; NULL with MX */
    RelayRefusals refusals;        /* of the relay */
    GPtrArray *sessions;      /* of Session, owned: the connections */
    GQueue idle;              /* of Session: that used longest ago first */
    size_t busy;              /* sessions with batches that are out */
    size_t between;           /* sessions that still wait for the answer to RSET */
    bool stopping;
};

/* Make the transport of section [transport.NAME]; shared is borrowed for its life. FAIL_CONFIG: a setting is wrong; the
 * message names section and key. */
Transport *transport_new(const TransportShared *shared, const char *name, GError **error);
/* Free the transport, and drop every connection at once. Batches that are out are not given back:
 * transport_drop() does that. */
void transport_free(Transport *transport);

/* transport_settings.c: return the backoff_schedule of a section, *count times in us; g_free(). */
int64_t *transport_read_schedule(const Config *config, const char *section, size_t *count);

/* Return the next hop for a recipient of this domain (not NUL-terminated, any case), borrowed. A new one is made, and
 * the look-up of its servers begins. A relay has one next hop, and one for each domain of senders that it refuses. */
Nexthop *transport_nexthop(Transport *transport, const char *domain, size_t length, const char *sender);

/* Let a batch, which waits nowhere yet, wait for its destination; or give it straight back to the owner (parked or
 * finished) when nothing can be sent there now. new: as for scheduler_add_batch(). */
void transport_accept(Transport *transport, Job *job, Batch *batch, bool new);
/* Return the destination of a recipient of this domain, borrowed, and make nothing. NULL: its next hop is not known. */
Destination *transport_place(const Transport *transport, const char *domain, size_t length, const char *sender);
/* Note that the delivery waits for nobody any more, because it is given up. */
void transport_given_up(Transport *transport, const Delivery *delivery);
/* Give each refused sender whose mail is kept apart its destination, after refusals_load(). */
void transport_load_refusals(Transport *transport, const json_t *saved);

/* Start the batches that can go. The owner calls this when the results so far are written to the disk. Return true when
 * any was started. */
bool transport_feed(Transport *transport);

/* Return when, by clock_steady(), transport_feed() is to be called even if nothing happens; 0: at no such time. */
int64_t transport_wake(Transport *transport);

/* Start no more batches, and say QUIT on each connection that has none out. */
void transport_stop(Transport *transport);
size_t transport_in_flight(const Transport *transport); /* batches that are out; costs a look at each connection */
/* Close all connections at once. The owner gets each batch that is out back by withdrawn(). */
void transport_drop(Transport *transport);

/* Keep to one of `hosts` equal parts of the limits from now on; 0: start nothing. Return whether what is under way, and
 * each connection, is within them already. If not, idle connections are closed, and it is to be called again. */
bool transport_share(Transport *transport, unsigned hosts);

/* Forget next hops and destinations that nobody has used for ten minutes, unless something is known of them that
 * counts: mail, connections, an order, a death, a pace. */
void transport_tidy(Transport *transport);

/* Return the transport (of Transport) of this name, borrowed; NULL: there is none. */
Transport *transport_named(const GPtrArray *transports, const char *name);
/* Return all destinations of the transport. The list is the caller's (g_ptr_array_unref), its elements are borrowed. */
GPtrArray *transport_destinations(Transport *transport);
/* Return a destination by its name, or by the name of a next hop that uses it; borrowed. If there is none, make it when
 * make is true, else return NULL. */
Destination *transport_find(Transport *transport, const char *name, bool make);
/* Look again at a destination that was changed from outside. If it is now dead or suspended, its waiting batches are
 * parked; else the entries that wait for it are recalled. */
void transport_look(Transport *transport, Destination *destination);
