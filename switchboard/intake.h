/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Intake: bringing entries into the switchboard from outside, where no
 * parent entry stands behind them (INTERNALS.md, transitions T1 and T2). The
 * group is written under temporary names, its files and their directories are synced together;
 * it is on disk then. It is renamed to .msg, and may be acknowledged. The rename is not
 * synced: should a power cut undo it, or the system refuse it (the log tells), the queue's runner makes it again (R8).
 */
#include "switchboard/draft.h"
#include "switchboard/spool.h"

/* One member of a group; the draft stays the caller's. */
typedef struct Intake {
    Draft *draft;
    GError *error; /* out: NULL when it is durable, else why not (owned by the caller) */
} Intake;

/* Stores the whole group sharing its syncs. Members fail one by one where
 * that can be told apart (a full disk), all of a queue where it cannot (a
 * directory sync). True when all succeeded. May be called from any one
 * thread at a time that owns the spool. A name that is already taken is
 * settled by a microsecond.
 *
 * With `once`, for a draft that is the same, hash and all, whenever it is made again: it counts as
 * success when the queue holds its name already, or held that hash, under whatever due time, when this process
 * looked: first of all, and again after a try of which it cannot know what became (spool.h). What was stored,
 * worked on and gone between is not known, and is stored again; who needs more keeps a record of its own. */
bool intake_store(Spool *spool, Intake *group, size_t count, bool once);
