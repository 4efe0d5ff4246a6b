/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Group recipients of one delivery into the batches that one transaction takes: all of one domain, or all for one
 * relay. A batch waits in memory with its peer (scheduler.h), goes out over a session, and comes back with a fate for
 * each recipient. While it is out it counts as busy for its destination.
 */
#include <glib.h>
#include <stdbool.h>

#include "net/smtp_client.h"
#include "switchboard/entry.h"

/* FateAbout says what a refusal is about. All but FATE_OF_RECIPIENT are for the site's own relay alone (refusal.h). */
typedef enum FateAbout {
    FATE_OF_RECIPIENT,
    FATE_OF_ANYBODY, /* the words do not say */
    FATE_OF_SENDER,  /* the domain of the envelope sender, or who we are */
    FATE_OF_MESSAGE,
} FateAbout;

/* Fate is the result for some recipients of a batch. Recipients with the same fate share one, so that the log can sum
 * them up. */
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
    FateAbout about; /* of a refusal that was made a deferral, because it is the operator's matter */
    bool in_doubt;   /* the server may have delivered the mail, though the connection was lost */
    bool connection; /* the connection failed, not this recipient */
    bool again;      /* the refusal was not about these recipients: they go again at once (judge.h) */
    bool waits;      /* the refusal was not about these recipients: they wait for the destination (judge.h) */
} Fate;

typedef struct Batch {
    struct Delivery *delivery;
    struct Job *job;
    struct Nexthop *nexthop;
    GList link;              /* in its peer */
    size_t count, room;      /* recipients in it, and the most that it can hold */
    Recipient *recipients;   /* their bytes belong to the entry */
    uint32_t *fate_of;       /* index into fates, by recipient; NULL until it goes out for the first time */
    GArray *fates;           /* of Fate */
    bool unstarted;          /* nothing was tried, so it is sent again at once */
    bool behind;             /* it failed because of the batch before it in its flight (SmtpResult) */
    char *sender;            /* of a copy (delivery.h); NULL: the delivery's */
    SmtpBody *body;
    bool careful;            /* it may have been delivered before, so it goes alone and step by step */
    unsigned unsettled;      /* attempts in a row that settled nothing and were repeated at once */
    unsigned unconnected;    /* attempts in a row that found no connection and were repeated at once */
    char *avoid;             /* the mail host that has deferred it in this attempt; NULL: none has */
    char *host;              /* the mail host that it went to */
    bool other_host;         /* there is another mail host to try */
    char *relay;             /* the server that it went to, for the log */
    unsigned conn_use;
    int64_t begun, connect_us, finished; /* monotonic; connect_us: how long it took to connect */
} Batch;

/* Make an empty batch with room for this many recipients; delivery and next hop are borrowed. */
Batch *batch_new(struct Delivery *delivery, struct Nexthop *nexthop, size_t room);
void batch_free(Batch *batch);
/* Add a recipient (copied); there must be room. */
static inline void batch_add(Batch *batch, const Recipient *recipient)
{
    batch->recipients[batch->count++] = *recipient;
}

/* Forget the fates of an earlier attempt. Call it before a batch goes out, ahead of any batch_set_fate(). */
void batch_begin(Batch *batch);
/* Record the fate of one recipient. */
void batch_set_fate(Batch *batch, size_t index, const SmtpResult *result);
/* Record the same fate for all recipients that have none. */
void batch_set_rest(Batch *batch, const SmtpResult *result);
/* Keep the first `most` recipients (fewer than it has), and return a new batch with the others. */
Batch *batch_cut(Batch *batch, size_t most);
/* Move the recipients whose fate says `again` into a new batch; return NULL when there are none. The old batch may be
 * empty afterwards. */
Batch *batch_split(Batch *batch);
/* Return the fate of a recipient, borrowed. */
const Fate *batch_fate(const Batch *batch, size_t index);
