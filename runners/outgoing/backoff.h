/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Decide how long refused mail waits before it is tried again, and when it is given up. Without a schedule it waits as
 * long as it is old, within min_us and max_us. A schedule is a row of waits. The mail's age tells which of them is
 * next: a step is over when the mail is as old as the sum of the waits up to it. The last step repeats.
 *
 * By chance a wait is a little longer, so that mails which failed together do not come back all at once. It is never
 * shorter, because a server that greylists counts the time, and refuses a mail that comes a second early.
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
    size_t count;         /* of steps; 0: there is no schedule */
} Backoff;

/* Return how long mail of this age waits, in us. chance is a random number, 0 <= chance < 1. */
int64_t backoff_delay(const Backoff *backoff, int64_t age_us, double chance);
/* Return the longest wait that backoff_delay() may give. */
int64_t backoff_longest(const Backoff *backoff);
/* Return true when mail of this age is not to be tried again. */
bool backoff_expired(const Backoff *backoff, int64_t age_us);
