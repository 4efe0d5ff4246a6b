/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The plan of the small world of crash_states-t: what is to become of each message.
 */
#include <stdbool.h>

#include "t/switchboard/crashworld.h"

/* A child of a message in in. Recipients: their numbers, as letters. */
typedef struct Kid {
    const char *queue;
    const char *recipients;
} Kid;

typedef struct Plan {
    unsigned slice; /* of two */
    bool preserve;
    int takes, taken_by; /* its part; who takes it; 0: nobody */
    Kid kids[3], other[3]; /* other: what an earlier version of the rules would have made */
} Plan;

#define LATER "cf"  /* put off once */
#define REFUSED "d" /* bounced */

extern const Plan crash_plans[CRASH_MESSAGES];
