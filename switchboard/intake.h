/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Store entries that come from outside and have no parent (INTERNALS.md, transitions T1 and T2). A group is written
 * under temporary names, and its files and their directories are synced together. From then on it is on the disk and
 * may be acknowledged. Then it is renamed to .msg. The rename is not synced: if a power cut undoes it, or the system
 * refuses it (which is logged), the queue's runner repeats it (R8).
 */
#include "switchboard/draft.h"
#include "switchboard/spool.h"

/* One entry of a group; the draft stays the caller's. */
typedef struct Intake {
    Draft *draft;
    GError *error; /* out: NULL when it is durable, else why not (owned by the caller) */
} Intake;

/* Store the whole group, sharing its syncs. Return true when all members were stored; else the error of each member
 * that failed is set, and the others are stored. A full disk fails single members; the failed sync of a directory fails
 * all members of that queue. Only one thread at a time may use the spool. A name that is taken is avoided by adding a
 * microsecond.
 *
 * once is for drafts that come out the same, hash included, when they are made again. Such a draft counts as stored
 * when the queue holds its name. It also does when the queue held its hash, under any due time, as this process last
 * looked: at its first question, and again after a try whose result it cannot know (queue_held()). An entry that was
 * stored, worked on and gone in between is stored again. A caller for whom that is wrong keeps a record of its own. */
bool intake_store(Spool *spool, Intake *group, size_t count, bool once);
