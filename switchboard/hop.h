/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The hop: claimed entries become new entries, exactly once (INTERNALS.md,
 * transitions T5 to T8). One Hop object serves one process; it commits a
 * batch at a time so that the batch shares its syncs, and it owes the last
 * batch's clean-up until the next commit or hop_settle().
 *
 *   1  write every child as .tmp, tagged with its parent
 *   2  sync the children and their directories (and those still owed)
 *   3  the commit. A few parents: LISTRUNNER is written into the head of each, and
 *      their files are synced, which needs no journal. More: they are renamed
 *      .bak -> .done, and their directory is synced.
 *   4  publish: rename the children to .msg
 *   5  later, when the next batch's step 2 has synced what step 4 did, and after its step 4, for which others
 *      wait: the parents are unlinked
 */
#include <glib.h>
#include <stdbool.h>

#include "switchboard/draft.h"
#include "switchboard/entry.h"

typedef struct Hop Hop;

Hop *hop_new(Spool *spool);
Hop *hop_new_operator(Spool *spool); /* its parents are claimed by operate.h */
void hop_free(Hop *hop); /* does not settle */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Hop, hop_free)

/* One parent and what becomes of it. Without drafts the parent just ends. */
typedef struct Outcome {
    Entry *parent;     /* owned */
    GPtrArray *drafts; /* of Draft, owned */
    GArray *taken;     /* of EntryName: outcome_take(); NULL: none */
    GError *error;     /* out: why this parent was not committed; it is still claimed */
} Outcome;

/* Consumes parent. */
Outcome *outcome_new(Entry *parent);
void outcome_free(Outcome *outcome);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Outcome, outcome_free)

/* Adds a child; consumes draft. It gets the parent's trace, and as ordinal the parent's
 * ordinal and its own place unless one is set, so that copies of one message differ. */
void outcome_add(Outcome *outcome, Draft *draft);

/* A further parent: an entry of the parent's queue, claimed too, that is spent because the children
 * contain what it held. It goes when the parent goes (T8), so never before the commit is durable. A crash
 * in between leaves it claimed, and recovery puts it back (R4): whoever takes entries must know a spent one when it
 * comes again. Only for an outcome with children. When the outcome is not committed, it stays claimed. */
void outcome_take(Outcome *outcome, const EntryName *name);

/* Commits a batch of outcomes whose parents are all of one queue. On true
 * each outcome either is committed (error NULL) or kept its parent claimed and
 * lost its children (error set: FAIL_LATER for want of space and the like,
 * FAIL_NEVER for a draft that cannot be written). On false with error set
 * the state of the commit is not known (a sync of the parents' directory
 * failed, or a child could not be taken back): the process must end, recovery
 * decides. */
bool hop_commit(Hop *hop, Outcome **batch, size_t count, GError **error);

/* Another file (a database's log) to sync with each batch's children, before
 * the commit; what was written to it before hop_commit() is durable when the
 * parents are decided. Borrowed; -1: none. A failed sync of it counts as an unknown commit. */
void hop_sync_along(Hop *hop, int fd);

/* Pays what is owed: syncs the target directories of the last batch, unlinks
 * its parents. Called when there is nothing else to do. Of entries that were
 * taken, some may be left, so that others need not wait for a set of many:
 * again while hop_owes() says so, or hop_settle_all(). */
bool hop_settle(Hop *hop, GError **error);
bool hop_settle_all(Hop *hop, GError **error);
bool hop_owes(const Hop *hop);

/* How many taken entries are unlinked in one go, or one part in so many of those owed, if that is more. Their parent
 * goes after them. */
#define HOP_PORTION 64
