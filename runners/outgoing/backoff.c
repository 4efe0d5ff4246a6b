/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/backoff.h"

#include <glib.h>

#include "base/clock.h"

static int64_t step(const Backoff *backoff, int64_t age_us)
{
    int64_t over = 0;
    size_t at = 0;
    for (; at + 1 < backoff->count; at++) {
        over += backoff->steps[at];
        if (age_us < over)
            break;
    }
    return backoff->steps[at];
}

int64_t backoff_delay(const Backoff *backoff, int64_t age_us, double chance)
{
    int64_t delay = backoff->count > 0 ? step(backoff, age_us)
                                       : CLAMP(age_us, backoff->min_us, MAX(backoff->min_us, backoff->max_us));
    return delay + (int64_t)((double)delay * backoff->jitter / 100 * chance);
}

int64_t backoff_longest(const Backoff *backoff)
{
    int64_t longest = backoff->count > 0 ? 0 : MAX(backoff->min_us, backoff->max_us);
    for (size_t at = 0; at < backoff->count; at++)
        longest = MAX(longest, backoff->steps[at]);
    return longest + (int64_t)((double)longest * backoff->jitter / 100);
}

bool backoff_expired(const Backoff *backoff, int64_t age_us)
{
    return age_us >= backoff->lifetime_us;
}
