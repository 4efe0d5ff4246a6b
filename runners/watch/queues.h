/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find slices of queues that nobody works. An entry that does nothing (META_CANARY) is put into a slice of each queue
 * through which posts and their letters pass, but for in and out. Later it is looked whether the entry was taken. All
 * slices have their turn. Rows in the store (CANARY_QUEUE in store/hosts/canary.h) record the entries. A slice whose
 * entry is still there gets no second one.
 *
 * Left out are queues whose runner is not started, or is a program of the site's own.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "store/store_type.h"
#include "switchboard/spool.h"

typedef struct Queues {
    const Config *config;
    Store *store;   /* borrowed */
    Spool *spool;   /* borrowed */
    uint64_t count; /* of turns so far */
} Queues;

/* Put one entry into the slice of each queue whose turn it is. rows, of Canary, are the records so far. False: one
 * could not be put; all others were tried, and error is the first. */
bool queues_put(Queues *queues, const GPtrArray *rows, GError **error);

/* Record which of the entries in rows were taken. late_too: look also for entries older than [watch] patience.
 * *under_way becomes true when a younger one is still there; else it stays as it is. */
bool queues_look(const Queues *queues, const GPtrArray *rows, bool late_too, bool *under_way, GError **error);

/* Forget the records of slices that no longer exist. */
bool queues_forget(const Queues *queues, const GPtrArray *rows, GError **error);

/* Return the slice that a shard key (META_SHARD) chooses. */
unsigned queues_slice_for(const char *key, unsigned slices);
/* Return the most slices that the runner may have. */
unsigned queues_slices(const Config *config, const char *runner);
