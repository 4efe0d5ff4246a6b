/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The end of an entry's attempt. Every recipient delivered or bounced: the entry ends. Recipients left over: an entry
 * of out becomes one of retry with only those (or several, when they wait for different things: retry_parts.h); one of
 * retry, and one whose recipients all wait for one destination untried, waits again where it is. Too old: those left
 * over are bounced. What can never be delivered is set aside.
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
    Slice slice; /* what this process may claim */
    Hop *hop;
    Inbox *inboxes[SOURCES]; /* borrowed */
    Marks *marks;            /* borrowed */
    Backoff backoff;         /* of transports that have no other */
    int64_t *steps;          /* of backoff */
    RetryLaws laws;
    Warning warning;
    GPtrArray *outcomes[SOURCES]; /* of Outcome: committed together, by source */
    GPtrArray *deliveries[SOURCES];     /* of Delivery, without their entries: for the log */
    uint64_t done;                /* entries that left */
    GHashTable *doubts;           /* hash in digits -> doubts of an entry that could not be written down with them */
} Finish;

void finish_init(Finish *finish);
void finish_clear(Finish *finish);

/* Of how many attempts at an entry nobody knows, as far as its metadata does not say: the system had no room for an
 * entry that does. */
unsigned finish_doubts(const Finish *finish, const Entry *entry);

/* Ends what is over (of Delivery, which leave the queue and are freed), after what was refused has been stored. False:
 * the system failed in a way that only recovery can settle, the process must end. */
bool finish_over(Finish *finish, GQueue *over, GError **error);

/* Puts back a delivery that is not over, as it was, with its marks. */
bool finish_put_back(Finish *finish, Delivery *delivery, GError **error);

/* Moves an entry that can never be delivered to shunt. Consumes entry. */
bool finish_shunt(Finish *finish, Entry *entry, unsigned source, const GError *why, GError **error);
