/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Commit a transaction of the store together with entries, both or neither, once; and settle what a crash left of that.
 * README.md tells the protocol. Errors are those of the store and of switchboard/prepared.h.
 */
#include <glib.h>
#include <stdbool.h>

#include "store/store.h"
#include "switchboard/draft.h"
#include "switchboard/spool.h"

/* Commit the transaction at hand, which store_begin_durable() began, and store the drafts (array of Draft, the
 * caller's), of which there is at least one. False: the transaction was rolled back and nothing was stored; where the
 * message says that nobody knows, unit_settle() finds out. True: both are on the disk. An entry that its queue does not
 * take now is put there by unit_settle(). */
bool unit_commit(Store *store, Spool *spool, GPtrArray *drafts, GError **error);

/* Settle what dead processes left in this queue. For its runner, when it starts. */
bool unit_settle_queue(Store *store, Spool *spool, const char *queue, GError **error);

/* Settle what dead processes left in the queues that units in the store name, or with thorough in any queue, and remove
 * the rows of units that are settled. Costs nothing when there are no rows, unless thorough. A queue or a unit that
 * fails does not keep the others from their turn; the first fault is returned. */
bool unit_settle(Store *store, Spool *spool, bool thorough, GError **error);
