/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * What an operator's command does to entries while runners are at work
 * (INTERNALS.md, transitions O1 to O7). It takes only what is ready (.msg) or preserved
 * (.psv); what a runner holds is never touched. It claims by the same rename as a
 * runner, to a name of its own (.opc), so exactly one of the two wins, and the other finds
 * the name gone, which is harmless to both.
 *
 * One command at a time changes a spool: the lock is SPOOL/.operator, and
 * ends with the process. A command that was killed is brought to its end by the next one, by the
 * next start of any runner, or by a runner's hourly sweep, whichever comes first.
 *
 * When operate_move(), operate_flush() or operate_end() returns false the state is not known: end
 * the process without operate_end(); recovery decides. The other functions leave the entry as it was
 * where they fail; where that fails, too, operate_end() leaves the lock file as it is, and whoever settles what
 * a killed command left brings it to its end.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "switchboard/draft.h"
#include "switchboard/entry.h"
#include "switchboard/spool.h"

/* Where an entry in the queue hold came from: an object {queue, due, time}. */
#define META_ORIGIN "origin"
#define OPERATE_LOCK_FILE ".operator"

typedef struct Operate Operate;

/* What became of an entry that was given to operate_move(): error NULL when
 * it is done, durably; else it is as it was. token is the caller's. */
typedef void OperateDone(void *data, void *token, const GError *error);

/* Takes the lock and brings to its end what a killed command left. Without
 * wait, FAIL_RACE when another command (or a runner's recovery) has it. */
Operate *operate_open(Spool *spool, bool wait, OperateDone *done, void *data, GError **error);

/* Called before an entry is deleted, when no runner can take it any more: says elsewhere that it will be gone. False
 * leaves the entry as it was. */
typedef bool OperateGuard(void *data, GError **error);
void operate_set_guard(Operate *operate, OperateGuard *guard, void *data);

/* Makes everything durable and gives the lock back. */
bool operate_end(Operate *operate, GError **error);
void operate_free(Operate *operate); /* does not end */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Operate, operate_free)

/* Claims the ready entry of that name, or the preserved one (in the queue shunt only: should the command be killed,
 * it is ready then). FAIL_MISSING: it is not there in that state, a runner was faster; FAIL_NEVER: it is damaged,
 * and is where it was. */
Entry *operate_claim(Operate *operate, Queue *queue, const EntryName *name, bool preserved, GError **error);

/* Ends the claimed entry, and makes draft (NULL: nothing) in its stead: a hop.
 * Consumes both. It is done when `done` was called: after a number of entries, or with operate_flush(). */
bool operate_move(Operate *operate, Entry *entry, Draft *draft, void *token, GError **error);
bool operate_flush(Operate *operate, GError **error);

/* Puts a claimed entry back as it was. Consumes entry. */
bool operate_put_back(Operate *operate, Entry *entry, GError **error);

/* Sets the due time of a ready entry: one rename. *name is what it is called
 * then. FAIL_MISSING as above. Durable after operate_sync(). */
bool operate_set_due(Operate *operate, Queue *queue, EntryName *name, int64_t due, GError **error);

/* A preserved entry becomes ready, due now, with a crash count of 0, under
 * its own hash. One that was decided before it was set aside becomes what it was: the next start of its runner, or
 * its hourly sweep, brings it to its end. FAIL_NEVER when it is damaged. */
bool operate_retry_preserved(Operate *operate, Queue *queue, EntryName *name, GError **error);

/* Unlinks a ready or preserved file, also one that is damaged. */
bool operate_delete(Operate *operate, Queue *queue, EntryName *name, GError **error);
bool operate_delete_preserved(Operate *operate, Queue *queue, EntryName *name, GError **error);

/* Makes durable what the functions did that change an entry in place (set_due, retry_preserved, delete). */
bool operate_sync(Operate *operate, GError **error);

/* Brings a ready entry that is damaged into corrupt/, whole; or, when that cannot be, preserves it. */
bool operate_set_corrupt(Operate *operate, Queue *queue, const EntryName *name, GError **error);

/* Brings a tagged file whose parent is gone (R6) into shunt/, whole. */
bool operate_set_stray_aside(Operate *operate, Queue *queue, const char *file, GError **error);

/* Drafts for operate_move(). They keep the entry's hash, so that what was recorded about it (effects in a database)
 * still holds, and all metadata but what they are about. */
Draft *operate_draft_hold(Entry *entry);                        /* into hold */
Draft *operate_draft_release(Entry *entry, GError **error);     /* from hold; FAIL_NEVER: it has no origin */
Draft *operate_draft_again(Entry *entry, const char *queue);    /* due now */

/* From shunt back to where it was, or to the queue `to`, due now. FAIL_NEVER: to is NULL, and it has no fault. */
Draft *operate_draft_retry(Entry *entry, const char *to, GError **error);
