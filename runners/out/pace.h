/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The pace that a destination was found to bear, learnt from refusals that say "too fast" (the scope `group` of
 * reply_table.h). Without such a refusal there is no limit.
 *
 * The first refusal sets the rate to what the destination took in the minute before. From there the rate is doubled,
 * once a second at most, with a success, until it is refused again (it was too careful); halved then, and from then
 * on it grows by 0.3 % a recipient taken and falls by a fifth a refusal: so it hovers just below what is borne, and
 * refusals are few. A rate that has not been refused for PACE_MEMORY is forgotten. Pure.
 */
#include <stdbool.h>
#include <stdint.h>

#include "runners/out/bucket.h"

#define PACE_SPAN 60 /* seconds that are looked back on */
#define PACE_MEMORY (INT64_C(4) * 3600 * 1000000)

typedef struct Pace {
    Rate rate;       /* 0: no limit is known */
    bool searching;  /* it doubles */
    int64_t doubled; /* when last */
    int64_t refused; /* the last refusal */
    int64_t lowered; /* the last that counted */
    unsigned taken[PACE_SPAN]; /* successes by second, a ring */
    int64_t second;  /* the last one of the ring */
} Pace;

void pace_success(Pace *pace, unsigned recipients, int64_t now);
void pace_refused(Pace *pace, int64_t now);

/* Forgets what is old. */
Rate pace_rate(Pace *pace, int64_t now);
