/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Count how long mail took: recipients, by the time since the post was accepted. The columns double from a sixteenth of
 * a second to three days, so that a figure taken from them is right within a factor of two at worst. The runner out
 * counts and tells the master with its beats (base/contract.h); the master keeps the counts (master/history.h).
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define DELAYS_COLUMNS 24 /* the upper bound of column i is 2^i / 16 seconds; the last one has none */

typedef enum DelayUntil {
    DELAY_UNTIL_TRIED,   /* the first attempt came to its end */
    DELAY_UNTIL_SETTLED, /* the recipient was delivered, or refused for good */
    DELAY_KINDS,
} DelayUntil;

typedef struct Delays {
    uint64_t counts[DELAY_KINDS][DELAYS_COLUMNS];
} Delays;

/* Count recipients for which it took this long (microseconds). */
void delays_add(Delays *delays, DelayUntil until, int64_t delay, uint64_t recipients);

/* Return the number of all recipients that were counted. */
uint64_t delays_count(const Delays *delays, DelayUntil until);

/* Append the counts of one kind, "0,3,17"; zeros at the end are left out, so "" is none at all. */
void delays_print(const Delays *delays, DelayUntil until, GString *text);
/* Read such counts. Return false when the text is none; counts may be changed then. */
bool delays_parse(const char *text, uint64_t counts[DELAYS_COLUMNS]);

/* Return the time in seconds within which this part (0 to 1) of the recipients was tried or settled, as if times were
 * spread evenly in a column. In the last column, which has no upper bound, return its lower one. -1: no recipients. */
double delays_within(const uint64_t counts[DELAYS_COLUMNS], double part);
