/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Turn claimed entries into new entries, exactly once (INTERNALS.md, transitions T5 to T8). A claimed entry is the
 * parent of the new ones, its children. A process has one Hop. It commits a batch at a time, so that the batch shares
 * its syncs:
 *
 *   1  write every child as .tmp, tagged with its parent
 *   2  sync the children and their directories, and the directories that are still owed from step 4
 *   3  commit: rename the parents from .bak to .done and sync their directory
 *   4  publish: rename the children to .msg
 *   5  unlink the parents, after the next batch's step 2 has synced the renames of step 4, and after its step 4
 *
 * Step 5 is owed until the next commit or hop_settle().
 */
#include <glib.h>
#include <stdbool.h>

#include "switchboard/draft.h"
#include "switchboard/entry.h"

typedef struct Hop Hop;

Hop *hop_new(Spool *spool);
/* Return a hop for parents that an operator's command has claimed (operate.h). */
Hop *hop_new_operator(Spool *spool);
/* Free a hop; call hop_settle_all() before. Step 5, if it is still owed, is left for recovery. */
void hop_free(Hop *hop);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Hop, hop_free)

/* One parent and its children. Without drafts the parent ends and nothing follows it. */
typedef struct Outcome {
    Entry *parent;     /* owned */
    GPtrArray *drafts; /* of Draft, owned */
    GArray *taken;     /* of EntryName: outcome_take(); NULL: none */
    GError *error;     /* out: why this parent was not committed; it stays claimed */
} Outcome;

/* Return an outcome without drafts for a claimed entry, which is taken. */
Outcome *outcome_new(Entry *parent);
void outcome_free(Outcome *outcome);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Outcome, outcome_free)

/* Add a child; draft is taken. The child gets the parent's trace. If it has no ordinal, it gets one made of the
 * parent's ordinal and its own place. So copies of one message have different hashes. */
void outcome_add(Outcome *outcome, Draft *draft);

/* Add a further parent: a claimed entry of the parent's queue whose contents are in the children, so that it is spent.
 * It is unlinked with the parent (T8), after the commit is durable. After a crash in between, recovery puts it back
 * (R4); the caller must recognise a spent entry that comes again. The outcome must have children. When the outcome is
 * not committed, the entry stays claimed. */
void outcome_take(Outcome *outcome, const EntryName *name);

/* Commit a batch of outcomes; all parents are of one queue. True: each outcome without an error is committed. Of each
 * with an error the children are removed, and the parent stays claimed. The error is FAIL_LATER when the system has no
 * space or fails, and FAIL_NEVER when a draft cannot be written at all. False: nobody knows what is on the disk,
 * because a sync of the parents failed or a child could not be removed. Then end the process, and recovery decides. */
bool hop_commit(Hop *hop, Outcome **batch, size_t count, GError **error);

/* Sync another file, such as a database's log, together with each batch's children. What was written to it before
 * hop_commit() is then durable when the parents are decided. fd is borrowed; -1 means none. When its sync fails,
 * hop_commit() returns false. */
void hop_sync_along(Hop *hop, int fd);

/* Do what is owed: sync the target directories of the last batch and unlink its parents. Call it when there is nothing
 * else to do. Entries of outcome_take() are unlinked in portions, so that other work need not wait for a large set;
 * call it again while hop_owes() is true. False: the system failed. */
bool hop_settle(Hop *hop, GError **error);
/* Do all that is owed at once. False: the system failed. */
bool hop_settle_all(Hop *hop, GError **error);
/* Return whether something is owed. */
bool hop_owes(const Hop *hop);

/* The size of such a portion: this many entries, or 1/HOP_PORTION of those that are owed, whichever is more. */
#define HOP_PORTION 64
