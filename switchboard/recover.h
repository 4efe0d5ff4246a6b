/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Recovery and sweeping: what a crash left is brought to an end
 * (INTERNALS.md, transitions R1 to R9). Called by inbox_open() before any
 * work; the slice's former owner must be dead.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/clock.h"
#include "switchboard/slice.h"
#include "switchboard/spool.h"

/* Crashes after which an entry is set aside as .psv. Before that it waits, so that others go before it: after the
 * first crash for RECOVER_CRASH_DELAY microseconds, after the second for twice as long. */
#define RECOVER_CRASHES_LIMIT 3
#define RECOVER_CRASH_DELAY CLOCK_SECOND

/* How often a runner that is idle calls recover_intake(), and the age that it says: intake is not
 * at one file for so long. */
#define RECOVER_INTAKE_INTERVAL (300 * CLOCK_SECOND)

typedef struct RecoverReport {
    unsigned rolled_forward; /* parents in S4 whose children were published */
    unsigned rolled_back;    /* parents in S3 put back to S2 */
    unsigned completed;      /* in S1, whole: a 250 may have been said */
    unsigned preserved;      /* parents in S3 set aside after too many crashes */
    unsigned left;           /* in S1, whole, and could not be synced: the log tells, and the next time will do */
    unsigned strays;         /* tagged files without a parent, moved to shunt */
    bool unsettled;          /* it failed, and nobody knows what is on the disk of children and their parents */
} RecoverReport;

/* Recovers slice of queue, and first what an operator's command that was killed left
 * anywhere (operate.h). Its own directory is listed; the others only when
 * it holds an entry whose children may be there, or when
 * thorough is said: that finds children whose parent is gone (R6), which nothing waits
 * for, so the skeleton does it later, when it is idle. No entry of the slice
 * may be claimed then. Where its directory holds anything that may have children, every queue's directory is synced,
 * unless thorough is said. When it fails with report->unsettled, no work may begin on an entry of the slice before it
 * succeeded in another process: end this one. Else nothing was changed that anything hangs on. What
 * fails with a stray is logged, and the stray stays. */
bool recover_slice(Queue *queue, Slice slice, bool thorough, RecoverReport *report, GError **error);

/* Publishes what intake that died left whole and is older than age_us (R8), counted in *completed: also while the
 * runner of the slice, who calls it, is alive, and beside intake that lives. */
bool recover_intake(Queue *queue, Slice slice, int64_t age_us, unsigned *completed, GError **error);

/* Removes untagged .tmp files of queue older than age_us that are no whole entries, counts them in *swept; what is
 * whole it publishes as recover_intake() does. Brings to its end what an operator's command that was killed left
 * anywhere. What is removed is of an intake that died and never said 250. */
bool recover_sweep(Queue *queue, Slice slice, int64_t age_us, unsigned *swept, GError **error);
