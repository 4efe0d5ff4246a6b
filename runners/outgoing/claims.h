/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Entries on their way from the queues into the loop. To claim one (a rename in a large directory, opening, reading,
 * verifying) takes about as long as all else that is done for an entry of one recipient, so while the loop has
 * something else to do, a thread does it. The thread knows nothing but the names it is given: what they come to is
 * for the loop.
 *
 *   claims_pick()     as often as wanted: due names of a source
 *   claims_begin()    they are claimed, by the thread or at once
 *   claims_ready()    they are; the descriptor of claims_wake() became readable
 *   claims_collect()  the entries; then others may be picked
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "runners/outgoing/finish.h"
#include "switchboard/claim.h"

typedef enum ClaimsState { CLAIMS_IDLE, CLAIMS_WAITING, CLAIMS_RUNNING, CLAIMS_READY } ClaimsState;

typedef struct Claims {
    GArray *picked[SOURCES]; /* of Claim */
    GThreadPool *pool;       /* of one */
    GMutex lock;
    GCond done;
    ClaimsState state;
    int wake; /* an eventfd; -1: none was to be had, and everything is done at once */
} Claims;

void claims_init(Claims *claims);
/* Free the claims. Entries that were not collected stay claimed, for recovery. */
void claims_clear(Claims *claims);

int claims_wake(const Claims *claims);
/* To be called when it is readable. */
void claims_woken(Claims *claims);

/* How many were found. */
size_t claims_pick(Claims *claims, Inbox *inbox, unsigned source, size_t limit);
/* One by its name, due or not; it may be gone. */
void claims_recall(Claims *claims, Inbox *inbox, unsigned source, const EntryName *name);
void claims_begin(Claims *claims, bool aside);

/* How many are picked and not yet collected. */
size_t claims_count(const Claims *claims);
bool claims_ready(Claims *claims);

/* Wait for them if it must. inboxes and entries: one for each source; the entries are appended, and are the
 * caller's. False when the system failed (inbox_take()), after all were looked at. */
bool claims_collect(Claims *claims, Inbox *const inboxes[SOURCES], GPtrArray *const entries[SOURCES], GError **error);
