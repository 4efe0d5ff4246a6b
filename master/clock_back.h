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
    int64_t offset; /* of the wall clock from the monotonic one: the largest known; 0: none */
    int64_t since;  /* monotonic: it is less by CLOCK_BACK_MIN or more; 0: it is not */
} ClockBack;

#define CLOCK_BACK_MIN (60 * CLOCK_SECOND)

/* Look at the clocks, now and then. Return by how many microseconds the wall clock was set back not too long ago, or
 * 0. */
int64_t clock_back_look(ClockBack *back, int64_t wall, int64_t monotonic);
