/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Puts an entry that does nothing (META_CANARY) into a slice of each queue through which posts and their letters pass
 * beside in and out, and sees whether it is taken. All slices have their turn. So a slice that nobody works is known by
 * its name. The record is that of mails (CANARY_QUEUE in store/canary.h). A slice whose entry still lies there gets no
 * second one.
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

/* Put one entry into the slice of each queue whose turn it is. rows, of Canary: what is recorded. The first error is
 * returned, after all had their try. */
bool queues_put(Queues *queues, const GPtrArray *rows, GError **error);

/* Record which of the entries in rows were taken; late_too: look for those, too, that should have been for long.
 * *under_way is set when one should be soon, and else left. */
bool queues_look(const Queues *queues, const GPtrArray *rows, bool late_too, bool *under_way, GError **error);

/* Forget the slices that there are no longer. */
bool queues_forget(const Queues *queues, const GPtrArray *rows, GError **error);

/* The slice that the shard key (META_SHARD) chooses, and the most slices that the runner may have. */
unsigned queues_slice_for(const char *key, unsigned slices);
unsigned queues_slices(const Config *config, const char *runner);
