/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Commit a transaction of the store together with entries for queues: both come to be, each entry once, or neither.
 * Such a commit is called a unit. No file is written or synced while the transaction is open, so that a disk which
 * stands still keeps no lock of the database (README.md tells the protocol and why each entry comes once):
 *
 *   1. The transaction keeps the entries in rows of the outbox, sealed (lists/kept.h), under a tag, and commits.
 *      From then on the unit is decided.
 *   2. The entries are prepared in their queues (switchboard/prepared.h) under a second tag, and synced, outside of any
 *      transaction.
 *   3. A second transaction removes the rows of the first tag and adds the row of the second one.
 *   4. The prepared entries are published.
 *
 * A process that dies before step 1 has committed leaves nothing. One that dies later leaves rows, or prepared entries,
 * or both; unit_settle() then does the steps that are missing. Errors are those of the store and of
 * switchboard/prepared.h.
 */
#include <glib.h>
#include <stdbool.h>

#include "store/store.h"
#include "switchboard/draft.h"
#include "switchboard/spool.h"

/* Commit the transaction that store_begin_durable() began, and store the drafts (array of Draft, the caller's; at least
 * one). Their recipients come from draft_set_addresses(). False: the transaction was rolled back and nothing was
 * stored; or the message says that nobody knows whether it was done, and unit_settle() finds out. FAIL_NEVER: a draft
 * can never be written. True: all is durable. unit_settle() stores the entries that their queues do not take now. */
bool unit_commit(Store *store, Spool *spool, GPtrArray *drafts, GError **error);

/* Do the steps from 2 on for the drafts that the rows under this tag stand for: prepare them, let the prepared ones
 * take the place of the rows in a transaction of its own, and publish them. No transaction may be open. False: the rows
 * are there still, or nobody knows. True also where somebody else was faster, and the rows are gone. */
bool unit_hand_over(Store *store, Spool *spool, GPtrArray *drafts, const char *kept, GError **error);

/* Settle what dead processes left in this queue, and all units of the spool whose entries are in rows still. The runner
 * of the queue calls it when it starts. */
bool unit_settle_queue(Store *store, Spool *spool, const char *queue, GError **error);

/* Store the entries that are in rows still. Settle what dead processes left in the queues that the rows of units name,
 * or with `thorough` in every queue. Then remove the rows of the units that are settled. With no rows and no
 * `thorough`, no queue is looked at. A queue or unit that fails does not keep the others from their turn; the first
 * fault is returned. */
bool unit_settle(Store *store, Spool *spool, bool thorough, GError **error);
