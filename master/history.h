/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep figures of runners over the last hour, day and month, in a ring file of fixed size: how much each did, the most
 * that waited meanwhile, and how long mail took. The file is for looking back alone, so nothing of it is synced. A file
 * that is damaged, or of another version or byte order, is begun anew.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/delays.h"

#define HISTORY_RUNNERS 32 /* of more nothing is kept */

typedef struct HistorySample {
    const char *runner;
    uint64_t done;    /* entries since the sample before */
    uint64_t backlog;
    uint64_t oldest;  /* seconds that the oldest entry has waited; 0: none does */
} HistorySample;

typedef struct History History;

/* Open the file `history` in the directory; it is made where there is none. Never NULL: without a file figures are kept
 * until the end of the process, and the log says why. */
History *history_open(int dir_fd);
void history_free(History *history); /* NULL is none */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(History, history_free)

/* Add a sample of each runner at now (us since 1970). delays is that of all recipients since the sample before. */
void history_add(History *history, int64_t now, const HistorySample *samples, size_t count, const Delays *delays);

struct Master;
/* Add a sample of what each runner of the master has done once a minute, by a timer in its loop. master is borrowed. */
void history_follow(History *history, const struct Master *master);

/* Return the figures of "hour", "day" or "month" until now, a new reference; NULL: there is no such range.
 *
 *   {period (seconds), until ("2026-11-28T10:00:00Z"), runners: {NAME: {done: [...], backlog: [...], oldest: [...]}},
 *    delays: {tried: {half: [...], most: [...], recipients, all_half, all_most}, settled: the same}}
 *
 * Each array has a figure a period, the oldest first; null: there was no sample. delays (base/delays.h) are seconds:
 * half of the recipients (half), or 99 of 100 (most), were tried for the first time or settled within so many. all_half
 * and all_most are those of all periods together. null: there were no recipients. */
json_t *history_json(const History *history, const char *range, int64_t now);
