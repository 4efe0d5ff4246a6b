/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Remember entries that were put off because they wait for one destination, so that they can be called back before they
 * are due. After PARKED_MAX no more are remembered; the others come when they are due.
 */
#include <glib.h>
#include <stdint.h>

#define PARKED_MAX 200000 /* as many as an inbox knows */

typedef struct Parked {
    unsigned source; /* the index of its inbox (finish.h) */
    uint8_t hash[20];
    int64_t due;     /* clock_now() */
    int64_t arrival; /* of the mail */
} Parked;

/* The entries that are remembered for one destination. All zero: none. */
typedef struct ParkedEntries {
    GArray *all;   /* of Parked, oldest first; NULL: none */
    guint most;    /* at this length, entries that are due by now are dropped */
    int64_t look;  /* clock_now(): they are not dropped before this time */
} ParkedEntries;

/* Remember an entry, unless PARKED_MAX are remembered. */
void parked_add(ParkedEntries *entries, const Parked *parked, int64_t now);
/* Return how many are not due yet. */
size_t parked_count(const ParkedEntries *entries, int64_t now);
/* Move all remembered entries to an array of Parked, and sort that by arrival. */
void parked_move(ParkedEntries *entries, GArray *to);
/* Forget all. */
void parked_clear(ParkedEntries *entries);
