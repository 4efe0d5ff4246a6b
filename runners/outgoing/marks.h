/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The memory of what was delivered. When a batch comes back, its sent recipients are
 * marked 'D' in the entry at once (a kill finds them there), and its refused ones are
 * gathered; then, once a turn of the loop:
 *
 *   marks_store_bounces()  bounces entries are stored, their recipients marked 'B'
 *   marks_sync_begin()     every mark, and every directory in which an entry ended, is synced in one group,
 *   marks_sync_end()       while the loop claims what comes next
 *
 * No session gets new work before that (a power cut finds them there too), so
 * what a crash can repeat is what was in flight.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/fs.h"
#include "runners/outgoing/delivery.h"
#include "switchboard/spool.h"

typedef struct Marks {
    GPtrArray *dirty;       /* of Delivery: have marks that are not synced */
    GPtrArray *bounces;     /* of BounceDraft: to be stored */
    GPtrArray *directories; /* of Queue: an entry has ended there since the last sync */
    GArray *group;          /* of FsSync: being synced */
    FsSyncing *syncing;     /* or NULL */
    int64_t took;           /* the last sync, us */
} Marks;

void marks_init(Marks *marks);
void marks_clear(Marks *marks);

/* Take in a batch that came back. False when a mark could not be written: the process must end. */
bool marks_batch(Marks *marks, const Batch *batch, GError **error);

/* A failed store leaves its recipients deferred. False: as above. */
bool marks_store_bounces(Marks *marks, Spool *spool, GError **error);

/* An entry has ended there, perhaps with marks that are not synced: that it is gone must be durable in their place. */
void marks_touch(Marks *marks, Queue *queue);
/* The delivery is leaving: its marks need no sync any more, or it is made now. */
void marks_forget(Marks *marks, Delivery *delivery);
bool marks_sync_job(Marks *marks, Delivery *delivery, GError **error);

/* Between the two, what is marked or ends belongs to the next sync, and no delivery may be freed. */
void marks_sync_begin(Marks *marks);
bool marks_syncing(const Marks *marks);
bool marks_sync_end(Marks *marks, GError **error);
bool marks_sync(Marks *marks, GError **error);
