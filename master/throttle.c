/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/throttle.h"

#include <glib.h>

int64_t throttle_died(Throttle *throttle, const ThrottleLimits *limits, int64_t lived, ThrottleDeath death)
{
    if (death == DEATH_RENEWAL && lived >= limits->min)
        return 0;
    if (death == DEATH_AT_WORK || lived >= limits->quiet)
        throttle->streak = 0;
    else if (death == DEATH_CHARGED)
        throttle->streak = MIN(throttle->streak, 1);
    unsigned before = throttle->streak;
    if (throttle->streak < G_MAXUINT)
        throttle->streak++;
    if (before == 0)
        return 0;
    int64_t delay = limits->min;
    for (unsigned i = 1; i < before && delay < limits->max; i++)
        delay *= 2;
    return MIN(delay, limits->max);
}
