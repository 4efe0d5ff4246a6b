/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Recovery and sweeping: what a crash left is brought to an end
 * (INTERNALS.md, transitions R1 to R8). Called by inbox_open() before any
 * work; the slice's former owner must be dead.
 */
#include <glib.h>
#include <stdbool.h>

#include "switchboard/slice.h"
#include "switchboard/spool.h"

/* Crashes after which an entry is set aside as .psv. */
#define RECOVER_CRASHES_LIMIT 3

typedef struct RecoverReport {
    unsigned rolled_forward; /* parents in S4 whose children were published */
    unsigned rolled_back;    /* parents in S3 put back to S2 */
    unsigned completed;      /* in S1, whole: a 250 may have been said */
    unsigned preserved;      /* parents in S3 set aside after too many crashes */
    unsigned strays;         /* tagged files without a parent, moved to shunt */
} RecoverReport;

/* Recovers slice of queue, and first what an operator's command that was killed left
 * anywhere (operate.h). Its own directory is listed; the others only when
 * it holds an entry whose children may be there, or when
 * thorough is said: that finds children whose parent is gone (R6), which nothing waits
 * for, so the skeleton does it later, when it is idle. No entry of the slice
 * may be claimed then. */
bool recover_slice(Queue *queue, Slice slice, bool thorough, RecoverReport *report, GError **error);

/* Removes untagged .tmp files of queue older than age_us, counts them in *swept; brings to its end what
 * an operator's command that was killed left anywhere. The files are of an intake that died
 * and never said 250: what a power cut left of others, recover_slice() published when the runner started. */
bool recover_sweep(Queue *queue, Slice slice, int64_t age_us, unsigned *swept, GError **error);
