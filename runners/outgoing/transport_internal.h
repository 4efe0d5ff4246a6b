/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Declare what the files of the transport share: transport.c (next hops, destinations, feeding), transport_settings.c
 * (what the configuration says), transport_view.c (what is seen from outside), session.c (connections).
 */
#include "net/smtp_client.h"
#include "runners/outgoing/transport.h"

typedef struct Session Session;

/* Transactions that go out together over one connection: often one. */
typedef struct Flight {
    unsigned sent, back; /* batches that went out, and those of them that have come back */
    bool trouble; /* one of them has told of trouble: the others, sent before its answer, say nothing new */
    bool broken;  /* one of them failed because of the batch before it (Batch.behind) */
} Flight;

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
    const Backoff *backoff; /* own_backoff, or the one of all */
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
    unsigned pipelined;   /* transactions in a flight; 0: as many as pay off (pipelining.h) */
    int64_t reuse_time;   /* us; 0: no limit */

    Scheduler scheduler;
    GHashTable *nexthops;     /* name -> Nexthop, owned */
    GHashTable *destinations; /* name -> Destination, owned */
    Nexthop *relay;           /* NULL with MX */
    RelayRefusals refusals;        /* of the relay */
    GPtrArray *sessions;      /* of Session, owned */
    GQueue idle;              /* of Session: that used longest ago first */
    size_t busy;              /* sessions with batches that are out */
    size_t between;           /* sessions that still wait for the answer to RSET */
    bool stopping;
};

/* transport_settings.c: read the settings of the transport. FAIL_CONFIG: one is wrong; the message names section and
 * key. */
bool transport_read_settings(Transport *transport, GError **error);

/* transport_settings.c: free what belongs to TLS and AUTH. */
void transport_clear_security(Transport *transport);

/* session.c */

/* Send the batch over a connection to its next hop, a kept one or a new one. There must be room for a connection. */
void session_send(Transport *transport, Destination *destination, Batch *batch);

/* Return the destination of an idle connection that may be served before the front one; NULL when there is none. */
Destination *session_goes_on(const Transport *transport, const Destination *front);
void transport_session_free(Session *session);
void session_quit(Session *session);
Batch *session_steal_batch(Session *session); /* take its next batch away; NULL when it has none */
size_t session_in_flight(const Session *session); /* batches under way on it */

/* transport.c: return the destination of that name; make it if it is new. */
Destination *transport_destination(Transport *transport, const char *name);

/* transport.c: return the next hop of the relay for mail of a sender whom it refuses. */
Nexthop *transport_nexthop_apart(Transport *transport, const char *sender);

/* transport.c: ask for the hosts of a next hop, unless they are known or asked for. */
void transport_know_hosts(Transport *transport, Nexthop *nexthop);

/* transport.c: what sessions tell. */

/* End one batch of a flight: its recipients have their fates, or it was never started. With its last batch, the flight
 * stops counting as busy. Return true when the connection is to take no further batch: the batch was not started, or
 * the answers said so. */
bool transport_batch_done(Transport *transport, Destination *destination, Batch *batch, Flight *flight);
/* End a batch for which no connection could be made. why is the answer of the last address. */
void transport_no_connection(Transport *transport, Destination *destination, Batch *batch, const SmtpResult *why);

/* transport_results.c */

/* Give a batch back to the owner whose next hop was refused (its domain takes no mail, or its hosts cannot be
 * found). */
void transport_put_off_refused(Transport *transport, Batch *batch);
/* Give a batch that is out back to the owner by withdrawn(). */
void transport_withdraw(Transport *transport, Batch *batch);
/* Put the batches that wait for the destination off to the queue, because nothing can go there now. */
void transport_park_all(Transport *transport, Destination *destination);
/* Release the batches that waited for the addresses of the destination's hosts, or put them off to the queue when
 * nothing can go there. */
void transport_resolved(Transport *transport, Destination *destination);
/* Write into the log that the destination is dead, how long and why. */
void transport_say_dead(const Transport *transport, const Destination *destination);
/* Count the new batch that the scheduler has cut off one that goes out. */
void transport_was_cut(Batch *rest);
