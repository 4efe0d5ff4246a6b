/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "switchboard/operate.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "switchboard/corrupt_internal.h"
#include "switchboard/format_internal.h"
#include "switchboard/hop.h"
#include "switchboard/operate_internal.h"
#include "switchboard/suffix_internal.h"

/* Entries that share their syncs. */
#define BATCH_MAX 100

struct Operate {
    Spool *spool;
    int lock;
    Hop *hop;
    OperateDone *done;
    void *data;
    OperateGuard *guard;
    void *guard_data;
    bool marked;           /* the lock file says that something may be left */
    bool left;             /* and so it is: a claimed entry that could not be brought to an end */
    Queue *queue;          /* of the batch */
    GPtrArray *outcomes;   /* of Outcome */
    GPtrArray *tokens;
    GPtrArray *touched;    /* of Queue: to be synced */
    GHashTable *leftovers; /* operate_internal.h */
};

Operate *operate_open(Spool *spool, bool wait, OperateDone *done, void *data, GError **error)
{
    auto_fd lock = operate_lock(spool, wait, error);
    if (lock < 0)
        return NULL;
    g_autoptr(Operate) operate = g_new0(Operate, 1);
    operate->spool = spool;
    operate->lock = auto_fd_steal(&lock);
    operate->hop = hop_new_operator(spool);
    operate->done = done;
    operate->data = data;
    operate->outcomes = g_ptr_array_new_with_free_func((GDestroyNotify)outcome_free);
    operate->tokens = g_ptr_array_new();
    operate->touched = g_ptr_array_new();
    operate->leftovers = operate_leftovers_new();
    if (!operate_settle(spool, operate->lock, operate->leftovers, error))
        return NULL;
    return g_steal_pointer(&operate);
}

void operate_set_guard(Operate *operate, OperateGuard *guard, void *data)
{
    operate->guard = guard;
    operate->guard_data = data;
}

void operate_free(Operate *operate)
{
    if (!operate)
        return;
    g_ptr_array_unref(operate->outcomes);
    g_ptr_array_unref(operate->tokens);
    g_ptr_array_unref(operate->touched);
    g_hash_table_unref(operate->leftovers);
    hop_free(operate->hop);
    close(operate->lock);
    g_free(operate);
}

static void touch(Operate *operate, Queue *queue)
{
    if (!g_ptr_array_find(operate->touched, queue, NULL))
        g_ptr_array_add(operate->touched, queue);
}

/* Write down, before the first claim, that an operator's command may leave something to settle: after a crash, whoever
 * comes next looks for it. All queues are synced as well. A runner that took back the children of an undone run may not
 * have synced that yet. It would do so at its next start, when it finds the parent again; but we take the parent
 * away. */
static bool mark(Operate *operate, GError **error)
{
    if (operate->marked)
        return true;
    g_autofree char *since = clock_text(clock_now());
    g_autofree char *text = g_strdup_printf("pid %ld since %s\n", (long)getpid(), since);
    operate->marked = fs_pwrite(operate->lock, text, strlen(text), 0, error) &&
                      fs_sync_file(operate->lock, error) && fs_sync_dir(spool_fd(operate->spool), error) &&
                      spool_sync_queues(operate->spool, error);
    return operate->marked;
}

/* Remove the children that an undone run of a runner left of the entry that was claimed (R5 of PROOF.md). If we are
 * killed before the sync, the mark is on the disk, and whoever settles syncs the queues. */
static bool take_back_leftovers(Operate *operate, Queue *queue, const EntryName *name, GError **error)
{
    g_autofree char *key = operate_parent_key(queue_name(queue), name->hash);
    const GArray *files = g_hash_table_lookup(operate->leftovers, key);
    if (files && !mark(operate, error))
        return false;
    for (guint i = 0; files && i < files->len; i++) {
        const Leftover *leftover = &g_array_index(files, Leftover, i);
        if (!suffix_unlink(leftover->queue, leftover->file, error) ||
            !fs_sync_dir(queue_fd(leftover->queue), error))
            return false;
    }
    g_hash_table_remove(operate->leftovers, key);
    return true;
}

static bool change_state(Queue *queue, const EntryName *name, const char *from, const char *to, GError **error)
{
    char before[FILE_NAME_SIZE], after[FILE_NAME_SIZE];
    suffix_file(name, from, before);
    suffix_file(name, to, after);
    return fs_rename_new(queue_fd(queue), before, after, error);
}

static bool take(Operate *operate, Queue *queue, const EntryName *name, const char *from, GError **error)
{
    return mark(operate, error) && change_state(queue, name, from, SUFFIX_TAKEN, error);
}

