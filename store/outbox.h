/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Entries that a decision leaves behind, kept in the transaction of the decision until they are in their queues
 * (lists/work.h). A row either waits for whoever stores it next, or belongs to an entry that a runner has in hand:
 * that runner's hop makes the entries, and the rows are there to make the same ones again after a crash.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

typedef struct OutboxRow {
    int64_t number;
    char *queue, *meta;
    char *recipients; /* one a line */
    GBytes *message;
    int64_t made_at;
    bool touched; /* outbox_touch() met it: its entry may be in the queue already */
} OutboxRow;

void outbox_row_free(OutboxRow *row);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(OutboxRow, outbox_row_free)

/* entry ("command:4cd1...") is the one that it belongs to, NULL: it waits. number is set on return and is never used
 * twice. */
bool outbox_add(Store *store, const char *entry, OutboxRow *row, GError **error);

/* The first rows that wait, or those of an entry, in order: of OutboxRow, freed with the array. */
GPtrArray *outbox_waiting(Store *store, int64_t limit, GError **error);
GPtrArray *outbox_of(Store *store, const char *entry, GError **error);

/* How many rows wait, and when the oldest of them was made (0: there is none). */
bool outbox_count(Store *store, int64_t *count, int64_t *oldest, GError **error);

/* *row is NULL when it is gone. */
bool outbox_find(Store *store, int64_t number, OutboxRow **row, GError **error);

/* Mark all rows that wait. Whoever did not leave a row himself commits this before he stores its entry; so one who
 * did, and finds it unmarked, knows that nobody has stored it. */
bool outbox_touch(Store *store, GError **error);

bool outbox_remove(Store *store, int64_t number, GError **error);
bool outbox_remove_of(Store *store, const char *entry, GError **error);
/* Remove rows of runners' entries that are older than that: nobody will ask for them any more. */
bool outbox_expire(Store *store, int64_t before, GError **error);
