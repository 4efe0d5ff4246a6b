/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Decide how many transactions may go to a destination in one flight: one behind the other over one connection, without
 * waiting for each answer (smtp_client_send_behind()). It is learnt from how long the destination takes to answer, and
 * from how earlier flights ended. The functions look at no clock: times are passed in.
 *
 * Without a wish of the site (wanted 0), flights have more than one transaction only to a slow server: no answer of
 * the last one or two spans came within PIPELINING_SLOW. The shortest answer of a span counts, so that a moment in
 * which this host is busy does not make a server slow.
 *
 * Until a flight of several transactions has come back whole, only one such flight is under way. After a flight that
 * was broken off, or whose commands the server did not understand, there is none for PIPELINING_PAUSE.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

#define PIPELINING_SLOW (CLOCK_SECOND / 200)
#define PIPELINING_SPAN (CLOCK_SECOND / 2)
#define PIPELINING_PAUSE (600 * CLOCK_SECOND)
#define PIPELINING_DEFAULT 4 /* transactions, where nothing else is wanted */

typedef struct Pipelining {
    int64_t span;          /* clock_steady(), its begin */
    int64_t least, before; /* us: the shortest answer in this span, and in the one before; 0: none */
    unsigned out;          /* flights of several transactions under way */
    bool proven;           /* the last of them came back whole */
    int64_t pause_until;   /* clock_steady() */
} Pipelining;

/* Take in that a transaction was answered after so long (us). */
void pipelining_observe(Pipelining *pipelining, int64_t took, int64_t now);

/* Return how many transactions the next flight may have; wanted is the site's wish, 0: none. */
unsigned pipelining_most(const Pipelining *pipelining, unsigned wanted, int64_t now);

/* Count a flight of several transactions that leaves. */
void pipelining_begin(Pipelining *pipelining);
/* Count a flight of several transactions that is over; whole: it was not broken off. */
void pipelining_end(Pipelining *pipelining, bool whole, int64_t now);
