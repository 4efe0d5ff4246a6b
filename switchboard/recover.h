/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Bring entries of a slice that a crash left half done to an end (INTERNALS.md, transitions R1 to R9, states S1 to S5).
 * inbox_open() calls this before any work. The process that worked the slice before must be dead.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/clock.h"
#include "switchboard/slice.h"
#include "switchboard/spool.h"

/* An entry that has crashed its runner this often is set aside as .psv. After its first crash it is due again in
 * RECOVER_CRASH_DELAY microseconds, after the second in twice that time, so that others go before it. */
#define RECOVER_CRASHES_LIMIT 3
#define RECOVER_CRASH_DELAY CLOCK_SECOND

/* The interval, in microseconds, at which an idle runner calls recover_intake(), and the age that it passes: living
 * intake finishes a file much sooner. */
#define RECOVER_INTAKE_INTERVAL (300 * CLOCK_SECOND)

typedef struct RecoverReport {
    unsigned rolled_forward; /* parents in S4 whose children were published */
    unsigned rolled_back;    /* parents in S3 put back to S2 */
    unsigned completed;      /* entries in S1 that were whole, so that a 250 may have been said; now in S2 */
    unsigned preserved;      /* parents in S3 set aside after too many crashes */
    unsigned left;           /* entries in S1 that were whole but could not be synced; tried again the next time */
    unsigned strays;         /* tagged files without a parent, moved to shunt */
    bool missing;            /* it failed, and changed nothing, because the directory of a queue is gone */
    bool unsettled;          /* it failed, and nobody knows which children and parents are on the disk */
} RecoverReport;

/* Recover a slice of a queue. Before that, settle what a killed command of the operator left anywhere (operate.h).
 *
 * The queue's own directory is read. The other queues' directories are read when the slice holds an entry that may have
 * children there, or when thorough is true. A thorough recovery also finds children whose parent is gone (R6). Nothing
 * waits for those, so a runner makes it later, while it is idle. No entry of the slice may be claimed meanwhile.
 *
 * Unless thorough is true, every queue's directory is synced when the slice holds anything that may have children.
 *
 * False: the system failed. If report->unsettled is set then, end the process: no work may begin on this slice before
 * another process has recovered it. If it is not set, nothing was changed that matters. A child without a parent that
 * cannot be moved is logged and stays; that is no failure. */
bool recover_slice(Queue *queue, Slice slice, bool thorough, RecoverReport *report, GError **error);

/* Publish whole entries older than age_us microseconds that dead intake left (R8), and count them in *completed. May be
 * called while the slice's runner works, and beside living intake. */
bool recover_intake(Queue *queue, Slice slice, int64_t age_us, unsigned *completed, GError **error);

/* Remove untagged .tmp files older than age_us microseconds that are not whole entries, and count them in *swept: their
 * intake died and never said 250. Publish whole ones as recover_intake() does, and settle what a killed command of the
 * operator left anywhere. */
bool recover_sweep(Queue *queue, Slice slice, int64_t age_us, unsigned *swept, GError **error);
