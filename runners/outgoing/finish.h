/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * End an attempt at an entry, and decide what becomes of the entry:
 *
 *   all recipients delivered or bounced      the entry ends
 *   some left over, the entry is in out      it becomes an entry of retry with only those; or several, when they wait
 *                                            for different things: their transport's back-off, a destination, or
 *                                            whether they are in doubt. An entry has one due time and one count of
 *                                            doubts
 *   some left over, the entry is in retry    it waits again where it is; so does one whose recipients all wait for one
 *                                            destination and were not tried
 *   some left over, the entry is too old     they are bounced, and the entry ends; of mails that this host sends to
 *                                            itself (lists/site/canary_shard.h) nobody is told. Those that wait for a
 *                                            destination that the operator has suspended wait on
 *   it can never be delivered                it is moved to shunt
 *   it was withdrawn                         it is put back as it was: if no recipient was deferred, or
 *                                            by an operator's command
 */
#include <glib.h>
#include <stdbool.h>

#include "runners/outgoing/backoff.h"
#include "runners/outgoing/delivery.h"
#include "runners/outgoing/marks.h"
#include "runners/outgoing/routes.h"

#include "runners/outgoing/warning.h"
#include "switchboard/claim.h"
#include "switchboard/hop.h"

#define RETRY_QUEUE "retry"

enum { SOURCE_OUT, SOURCE_RETRY, SOURCE_NOTICE, SOURCES };

typedef struct RetryLaws {
    const Routes *routes;
    const Backoff *standard; /* the back-off of recipients without a transport */
    bool varied;             /* some transports have a back-off of their own */
} RetryLaws;

typedef struct Finish {
    Spool *spool;
    Slice slice; /* of this process */
    Hop *hop;
    Inbox *inboxes[SOURCES]; /* borrowed */
    Marks *marks;            /* borrowed */
    Backoff backoff;         /* for transports without one of their own */
    int64_t *steps;          /* owned by this struct, used by backoff */
    int64_t longest_us;      /* no entry waits longer for its next turn */
    int64_t canary_us;       /* how long mails that this host sends to itself are tried */
    RetryLaws laws;
    Warning warning;
    GPtrArray *outcomes[SOURCES]; /* of Outcome: committed together, by source */
    GPtrArray *deliveries[SOURCES];     /* of Delivery, without their entries: for the log */
    uint64_t done;                /* entries that left their queue */
} Finish;

void finish_init(Finish *finish);
void finish_clear(Finish *finish);

/* End the deliveries in `over`: store the bounces gathered in marks, then commit what becomes of each entry. The
 * deliveries leave `over` and are freed. False, from this function and those below: the system failed in a way that
 * only recovery can settle, so the caller is to end the process. */
bool finish_over(Finish *finish, GQueue *over, GError **error);

/* Sync the marks of a delivery, put its entry back into its queue as it was, and free the delivery. */
bool finish_put_back(Finish *finish, Delivery *delivery, GError **error);

/* Move an entry (consumed) that can never be delivered to the queue shunt, with the text of why. If there is no shunt,
 * the entry waits where it is. */
bool finish_shunt(Finish *finish, Entry *entry, unsigned source, const GError *why, GError **error);
