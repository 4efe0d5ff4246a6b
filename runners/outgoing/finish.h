/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * End an attempt at an entry:
 *
 *   all recipients delivered or bounced      the entry ends
 *   some left over, the entry is in out      it becomes an entry of retry with only those; or several, when they wait
 *                                            for different things (retry_parts.h)
 *   some left over, the entry is in retry    it waits again where it is; so does one whose recipients all wait for one
 *                                            destination and were not tried
 *   some left over, the entry is too old     they are bounced, and the entry ends; of mails that this host sends to
 *                                            itself (lists/canary_shard.h) nobody is told
 *   it can never be delivered                it is moved to shunt
 */
#include <glib.h>
#include <stdbool.h>

#include "runners/outgoing/backoff.h"
#include "runners/outgoing/delivery.h"
#include "runners/outgoing/marks.h"
#include "runners/outgoing/routes.h"
#include "runners/outgoing/retry_parts.h"
#include "runners/outgoing/warning.h"
#include "switchboard/claim.h"
#include "switchboard/hop.h"

#define RETRY_QUEUE "retry"

enum { SOURCE_OUT, SOURCE_RETRY, SOURCE_NOTICE, SOURCES };

typedef struct Finish {
    Spool *spool;
    Slice slice; /* of this process */
    Hop *hop;
    Inbox *inboxes[SOURCES]; /* borrowed */
    Marks *marks;            /* borrowed */
    Backoff backoff;         /* for transports without one of their own */
    int64_t *steps;          /* owned by this struct, used by backoff */
    int64_t canary_us;       /* how long mails that this host sends to itself are tried */
    RetryLaws laws;
    Warning warning;
    GPtrArray *outcomes[SOURCES]; /* of Outcome: committed together, by source */
    GPtrArray *deliveries[SOURCES];     /* of Delivery, without their entries: for the log */
    uint64_t done;                /* entries that left */
} Finish;

void finish_init(Finish *finish);
void finish_clear(Finish *finish);

/* End the deliveries in over, after their bounces have been stored. They leave the queue and are freed. Returns false
 * when the system failed in a way that only recovery can settle: end the process. */
bool finish_over(Finish *finish, GQueue *over, GError **error);

/* Put back a delivery that is not over, as it was, with its marks. */
bool finish_put_back(Finish *finish, Delivery *delivery, GError **error);

/* Move an entry that can never be delivered to shunt. Consumes entry. */
bool finish_shunt(Finish *finish, Entry *entry, unsigned source, const GError *why, GError **error);
