/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Plan what is to become of each message in the small world of crash_states-t (crashworld.h).
 */
#include <stdbool.h>

#include "switchboard/draft.h"
#include "t/switchboard/crashworld.h"

/* An entry that is made of a message in the queue in. */
typedef struct Kid {
    const char *queue;
    const char *recipients; /* their numbers, as letters: "a" is 0 */
} Kid;

typedef struct Plan {
    unsigned slice;        /* the slice, of two, that works it */
    bool preserve;         /* it is set aside */
    const char *enters;    /* the queue into which it is stored; NULL: in */
    bool sent;             /* the real parts of the runner out send it (crashout.h) */
    bool expires;          /* that is its last attempt */
    int takes, taken_by;   /* the message that it takes, and the one that takes it; 0: none */
    Kid kids[3], other[3]; /* other: the entries that an earlier version of the rules would have made */
} Plan;

#define LATER "cf"      /* recipients that are put off once */
#define REFUSED "dux"   /* recipients that bounce */
#define UNREACHABLE "x" /* recipients that bounce since no server takes or refuses them until the last attempt */
#define BUSY "syzz"     /* recipients that are put off as often as they stand here, each time the world begins anew */

#define CRASH_ARRIVAL INT64_C(1763644800000000)

extern const Plan crash_plans[CRASH_MESSAGES];

/* Return a draft of the message with this number. Its hash is in the slice that the plan wants. */
Draft *crashplan_draft(int number);
/* Return a draft with these bytes. */
Draft *crashplan_draft_of(const char *queue, GBytes *octets, int64_t ordinal);
/* Return the number of the message from which the entry comes. */
int crashplan_number(Entry *entry);
