/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Declare what the files of the transport share: transport.c (next hops, destinations, results), transport_settings.c
 * (what the configuration says), session.c (connections).
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

/* transport_settings.c: read the settings of the transport. FAIL_CONFIG: one is wrong; the message names section and
 * key. */
bool transport_read_settings(Transport *transport, GError **error);

/* session.c */

/* Send the batch over a connection to its next hop, a kept one or a new one. There must be room for a connection. */
void session_send(Transport *transport, Destination *destination, Batch *batch);

/* Return the destination of an idle connection that may be served before the front one; NULL when there is none. */
Destination *session_goes_on(const Transport *transport, const Destination *front);
void transport_session_free(Session *session);
void session_quit(Session *session);
Batch *session_steal_batch(Session *session); /* take its next batch away; NULL when it has none */
size_t session_in_flight(const Session *session); /* batches under way on it */

/* transport.c */

/* Return the indices of the next hop's hosts in the order in which one connection tries them: by preference, equal ones
 * in an order of chance. The addresses of one host are IPv6 and IPv4 by turns, so that a family that does not work
 * costs one time-out. Hosts that failed lately, and the one named avoid (NULL: none), come last. g_free(); NULL: there
 * are none. */
unsigned *nexthop_order(const Nexthop *nexthop, int64_t monotonic, const char *avoid, unsigned *count);

/* End one batch of a flight: its recipients have their fates, or it was never started. With its last batch, the flight
 * stops counting as busy. Return true when the connection is to take no further batch: the batch was not started, or
 * the answers said so. */
bool transport_batch_done(Transport *transport, Destination *destination, Batch *batch, Flight *flight);
/* End a batch for which no connection could be made. why is the answer of the last address. */
void transport_no_connection(Transport *transport, Destination *destination, Batch *batch, const SmtpResult *why);
