/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Judge what the answers to one transaction are about: the recipients, the session, the size of the transaction, the
 * number of connections, the pace or the life of the destination (README.md has the table). Pure: it looks at the batch
 * and its destination, and sets `again` and `waits` of the fates.
 */
#include "runners/outgoing/batch.h"
#include "runners/outgoing/destination.h"
#include "runners/outgoing/reply_table.h"

typedef struct ReplyVerdict {
    SiteReport report;
    const Fate *worst;     /* what the report is for; NULL: nothing was answered */
    bool elsewhere;        /* of those that go again, some at another host */
    size_t again;          /* recipients that go again at once */
    bool spent;            /* this connection takes no more */
    bool full;             /* there are as many connections as there may be */
    unsigned recipients;   /* 0, or how many the server takes in a transaction */
    unsigned transactions; /* 0, or how many it takes over a connection */
} ReplyVerdict;

/* The fates of a batch that was sent. relay: to a server of the site's own, whose words about its load during a
 * session concern the mail in hand alone. */
ReplyVerdict judge_batch(const ReplyTable *replies, const Destination *destination, bool relay, Batch *batch);

/* The same of a connection that did not come about, for so many recipients: the report, and `full`. others: some stand,
 * or are on their way. */
ReplyVerdict judge_connection(const ReplyTable *replies, bool others, size_t recipients, const SmtpResult *why);
