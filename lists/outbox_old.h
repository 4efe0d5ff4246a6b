/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Store in their queues the entries that an older program (before schema 26 of the database) left in rows of the
 * database (outbox_waiting()).
 *
 * Such a program may have stored an entry and died before it removed the row. Whether it did is seen by looking for the
 * entry's name, which follows from the row. That is right only while no newer runner has worked in that queue:
 * newer ones do not record that they worked on such an entry. So each runner calls outbox_old_sort() for its queue
 * before it begins to work. A row that is left then stands for an entry that was not stored, and anybody may store it
 * later.
 */
#include <glib.h>
#include <stdbool.h>

#include "store/store.h"
#include "switchboard/spool.h"

/* Remove the rows for this queue (NULL: for all) whose entries were stored. */
bool outbox_old_sort(Store *store, Spool *spool, const char *queue, GError **error);

/* Store the entries of the other rows for this queue, after outbox_old_sort(). A row that cannot be stored does not
 * keep the others from their turn; the first fault is returned. */
bool outbox_old_store(Store *store, Spool *spool, const char *queue, GError **error);
