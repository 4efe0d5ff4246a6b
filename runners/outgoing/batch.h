/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A batch: recipients of one delivery that one transaction takes, all of one domain (or all for one relay). It waits in
 * memory with its peer (scheduler.h), goes out over a session, and comes back with a fate for each
 * recipient. Between the two it counts as busy for its destination.
 */
#include <glib.h>
#include <stdbool.h>

#include "net/smtp_client.h"
#include "switchboard/entry.h"

/* Recipients that met the same fate in one batch, for the log. */
typedef struct Fate {
    SmtpVerdict verdict;
    char *status;
    char *text;
    char *reply;
    size_t count;
    unsigned code;
    SmtpPhase phase;
    size_t accepted; /* recipients of the transaction that had been accepted before */
    SmtpFallback fallback;
    bool in_doubt;
    bool connection; /* the connection is to blame */
    bool again;      /* not about these recipients: they go at once (judge.h) */
    bool waits;      /* not about them either: they wait for the destination */
} Fate;

typedef struct Batch {
    struct Delivery *delivery;
    struct Job *job;
    struct Nexthop *nexthop;
    GList link;              /* in its peer */
    size_t count, room;
    Recipient *recipients;   /* their octets belong to the entry */
    uint32_t *fate_of;       /* index into fates, by recipient; NULL until it goes out for the first time */
    GArray *fates;           /* of Fate */
    bool unstarted;          /* nothing was tried: to be sent again at once */
    bool behind;             /* it suffers from where it stood in its flight (SmtpResult) */
    char *sender;            /* of a copy (content.h); NULL: the delivery's */
    SmtpBody *body;
    bool careful;            /* it may have been delivered before: alone, and step by step */
    unsigned unsettled;      /* attempts in a row that settled nothing, after which it went again at once */
    unsigned unconnected;    /* the same of attempts that found no connection */
    char *avoid;             /* the mail host that has deferred it in this attempt; NULL: none has */
    char *host;              /* where it went */
    bool other_host;         /* it could be tried at another one */
    char *relay;             /* where it went, for the log */
    unsigned conn_use;
    int64_t begun, connect_us, finished; /* monotonic; how long the connection took */
} Batch;

/* Empty, with room for so many recipients. */
Batch *batch_new(struct Delivery *delivery, struct Nexthop *nexthop, size_t room);
void batch_free(Batch *batch);
static inline void batch_add(Batch *batch, const Recipient *recipient)
{
    batch->recipients[batch->count++] = *recipient;
}

/* Ready to be told fates, perhaps again. */
void batch_begin(Batch *batch);
void batch_set_fate(Batch *batch, size_t index, const SmtpResult *result);
/* The same fate for all that have none. */
void batch_set_rest(Batch *batch, const SmtpResult *result);
/* Leaves the first `most` recipients; the others become another batch. */
Batch *batch_cut(Batch *batch, size_t most);
/* Takes those out that go again, into another batch; NULL: there are none. What is left may be empty. */
Batch *batch_split(Batch *batch);
const Fate *batch_fate(const Batch *batch, size_t index);
