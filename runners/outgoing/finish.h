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
 *                                            itself (lists/site/canary.h) nobody is told. Those that wait for a
 *                                            destination that the operator has suspended wait on
 *   it can never be delivered                it is moved to shunt
 *   it was withdrawn                         it is put back as it was: if no recipient was deferred, or
 *                                            by an operator's command
 *
 * Before that, write down which recipients of an entry are done (marks), so that a crash repeats as few deliveries as
 * it can. When a batch comes back, marks_batch() gathers its refused recipients, and at once marks the sent ones 'D' in
 * the entry's file. So the marks survive a kill. Then, once a turn of the loop:
 *
 *   marks_store_bounces()  store the entries for the queue bounces, and mark their recipients 'B'
 *   marks_sync_begin()     begin to sync every mark, and every directory in which an entry ended, in one group
 *   marks_sync_end()       wait for that sync; between the two the loop claims the next entries
 *
 * The caller gives no session new work before the sync has ended, so that the marks survive a power cut, too. Then a
 * crash repeats only what was in flight.
 *
 * Reports (RFC 3464) tell a list's owners about a post that cannot be delivered. One says that the post is late and is
 * still tried: once for an entry, when it has waited for `delay_warning_time`. The other says that delivery was given
 * up to recipients whose connection was lost each time. Reports and other mail without a sender cause none.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fs.h"
#include "runners/outgoing/delivery.h"
#include "switchboard/claim.h"
#include "switchboard/draft.h"
#include "switchboard/hop.h"
#include "switchboard/spool.h"

#define BOUNCES_QUEUE "bounces"
#define RETRY_QUEUE "retry"

enum { SOURCE_OUT, SOURCE_RETRY, SOURCE_NOTICE, SOURCES };

typedef struct Marks {
    GPtrArray *dirty;       /* of Delivery: have marks that are not synced */
    GPtrArray *bounces;     /* of BounceDraft: to be stored */
    GPtrArray *directories; /* of Queue: an entry has ended there since the last sync */
    GArray *group;          /* of FsSync: being synced */
    FsSyncing *syncing;     /* a sync that was begun and not ended, or NULL */
    int64_t took;           /* the last sync, us */
} Marks;

typedef struct Warning {
    const char *host;      /* our name */
    int64_t after_us;      /* 0: there are none */
    int64_t lifetime_us;   /* how long delivery is tried */
} Warning;

typedef struct RetryLaws {
    const struct Routes *routes;
    const Backoff *standard; /* the back-off of recipients without a transport */
    bool varied;             /* some transports have a back-off of their own */
} RetryLaws;

typedef struct Finish {
    Spool *spool;
    Slice slice; /* of this process */
    Hop *hop;
    Inbox *inboxes[SOURCES]; /* borrowed */
    Marks marks;
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

/* Take in a batch that came back. False when a mark could not be written: the process must end. */
bool marks_batch(Marks *marks, const Batch *batch, GError **error);

/* Note that the connection was lost while the mail went to the recipient at this offset. in_doubt: the server had all
 * of it, and may have delivered it. */
void marks_lost(Delivery *delivery, size_t offset, bool in_doubt);

/* Store all gathered bounces, and mark their recipients. If one cannot be stored, its recipients count as deferred.
 * False: a mark could not be written, and the process must end. */
bool marks_store_bounces(Marks *marks, Spool *spool, GError **error);

/* Begin a sync of all marks. Marks that are made before its end belong to the next sync, and no delivery may be freed
 * before its end. */
void marks_sync_begin(Marks *marks);
/* Wait for the end of the sync. False: it failed. */
bool marks_sync_end(Marks *marks, GError **error);
/* Begin a sync, and wait for its end. False: it failed. */
bool marks_sync(Marks *marks, GError **error);

/* Return true when the report of a delay is due, and was not made for this entry before. */
bool warning_due(const Warning *warning, const Delivery *delivery, int64_t now);
/* Return the report, for the queue in: of a delay, or that delivery was given up to recipients who failed only by lost
 * connections. held: set of offsets of recipients who wait on all the same; NULL: nobody does. NULL: nobody was given
 * up, or the mail is no post. */
Draft *warning_draft(const Warning *warning, const Delivery *delivery, bool given_up, GHashTable *held, int64_t now);
