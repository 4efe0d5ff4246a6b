/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors
 */
#include "t/switchboard/clock.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

time_t clock_forward;
int64_t clock_step;

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int64_t ahead;
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (clock == CLOCK_REALTIME)
        now->tv_sec += clock_forward;
    if (clock == CLOCK_MONOTONIC && clock_step > 0) {
        ahead += clock_step;
        now->tv_sec += ahead / CLOCK_SECOND;
    }
    return result;
}
