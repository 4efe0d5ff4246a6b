/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Warn the operator in the log when mail for one destination takes up more than a fifth of the entries that may be
 * held. Such mail leaves more slowly than it comes, and other mail will have to wait for places. Each destination is
 * named at most once in every_us.
 */
#include <glib.h>
#include <stdint.h>

typedef struct Clog {
    int64_t every_us;   /* 0: never */
    size_t entries_max; /* how many entries may be held */
    int64_t look_at;    /* monotonic: the next look */
} Clog;

/* Look, if it is time, at the destinations of all transports; held is how many entries are held. Call it often. */
void clog_look(Clog *clog, const GPtrArray *transports, size_t held);
