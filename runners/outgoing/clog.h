/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Tells the operator when mail for one destination takes up more than a fifth of the entries that may be held: it
 * leaves slower than it comes, and others will have to wait for places. Said of each at most once in every_us.
 */
#include <glib.h>
#include <stdint.h>

typedef struct Clog {
    int64_t every_us;   /* 0: never */
    size_t entries_max; /* that may be held */
    int64_t look_at;    /* monotonic */
} Clog;

/* Has a look, now and then; held is how many entries are held. */
void clog_look(Clog *clog, const GPtrArray *transports, size_t held);
