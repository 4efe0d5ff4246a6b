/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Whether several transactions may be under way to a destination over one connection, one behind the other
 * (smtp_client_send_behind()): learnt from how long it takes to answer, and from what became of earlier flights. Pure:
 * times are passed in.
 *
 * Where it is left to us (wanted = 0), it must pay: no answer of the last span or two came within PIPELINING_SLOW. The
 * shortest answer counts, so that a moment in which this host is busy does not make a server slow.
 *
 * However many are wanted, the first flight goes alone until it has come back whole; one that was broken off, or whose
 * commands the server did not understand, is the last for PIPELINING_PAUSE.
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
    unsigned out;
    bool proven;
    int64_t pause_until;   /* clock_steady() */
} Pipelining;

/* A transaction was answered after so long. */
void pipelining_observe(Pipelining *pipelining, int64_t took, int64_t now);

/* How many transactions the next flight may have. */
unsigned pipelining_most(const Pipelining *pipelining, unsigned wanted, int64_t now);

/* One of more than one transaction leaves, or is over. */
void pipelining_begin(Pipelining *pipelining);
void pipelining_end(Pipelining *pipelining, bool whole, int64_t now);
