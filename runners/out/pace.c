/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/out/pace.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"

/* Not below one an hour: a limit is found from there in minutes, and it is nearly nothing. */
#define SLOWEST (1.0 / 3600)
#define GROWTH 1.003
#define FALL 0.8
/* Several refusals of what was under way together are one. */
#define TOGETHER (2 * CLOCK_SECOND)

static void advance(Pace *pace, int64_t now)
{
    int64_t second = now / CLOCK_SECOND;
    if (second - pace->second >= PACE_SPAN)
        memset(pace->taken, 0, sizeof pace->taken);
    else
        for (int64_t at = pace->second + 1; at <= second; at++)
            pace->taken[at % PACE_SPAN] = 0;
    pace->second = MAX(second, pace->second);
}

static unsigned taken(const Pace *pace)
{
    unsigned sum = 0;
    for (int i = 0; i < PACE_SPAN; i++)
        sum += pace->taken[i];
    return sum;
}

void pace_success(Pace *pace, unsigned recipients, int64_t now)
{
    advance(pace, now);
    pace->taken[pace->second % PACE_SPAN] += recipients;
    if (pace->rate.per_second <= 0)
        return;
    if (!pace->searching)
        pace->rate.per_second *= pow(GROWTH, MIN(recipients, 100u));
    else if (now - pace->doubled >= CLOCK_SECOND) {
        pace->rate.per_second *= 2;
        pace->doubled = now;
    }
}

void pace_refused(Pace *pace, int64_t now)
{
    advance(pace, now);
    bool first = pace->rate.per_second <= 0;
    pace->refused = now;
    if (first) {
        pace->rate.per_second = MAX(taken(pace), 1u) / (double)PACE_SPAN;
        pace->searching = true;
        pace->doubled = pace->lowered = now;
        return;
    }
    if (now - pace->lowered < TOGETHER)
        return;
    pace->lowered = now;
    pace->rate.per_second = MAX(pace->rate.per_second * (pace->searching ? 0.5 : FALL), SLOWEST);
    pace->searching = false;
}

Rate pace_rate(Pace *pace, int64_t now)
{
    if (pace->rate.per_second > 0 && now - pace->refused > PACE_MEMORY)
        *pace = (Pace){0};
    return pace->rate;
}