Entry *operate_claim(Operate *operate, Queue *queue, const EntryName *name, bool preserved, GError **error)
{
    const char *suffix = preserved ? SUFFIX_PRESERVED : SUFFIX_READY;
    char file[FILE_NAME_SIZE];
    if (preserved && strcmp(queue_name(queue), SHUNT_QUEUE) != 0) { /* OR3 would hand it to its runner again */
        fail(error, FAIL_NEVER, "what is preserved in queue %s is changed only where it is", queue_name(queue));
        return NULL;
    }
    if (!take(operate, queue, name, suffix, error))
        return NULL;
    suffix_file(name, SUFFIX_TAKEN, file);
    g_autoptr(GError) fault = NULL;
    g_autoptr(Entry) entry = entry_open(queue, file, &fault);
    if (entry && take_back_leftovers(operate, queue, name, &fault))
        return g_steal_pointer(&entry);
    touch(operate, queue); /* the lock may not say that nothing is left before this is on the disk */
    operate->left |= !change_state(queue, name, SUFFIX_TAKEN, suffix, NULL);
    g_propagate_error(error, g_steal_pointer(&fault));
    return NULL;
}

bool operate_put_back(Operate *operate, Entry *entry, GError **error)
{
    EntryName name = *entry_name(entry);
    Queue *queue = entry_queue(entry);
    entry_free(entry);
    touch(operate, queue);
    return change_state(queue, &name, SUFFIX_TAKEN, SUFFIX_READY, error);
}

/* Tell what became of the batch; what could not be moved goes back. */
bool operate_flush(Operate *operate, GError **error)
{
    if (operate->outcomes->len == 0)
        return true;
    /* An entry that just ends is unlinked without a sync: to be deleted it has to be gone for good before we say so. */
    if (!hop_commit(operate->hop, (Outcome **)operate->outcomes->pdata, operate->outcomes->len, error) ||
        !hop_settle_all(operate->hop, error) || !fs_sync_dir(queue_fd(operate->queue), error))
        return false;
    for (guint i = 0; i < operate->outcomes->len; i++) {
        Outcome *outcome = operate->outcomes->pdata[i];
        if (outcome->error) {
            g_ptr_array_set_size(outcome->drafts, 0);
            if (!operate_put_back(operate, g_steal_pointer(&outcome->parent), error))
                return false;
        }
        operate->done(operate->data, operate->tokens->pdata[i], outcome->error);
    }
    g_ptr_array_set_size(operate->outcomes, 0);
    g_ptr_array_set_size(operate->tokens, 0);
    return true;
}

bool operate_move(Operate *operate, Entry *entry, Draft *draft, void *token, GError **error)
{
    bool other = operate->queue != entry_queue(entry);
    Outcome *outcome = outcome_new(entry);
    if (draft)
        outcome_add(outcome, draft);
    if (other && !operate_flush(operate, error)) {
        outcome_free(outcome);
        return false;
    }
    operate->queue = entry_queue(entry);
    g_ptr_array_add(operate->outcomes, outcome);
    g_ptr_array_add(operate->tokens, token);
    return operate->outcomes->len < BATCH_MAX || operate_flush(operate, error);
}

bool operate_sync(Operate *operate, GError **error)
{
    for (guint i = 0; i < operate->touched->len; i++)
        if (!fs_sync_dir(queue_fd(operate->touched->pdata[i]), error))
            return false;
    g_ptr_array_set_size(operate->touched, 0);
    return true;
}

bool operate_end(Operate *operate, GError **error)
{
    if (!operate_flush(operate, error) || !operate_sync(operate, error))
        return false;
    if (operate->marked && !operate->left && !fs_truncate(operate->lock, 0, error))
        return false;
    operate->marked = false;
    return true;
}

/* Renames to .msg due at name->due; a taken name is settled by a microsecond. */
static bool make_ready(Operate *operate, Queue *queue, EntryName *name, const char *file, GError **error)
{
    touch(operate, queue);
    return suffix_publish(queue, name, file, error);
}

bool operate_set_due(Operate *operate, Queue *queue, EntryName *name, int64_t due, GError **error)
{
    char file[FILE_NAME_SIZE];
    suffix_file(name, SUFFIX_READY, file);
    if (name->due == due)
        return true;
    name->due = due;
    return make_ready(operate, queue, name, file, error);
}

bool operate_retry_preserved(Operate *operate, Queue *queue, EntryName *name, GError **error)
{
    char file[FILE_NAME_SIZE];
    static const char none = '0';
    suffix_file(name, SUFFIX_PRESERVED, file);
    g_autoptr(Entry) entry = entry_open(queue, file, error);
    if (!entry)
        return false;
    touch(operate, queue);
    if (!take_back_leftovers(operate, queue, name, error) ||
        !fs_pwrite(entry_fd(entry), &none, 1, FORMAT_CRASHES_OFFSET, error) ||
        !fs_sync_file(entry_fd(entry), error))
        return false;
    name->due = clock_now();
    return make_ready(operate, queue, name, file, error);
}

