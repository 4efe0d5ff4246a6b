/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Commit a transaction of the store together with entries for queues: both come to be, each entry once, or neither.
 * Such a commit is called a unit. A process that dies in the midst of one leaves prepared files in queues and a row in
 * the store; settling a unit publishes the files if the transaction was committed, and removes them if it was not.
 * README.md tells the protocol. Errors are those of the store and of switchboard/prepared.h.
 */
#include <glib.h>
#include <stdbool.h>

#include "store/store.h"
#include "switchboard/draft.h"
#include "switchboard/spool.h"

/* Commit the transaction that store_begin_durable() began, and store the drafts (array of Draft, the caller's; at least
 * one). False: the transaction was rolled back and nothing was stored; or the message says that nobody knows whether it
 * was done, and unit_settle() finds out. True: rows and entries are on the disk. An entry that its queue does not
 * take now is put there by unit_settle(). */
bool unit_commit(Store *store, Spool *spool, GPtrArray *drafts, GError **error);

/* Settle what dead processes left in this queue. The runner of the queue calls it when it starts. */
bool unit_settle_queue(Store *store, Spool *spool, const char *queue, GError **error);

/* Settle what dead processes left in the queues that the rows of units name, or with `thorough` in every queue. Then
 * remove the rows of the units that are settled. With no rows and no `thorough`, no queue is looked at. A queue
 * that fails does not keep the others from their turn; the first fault is returned. */
bool unit_settle(Store *store, Spool *spool, bool thorough, GError **error);
