/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Change entries for an operator's command while runners are at work (INTERNALS.md, transitions O1 to O7). Only entries
 * that are ready (.msg) or preserved (.psv) are taken; what a runner holds is never touched. The command claims by
 * renaming to a name of its own (.opc). A runner claims by renaming the same file, so exactly one of the two wins, and
 * the other finds the name gone.
 *
 * One command at a time changes a spool. The lock is on the file SPOOL/.operator and ends with the process. What a
 * killed command left is settled by the next command, the next start of any runner, or a runner's hourly sweep.
 *
 * When operate_move(), operate_flush() or operate_end() returns false, nobody knows what is on the disk: end the
 * process without operate_end(), and recovery decides. When another function fails, it leaves the entry as it was. If
 * it cannot even do that, operate_end() leaves the lock file marked, and whoever comes next settles the rest.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "switchboard/draft.h"
#include "switchboard/entry.h"
#include "switchboard/spool.h"

/* Metadata of an entry in the queue hold: where it came from, an object {queue, due, time}. */
#define META_ORIGIN "origin"
#define OPERATE_LOCK_FILE ".operator"

typedef struct Operate Operate;

/* Tell the caller what became of an entry that was given to operate_move(). error is NULL when it was moved durably;
 * else it is as it was. token is the one of operate_move(). */
typedef void OperateDone(void *data, void *token, const GError *error);

/* Take the lock and settle what a killed command left. FAIL_RACE: wait is false, and another command or a runner's
 * recovery has the lock. */
Operate *operate_open(Spool *spool, bool wait, OperateDone *done, void *data, GError **error);

/* Record elsewhere that an entry will be gone. The guard is called before an entry is deleted, when no runner can take
 * it any more. When it returns false, the entry stays as it was. */
typedef bool OperateGuard(void *data, GError **error);
void operate_set_guard(Operate *operate, OperateGuard *guard, void *data);

/* Make everything durable and give the lock back. */
bool operate_end(Operate *operate, GError **error);
void operate_free(Operate *operate); /* does not end */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Operate, operate_free)

/* Claim the ready entry of that name, or the preserved one. A preserved one can be claimed in the queue shunt only,
 * because it becomes ready if the command is killed. FAIL_MISSING: it is not there in that state, perhaps because a
 * runner was faster. FAIL_NEVER: it is damaged, and is where it was. */
Entry *operate_claim(Operate *operate, Queue *queue, const EntryName *name, bool preserved, GError **error);

/* End a claimed entry by a hop, and store draft in its place; draft NULL: it is deleted. Both are taken. Entries are
 * moved in groups: an entry is moved when OperateDone was called for it. */
bool operate_move(Operate *operate, Entry *entry, Draft *draft, void *token, GError **error);
/* Move all entries that were given to operate_move() until now. */
bool operate_flush(Operate *operate, GError **error);

/* Put a claimed entry back as it was; entry is taken. */
bool operate_put_back(Operate *operate, Entry *entry, GError **error);

/* Set the due time of a ready entry by one rename; *name becomes its new name. It is durable after operate_sync().
 * FAIL_MISSING: it is not ready there any more. */
bool operate_set_due(Operate *operate, Queue *queue, EntryName *name, int64_t due, GError **error);

/* Make a preserved entry ready again: due now, with the crash count 0 and the same hash. FAIL_NEVER: it is damaged. */
bool operate_retry_preserved(Operate *operate, Queue *queue, EntryName *name, GError **error);

/* Unlink a ready entry, even a damaged one. */
bool operate_delete(Operate *operate, Queue *queue, EntryName *name, GError **error);
/* Unlink a preserved entry, even a damaged one. */
bool operate_delete_preserved(Operate *operate, Queue *queue, EntryName *name, GError **error);

/* Make durable what operate_set_due(), operate_retry_preserved() and the deletions did. */
bool operate_sync(Operate *operate, GError **error);

/* Move a ready entry that is damaged to corrupt/, whole; preserve it where it is when that fails. */
bool operate_set_corrupt(Operate *operate, Queue *queue, const EntryName *name, GError **error);

/* Move a tagged file without a parent (R6) to shunt/, whole. */
bool operate_set_stray_aside(Operate *operate, Queue *queue, const char *file, GError **error);

/* Make drafts for operate_move(). They keep the entry's hash, so that effects recorded in the database still count for
 * it, and its other metadata. */
Draft *operate_draft_hold(Entry *entry);                        /* into hold */
Draft *operate_draft_release(Entry *entry, GError **error);     /* from hold; FAIL_NEVER: it has no origin */
Draft *operate_draft_again(Entry *entry, const char *queue);    /* due now */

/* Make a draft that takes an entry from shunt back to its queue, or to the queue `to`, due now. FAIL_NEVER: to is NULL,
 * and the entry does not say where it came from. */
Draft *operate_draft_retry(Entry *entry, const char *to, GError **error);