static bool ask_guard(Operate *operate, GError **error)
{
    return !operate->guard || operate->guard(operate->guard_data, error);
}

bool operate_delete(Operate *operate, Queue *queue, EntryName *name, GError **error)
{
    char file[FILE_NAME_SIZE];
    suffix_file(name, SUFFIX_TAKEN, file);
    touch(operate, queue);
    if (!take(operate, queue, name, SUFFIX_READY, error))
        return false;
    if (ask_guard(operate, error) && take_back_leftovers(operate, queue, name, error) &&
        fs_unlink(queue_fd(queue), file, error))
        return true;
    operate->left |= !change_state(queue, name, SUFFIX_TAKEN, SUFFIX_READY, NULL);
    return false;
}

bool operate_delete_preserved(Operate *operate, Queue *queue, EntryName *name, GError **error)
{
    char file[FILE_NAME_SIZE];
    suffix_file(name, SUFFIX_PRESERVED, file);
    touch(operate, queue);
    return ask_guard(operate, error) && take_back_leftovers(operate, queue, name, error) &&
           fs_unlink(queue_fd(queue), file, error);
}

bool operate_set_corrupt(Operate *operate, Queue *queue, const EntryName *name, GError **error)
{
    touch(operate, queue); /* the lock file may not be emptied before its parent is gone for good */
    if (!take(operate, queue, name, SUFFIX_READY, error))
        return false;
    bool moved = take_back_leftovers(operate, queue, name, error) &&
                 corrupt_set_aside(queue, &hand_operator, name, error);
    operate->left |= !moved;
    return moved;
}

bool operate_set_stray_aside(Operate *operate, Queue *queue, const char *file, GError **error)
{
    (void)operate; /* the lock is held: that is what it takes */
    EntryName name;
    if (!name_parse(file, &name, NULL))
        return fail(error, FAIL_NEVER, "%s is no name of an entry", file);
    return corrupt_set_stray_aside(queue, &name, file, error) && fs_sync_dir(queue_fd(queue), error);
}

/* A copy under the same hash. */
static Draft *same(Entry *entry, const char *queue)
{
    Draft *draft = draft_from_entry(queue, entry);
    json_object_set(draft_meta(draft), META_ORDINAL, json_object_get(entry_meta(entry), META_ORDINAL));
    return draft;
}

Draft *operate_draft_hold(Entry *entry)
{
    Draft *draft = same(entry, HOLD_QUEUE);
    json_t *origin = json_object();
    meta_set_string(origin, "queue", queue_name(entry_queue(entry)));
    meta_set_integer(origin, "due", entry_name(entry)->due);
    meta_set_integer(origin, "time", clock_now());
    json_object_set_new(draft_meta(draft), META_ORIGIN, origin);
    draft_set_due(draft, entry_name(entry)->due);
    return draft;
}

Draft *operate_draft_release(Entry *entry, GError **error)
{
    const json_t *origin = json_object_get(entry_meta(entry), META_ORIGIN);
    const char *queue = meta_string(origin, "queue", NULL);
    if (!queue || !queue_name_valid(queue)) {
        fail(error, FAIL_NEVER, "it does not say where it came from");
        return NULL;
    }
    Draft *draft = same(entry, queue);
    json_object_del(draft_meta(draft), META_ORIGIN);
    int64_t due = meta_integer(origin, "due", 0);
    draft_set_due(draft, due > 0 ? due : clock_now());
    return draft;
}

Draft *operate_draft_retry(Entry *entry, const char *to, GError **error)
{
    const json_t *fault = json_object_get(entry_meta(entry), META_FAULT);
    const char *queue = to ? to : meta_string(fault, "queue", NULL);
    if (!queue || !queue_name_valid(queue)) {
        fail(error, FAIL_NEVER, "it does not say where it came from; name a queue with --to");
        return NULL;
    }
    Draft *draft = operate_draft_again(entry, queue);
    json_t *ordinal = json_object_get(fault, "ordinal");
    if (ordinal)
        json_object_set(draft_meta(draft), META_ORDINAL, ordinal);
    json_object_del(draft_meta(draft), META_FAULT);
    return draft;
}

Draft *operate_draft_again(Entry *entry, const char *queue)
{
    Draft *draft = same(entry, queue);
    draft_set_due(draft, clock_now());
    return draft;
}
