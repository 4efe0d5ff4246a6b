/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/pace.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"

#define FALL 0.9              /* of what it bears */
#define FALL_MOST 4           /* it is taken to bear one in so many of what was refused, at least */
#define FEW 10                /* recipients taken in a minute; of fewer nothing is concluded */
#define FIRST_LEAST 10        /* a second: what is thought of a destination of which nothing is known */
#define GROWTH 0.002          /* of the rate, with each recipient that is taken; more where they are rare */
#define GROWTH_MAX 0.05
#define GROWTH_A_SECOND 0.01
#define RARE 0.2              /* recipients a second */
/* So far above the refused rate for GONE_TIME, so many taken in that time: there is no such limit any more. */
#define ABOVE 1.1
#define GONE 1.05
#define GONE_TIME ((PACE_SPAN + 1) * CLOCK_SECOND)
#define SEARCH (2 * CLOCK_SECOND) /* then it doubles each so often */
#define FORGOTTEN 256         /* times what was taken in the last minute: such a pace limits nothing */
#define CLOSED 3              /* refusals in a row after which the destination is taken for closed, not for slow */
#define SLOW_START 64
#define BELIEVED 4            /* what a closed one bears becomes no less than one in so many at a time */

static void advance(Pace *pace, int64_t now)
{
    int64_t second = now / CLOCK_SECOND;
    if (second - pace->second >= PACE_SPAN) {
        memset(pace->taken, 0, sizeof pace->taken);
        memset(pace->tried, 0, sizeof pace->tried);
        pace->begun = now;
    }
    for (int64_t at = MAX(pace->second + 1, second - PACE_SPAN + 1); at <= second; at++)
        pace->taken[at % PACE_SPAN] = pace->tried[at % PACE_SPAN] = 0;
    pace->second = MAX(second, pace->second);
}

static unsigned in_span(const unsigned *ring)
{
    unsigned sum = 0;
    for (int i = 0; i < PACE_SPAN; i++)
        sum += ring[i];
    return sum;
}

/* Recipients a second over the time that the rings tell of. */
static double a_second(const Pace *pace, const unsigned *ring, int64_t now)
{
    double seconds = (double)(now - pace->begun) / CLOCK_SECOND;
    return in_span(ring) / CLAMP(seconds, 1, PACE_SPAN);
}

/* It takes mail again. One that had closed bears what it took since it opened the time before, spread over the time
 * until now: that is the limit of a server that counts by the minute. It may have been closed for another reason, and
 * so no more than a part of that is believed. */
static void resume(Pace *pace, int64_t now)
{
    if (pace->refusals >= CLOSED) {
        double bears = (double)pace->taken_open * CLOCK_SECOND / (double)MAX(now - pace->opened, CLOCK_SECOND);
        pace->refused_at = MAX(CLAMP(bears, pace->refused_at / BELIEVED, pace->refused_at), PACE_LEAST);
        pace->rate.per_second = MAX(MIN(FALL * pace->refused_at, MAX(pace->refused_at / SLOW_START, 1)), PACE_LEAST);
        pace->taken_open = 0;
        pace->opened = now;
    }
    pace->refusals = 0;
    pace->rests_until = 0;
    pace->grown = pace->above_since = now;
}

void pace_clear(Pace *pace)
{
    *pace = (Pace){0};
}

static void grow(Pace *pace, unsigned recipients, int64_t now)
{
    double rate = pace->rate.per_second;
    double seconds = (double)MAX(now - pace->grown, 0) / CLOCK_SECOND;
    if (rate < ABOVE * pace->refused_at)
        pace->above_since = now;
    /* Being allowed a higher rate proves nothing; recipients must have been taken at it, for longer than the minute by
     * which servers count. */
    bool gone = now - pace->above_since > GONE_TIME && in_span(pace->taken) > GONE * pace->refused_at * PACE_SPAN;
    if (rate < FALL * pace->refused_at || gone) { /* what is known to be borne is reached fast, what is not slowly */
        if (now - pace->grown < (gone ? SEARCH : CLOCK_SECOND))
            return;
        pace->rate.per_second = gone ? 2 * rate : MIN(2 * rate, FALL * pace->refused_at);
        if (gone && pace->rate.per_second * PACE_SPAN > FORGOTTEN * in_span(pace->taken)) {
            pace_clear(pace);
            return;
        }
    } else {
        /* By recipients, so that a pace that nobody uses stays; and by time at most, so that a burst that is taken all
         * at once does not double it. Of a few recipients an hour each must count for more, or it would take a day. */
        double each = MIN(GROWTH * MAX(RARE / rate, 1), GROWTH_MAX);
        double growth = MIN(each * recipients, rate > RARE ? GROWTH_A_SECOND * seconds : GROWTH_MAX);
        pace->rate.per_second = rate * (1 + growth);
    }
    pace->grown = now;
}

void pace_taken(Pace *pace, unsigned recipients, int64_t now)
{
    advance(pace, now);
    if (pace->since == 0 && now - pace->opened > PACE_SPAN * CLOCK_SECOND) {
        pace->opened = now;
        pace->taken_open = 0;
    }
    pace->taken[pace->second % PACE_SPAN] += recipients;
    pace->taken_open += recipients;
    pace->tried[pace->second % PACE_SPAN] += recipients;
    if (pace->rate.per_second <= 0)
        return;
    if (pace_rests(pace))
        resume(pace, now);
    else
        grow(pace, recipients, now);
}

/* The first refusal after something was taken says that the rate is too high. */
static void fall(Pace *pace, int64_t now)
{
    if (pace->rate.per_second > 0 && pace->rate.per_second < FALL * pace->refused_at - 1e-9) {
        /* It is on its way up from a careful beginning, so what was taken until now was limited by us, and is no
         * measure of what the server bears. Only the rate that was just refused is known to be too high. */
        pace->refused_at = MAX(pace->refused_at / 2, pace->rate.per_second);
        pace->rate.per_second = MAX(pace->rate.per_second / 2, PACE_LEAST);
        return;
    }
    double tried = a_second(pace, pace->tried, now);
    bool enough = in_span(pace->taken) >= FEW;
    if (pace->rate.per_second <= 0 && !enough) {
        pace->refused_at = MAX(tried, FIRST_LEAST);
    } else {
        double rate = pace->rate.per_second > 0 ? MIN(pace->rate.per_second, tried) : tried;
        double least = MAX(rate / (enough ? FALL_MOST : 2), PACE_LEAST);
        pace->refused_at = CLAMP(a_second(pace, pace->taken, now), least, MAX(rate, least));
    }
    pace->rate.per_second = MAX(FALL * pace->refused_at, PACE_LEAST);
}

void pace_refused(Pace *pace, unsigned recipients, int64_t now)
{
    pace_rate(pace, now); /* what is old is forgotten first */
    advance(pace, now);
    pace->tried[pace->second % PACE_SPAN] += recipients;
    pace->refused = now;
    if (pace->since == 0)
        pace->since = now;
    if (now < pace->rests_until) /* it was under way when the first one was refused, and tells nothing new */
        return;
    if (!pace_rests(pace)) /* the refusals of a rest tell that it is not over, not that the rate is still too high */
        fall(pace, now);
    pace->refusals++;
    int64_t rest = CLOCK_SECOND << MIN(pace->refusals - 1, 10u);
    pace->rests_until = now + MIN(rest, PACE_REST_MAX);
}

Rate pace_rate(Pace *pace, int64_t now)
{
    if (pace->rate.per_second > 0 && now - pace->refused > PACE_MEMORY)
        pace_clear(pace);
    return pace->rate;
}
