/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Notice that the wall clock was set back. Entries that were put off before are due by the old clock, so they wait that
 * much longer, until it has been made up for.
 */
#include <stdint.h>

#include "base/clock.h"

typedef struct ClockBack {
    int64_t offset; /* the largest known of wall - monotonic; 0: none is known */
    int64_t since;  /* monotonic time since which it is less by CLOCK_BACK_MIN or more; 0: it is not */
} ClockBack;

#define CLOCK_BACK_MIN (60 * CLOCK_SECOND)

/* Give it what both clocks show, now and then. Return by how many microseconds the wall clock was set back; 0 if it was
 * not, or as soon as so much time has passed since. */
int64_t clock_back_look(ClockBack *back, int64_t wall, int64_t monotonic);
