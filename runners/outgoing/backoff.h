/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * How long refused mail waits: as long as it is old, within limits, or by a schedule; and a little longer by chance, so
 * that what failed together does not come back all at once. It is never shorter, because a server that greylists counts
 * the time: who comes a second early waits once more. A schedule is a row of waits. Which of them is next is told
 * from the age: each step is over when the mail is as old as the waits so far come to.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Backoff {
    int64_t min_us;
    int64_t max_us;
    int64_t lifetime_us; /* an attempt at this age or later is the last */
    unsigned jitter;     /* percent, the most by which a wait is longer */
    const int64_t *steps; /* us: the schedule, borrowed */
    size_t count;         /* 0: none */
} Backoff;

/* chance is a random number, 0 <= chance < 1. */
int64_t backoff_delay(const Backoff *backoff, int64_t age_us, double chance);
bool backoff_expired(const Backoff *backoff, int64_t age_us);
