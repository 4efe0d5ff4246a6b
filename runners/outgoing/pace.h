/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Learn at which pace mail may go to a destination, in recipients a second, from refusals that speak of rate or volume.
 * Without such a refusal there is no limit.
 *
 * A refusal makes the destination rest: for 1 s, then 2 s, 4 s, at most PACE_REST_MAX, while nothing but refusals
 * comes. What was under way together and is refused during the rest counts as one refusal. After the rest one recipient
 * is tried. When it is taken, mail goes on at nine tenths of what the destination was found to bear. That is what it
 * took in the minute before the refusal, but no less than half of the refused rate. Where enough was taken to know, it
 * may be as low as a quarter. So it falls by steps, and one bad minute ruins nothing. A destination that refused
 * several times in a row begins with a 64th of that, or one a second, and doubles it each second up to there.
 *
 * Near the refused rate the pace grows by 0.2 % with each recipient, 1 % a second at most. When it was a tenth
 * above for a minute, there is no such limit any more: it doubles every two seconds, and is forgotten when it
 * limits nothing. It is never below PACE_LEAST, and forgotten when nothing was refused for PACE_MEMORY.
 *
 * The functions look at no clock: the caller passes the time as now (clock_steady(), microseconds). A Pace of zeros
 * knows nothing yet.
 */
#include <stdbool.h>
#include <stdint.h>

#include "runners/outgoing/bucket.h"

#define PACE_SPAN 60 /* seconds that are looked back on */
#define PACE_LEAST (1.0 / 60)
#define PACE_REST_MAX (INT64_C(60) * 1000000)
#define PACE_MEMORY (INT64_C(3600) * 1000000)

typedef struct Pace {
    Rate rate;         /* 0: no limit is known */
    double refused_at; /* the rate that was refused */
    int64_t since;     /* the first refusal of those remembered */
    int64_t refused;   /* the last */
    unsigned refusals; /* in a row */
    int64_t rests_until;
    int64_t above_since; /* the rate is well above the refused one since then */
    int64_t grown;     /* when the rate last grew */
    int64_t opened;    /* the begin of the time that it was last found open */
    uint64_t taken_open; /* recipients since then */
    int64_t begun;     /* the first recipient of those in taken and tried */
    unsigned taken[PACE_SPAN], tried[PACE_SPAN]; /* recipients by second, two rings */
    int64_t second;    /* the last one of the rings */
} Pace;

/* Note that the destination dealt with this many recipients, whatever it said of them. */
void pace_taken(Pace *pace, unsigned recipients, int64_t now);
/* Note that the destination refused this many recipients because of rate or volume. */
void pace_refused(Pace *pace, unsigned recipients, int64_t now);

/* Forget all that was learnt. */
void pace_clear(Pace *pace);

/* Return the rate to keep; 0: there is no limit. Forget first all that was learnt more than PACE_MEMORY ago. */
Rate pace_rate(Pace *pace, int64_t now);

/* Return true when the destination rests: nothing may go until rests_until, and then one recipient alone. */
static inline bool pace_rests(const Pace *pace)
{
    return pace->refusals > 0;
}
