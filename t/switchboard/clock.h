/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors
 *
 * A clock_gettime() in place of that of the library, for tests that put clocks forward. Both values are 0 unless a test
 * sets them.
 */
#pragma once

#include <stdint.h>
#include <time.h>

extern time_t clock_forward; /* seconds by which CLOCK_REALTIME is ahead */
extern int64_t clock_step;   /* microseconds by which CLOCK_MONOTONIC goes further ahead at each look */
