/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * What the files of the transport share: transport.c (next hops, destinations, feeding), transport_settings.c
 * (what the configuration says), transport_view.c (what is seen from outside), session.c (connections).
 */
#include "net/smtp_client.h"
#include "runners/outgoing/transport.h"

typedef struct Session Session;

/* Transactions that go out together over one connection: often one. */
typedef struct Flight {
    unsigned sent, back;
    bool trouble; /* one of them told of it: the others, sent before its answer, say nothing new */
    bool broken;  /* one of them suffered from where it stood */
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
    bool asks_reports;    /* by the parameters of DSN */
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
    size_t per_transaction;
    unsigned per_connection;
    unsigned pipelined;   /* transactions in a flight (pipelining.h); 0: as it pays */
    int64_t reuse_time;   /* us; 0: no limit */

    Scheduler scheduler;
    GHashTable *nexthops;     /* name -> Nexthop, owned */
    GHashTable *destinations; /* name -> Destination, owned */
    Nexthop *relay;           /* NULL with MX */
    GPtrArray *sessions;      /* of Session, owned */
    GQueue idle;              /* of Session: that used longest ago first */
    size_t busy;              /* sessions with batches that are out */
    bool stopping;
};

/* transport_settings.c. FAIL_CONFIG, naming section and key. */
bool transport_read_settings(Transport *transport, GError **error);

/* transport_security.c: the same for TLS and AUTH. */
bool transport_read_security(Transport *transport, const char *section, GError **error);
void transport_clear_security(Transport *transport);

/* session.c */

/* Sends batch over a connection of its next hop, a kept one or a new one. There must be room for one. */
void session_send(Transport *transport, Destination *destination, Batch *batch);

/* The destination of a connection that waits for work and may have more of what is at the front; NULL: none. */
Destination *session_goes_on(const Transport *transport, const Destination *front);
void session_free(Session *session);
void session_quit(Session *session);
Batch *session_steal_batch(Session *session); /* the next of them; NULL: it has none */
size_t session_in_flight(const Session *session); /* how many it has */

/* transport.c: the destination of that name, made if it is new. */
Destination *transport_destination(Transport *transport, const char *name);

/* transport.c: what sessions tell. */

/* The batch has its fates, or is unstarted. Its flight still counts as busy, and no more with its last batch. True when
 * it goes again: this connection takes no more. */
bool transport_batch_done(Transport *transport, Destination *destination, Batch *batch, Flight *flight);
/* No connection came about for batch; why is what the last address said. */
void transport_no_connection(Transport *transport, Destination *destination, Batch *batch, const SmtpResult *why);

/* transport_results.c */
void transport_put_off_refused(Transport *transport, Batch *batch);
void transport_withdraw(Transport *transport, Batch *batch);
/* Nothing can go there now: what waits leaves memory. */
void transport_park_all(Transport *transport, Destination *destination);
/* Its hosts are known: what waited for that may go, or leaves memory because nothing can go there. */
void transport_resolved(Transport *transport, Destination *destination);
void transport_say_dead(const Transport *transport, const Destination *destination);
void transport_was_cut(Batch *rest);
