/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The plan of the small world of crash_states-t: what is to become of each message.
 */
#include <stdbool.h>

#include "switchboard/draft.h"
#include "t/switchboard/crashworld.h"

/* A child of a message in in. Recipients: their numbers, as letters. */
typedef struct Kid {
    const char *queue;
    const char *recipients;
} Kid;

typedef struct Plan {
    unsigned slice; /* of two */
    bool preserve;
    const char *enters;  /* NULL: in */
    bool sent, expires;  /* by the real parts of the runner out (crashout.h); which try it for the last time */
    int takes, taken_by; /* its part; who takes it; 0: nobody */
    Kid kids[3], other[3]; /* other: what an earlier version of the rules would have made */
} Plan;

#define LATER "cf"       /* put off once */
#define REFUSED "dux"    /* bounced */
#define UNREACHABLE "x"  /* of those, whom no server takes or refuses for good */
#define BUSY "syzz"      /* of those who are sent to: put off as often, in each life of the world */

#define CRASH_ARRIVAL INT64_C(1763644800000000)

extern const Plan crash_plans[CRASH_MESSAGES];

/* The message, whose hash is in the slice that the plan wants. */
Draft *crashplan_draft(int number);
Draft *crashplan_draft_of(const char *queue, GBytes *octets, int64_t ordinal);
/* Which one the entry comes from. */
int crashplan_number(Entry *entry);
