/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Write down which recipients of an entry are done, so that a crash repeats as few deliveries as it can. When a batch
 * comes back, marks_batch() gathers its refused recipients, and at once marks the sent ones 'D' in the entry's file. So
 * the marks survive a kill. Then, once a turn of the loop:
 *
 *   marks_store_bounces()  store the entries for the queue bounces, and mark their recipients 'B'
 *   marks_sync_begin()     begin to sync every mark, and every directory in which an entry ended, in one group
 *   marks_sync_end()       wait for that sync; between the two the loop claims the next entries
 *
 * The caller gives no session new work before the sync has ended, so that the marks survive a power cut, too. Then a
 * crash repeats only what was in flight.
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

/* Store all gathered bounces, and mark their recipients. If one cannot be stored, its recipients count as deferred.
 * False: a mark could not be written, and the process must end. */
bool marks_store_bounces(Marks *marks, Spool *spool, GError **error);

/* Note that an entry of this queue has ended, perhaps with marks that were not synced: the next sync makes its removal
 * durable instead. */
void marks_touch(Marks *marks, Queue *queue);
/* Take a delivery out of the next sync. Call it before the delivery is freed, if its entry ends. */
void marks_forget(Marks *marks, Delivery *delivery);
/* Sync the marks of one delivery now, before its entry is put back. False: the sync failed. */
bool marks_sync_job(Marks *marks, Delivery *delivery, GError **error);

/* Begin a sync of all marks. Marks that are made before its end belong to the next sync, and no delivery may be freed
 * before its end. */
void marks_sync_begin(Marks *marks);
/* Return whether a sync was begun and not ended. */
bool marks_syncing(const Marks *marks);
/* Wait for the end of the sync. False: it failed. */
bool marks_sync_end(Marks *marks, GError **error);
/* Begin a sync, and wait for its end. False: it failed. */
bool marks_sync(Marks *marks, GError **error);
