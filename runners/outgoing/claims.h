/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Claim entries for the runner out, by a thread beside its event loop. To claim one (a rename in a large directory,
 * opening, reading, verifying) takes about as long as all else that is done for an entry of one recipient. So while the
 * loop has something else to do, a thread does it. The thread is given names alone; the loop judges the results.
 *
 *   picked            add names of entries of a source to its array (inbox_pick()), as often as wanted
 *   claims_begin()    have the chosen entries claimed, by the thread or at once
 *   claims_ready()    ask whether that is over: after claims_begin(), and when `wake` is readable
 *   claims_collect()  take the entries; afterwards others may be picked
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "runners/outgoing/finish.h"
#include "switchboard/claim.h"

typedef enum ClaimsState { CLAIMS_IDLE, CLAIMS_WAITING, CLAIMS_RUNNING, CLAIMS_READY } ClaimsState;

typedef struct Claims {
    GArray *picked[SOURCES]; /* of Claim, by source (SOURCE_*); the caller adds to it while nothing is being claimed */
    GThreadPool *pool;       /* of one */
    GMutex lock;
    GCond done;
    ClaimsState state;
    int wake; /* an eventfd, readable when the thread has claimed all; -1: none was to be had, all is done at once */
} Claims;

void claims_init(Claims *claims);
/* Free the claims. Entries that were not collected stay claimed, for recovery. */
void claims_clear(Claims *claims);

/* Have the chosen entries claimed: by the thread if aside is true, else before this returns. */
void claims_begin(Claims *claims, bool aside);

/* Return how many entries are chosen and not yet collected. */
size_t claims_count(const Claims *claims);
/* Return whether the claiming that claims_begin() began is over: each chosen entry was claimed, or that failed. */
bool claims_ready(Claims *claims);

/* Append the claimed entries, which are the caller's now, to the array of their source; wait for the thread if it is at
 * work. inboxes and entries have one element for each source. False: the system failed (inbox_take()); the entries that
 * could be taken were appended all the same. */
bool claims_collect(Claims *claims, Inbox *const inboxes[SOURCES], GPtrArray *const entries[SOURCES], GError **error);
