/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Decide how long to wait before a dead child is started again. The first death is answered at once; then the delay
 * doubles from min to max as long as the child keeps dying before it has lived `quiet`. Deaths that an entry is charged
 * with (base/contract.h) are few for each entry, and other entries wait behind it. So such a death is answered at once
 * when something got done before, else after min. All times are in microseconds. Nothing here reads a clock.
 */
#include <stdint.h>

typedef struct ThrottleLimits {
    int64_t min, max, quiet;
} ThrottleLimits;

typedef struct Throttle {
    unsigned streak; /* deaths since the last life that was good */
} Throttle;

typedef enum ThrottleDeath {
    DEATH_OTHER,
    DEATH_CHARGED, /* to an entry, before anything was done */
    DEATH_AT_WORK, /* to an entry, after others were done */
    DEATH_RENEWAL, /* the child left to be started anew: no death at all, unless it lived shorter than min */
} ThrottleDeath;

/* Count a death after a life of `lived` and return the delay. */
int64_t throttle_died(Throttle *throttle, const ThrottleLimits *limits, int64_t lived, ThrottleDeath death);
