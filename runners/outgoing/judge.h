/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Judge what the answers to one transaction are about: the recipients, the session, the size of the transaction, the
 * number of connections, the pace or the life of the destination (README.md has the table). The functions change
 * nothing but `again` and `waits` of the fates; the caller applies the verdict to the destination and the session.
 */
#include "runners/outgoing/batch.h"
#include "runners/outgoing/destination.h"
#include "runners/outgoing/reply_table.h"

typedef struct ReplyVerdict {
    SiteReport report;
    const Fate *worst;     /* the fate with the worst news, borrowed from the batch; NULL: there was no fate */
    bool elsewhere;        /* some recipients that go again are to go to another mail host */
    size_t again;          /* how many recipients go again at once */
    bool spent;            /* this connection takes no further mail */
    bool full;             /* the server takes no more connections than stand */
    unsigned recipients;   /* 0, or how many the server takes in a transaction */
    unsigned transactions; /* 0, or how many it takes over a connection */
} ReplyVerdict;

/* Judge the fates of a batch that was sent. relay: the server is the site's own, and its words about its load during a
 * session concern the mail in hand alone. */
ReplyVerdict judge_batch(const ReplyTable *replies, const Destination *destination, bool relay, Batch *batch);

/* Judge a connection that did not come about, for a batch of this many recipients; why is the answer. Only the report
 * and `full` are set. others: other connections stand, or are on their way. */
ReplyVerdict judge_connection(const ReplyTable *replies, bool others, size_t recipients, const SmtpResult *why);
