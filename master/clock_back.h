/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Notice that the wall clock was set back. Entries that were put off before are due by the old clock, so each waits
 * longer by as much as the clock was set back. Once that much time has passed, the change is over.
 */
#include <stdint.h>

#include "base/clock.h"

typedef struct ClockBack {
    int64_t offset; /* the largest known of wall - monotonic; 0: none is known */
    int64_t since;  /* monotonic: since when wall - monotonic is less by CLOCK_BACK_MIN or more; 0: it is not less */
} ClockBack;

#define CLOCK_BACK_MIN (60 * CLOCK_SECOND)

/* Call it again and again with the time that both clocks show (us). Return by how many microseconds the wall clock was
 * set back, as long as less time than that has passed since; else 0. Less than CLOCK_BACK_MIN counts as 0. */
int64_t clock_back_look(ClockBack *back, int64_t wall, int64_t monotonic);
