/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Numbers such as S6, R5 and OR2 are those of INTERNALS.md, which has each state and each transition. */
#include "switchboard/operate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"
#include "switchboard/corrupt_internal.h"
#include "switchboard/format_internal.h"
#include "switchboard/hop.h"
#include "switchboard/operate_internal.h"
#include "switchboard/suffix_internal.h"

/* Entries that share their syncs. */
#define BATCH_MAX 100

/* ---- the lock, and what a killed command left ---- */

/* A child of a runner's hop that is being written, or that an undone run of it left. */
typedef struct Leftover {
    Queue *queue;
    char *file;
} Leftover;

typedef struct ParentFile {
    Queue *queue;
    EntryName name;
} ParentFile;

typedef struct Remains {
    GArray *taken;    /* of ParentFile: S6 */
    GArray *moved;    /* of ParentFile: S7 */
    GArray *children; /* of TaggedChild: S1o */
    GHashTable *decided; /* keys of moved */
    GHashTable *known;   /* keys of parents that are somewhere in their queue */
    GHashTable *leftovers;
} Remains;

static bool set_lock(int fd, short type, bool wait)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
    return TEMP_FAILURE_RETRY(fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock)) == 0;
}

/* Take the lock exclusively; -1 on failure: FAIL_RACE when it is taken and wait is false. */
static int take_lock(Spool *spool, bool wait, GError **error)
{
    auto_fd fd = spool_open_lock(spool, OPERATE_LOCK_FILE, error);
    if (fd < 0)
        return -1;
    if (set_lock(fd, F_WRLCK, wait))
        return auto_fd_steal(&fd);
    if (errno == EAGAIN || errno == EACCES)
        fail(error, FAIL_RACE, "another command changes the spool %s, or a runner that starts looks through it",
             spool_path(spool));
    else
        fail_errno(error, FAIL_LATER, "lock %s/" OPERATE_LOCK_FILE, spool_path(spool));
    return -1;
}

/* Whether the lock file says that a command may have left something. */
static bool is_marked(Spool *spool, int fd, bool *marked, GError **error)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return fail_errno(error, FAIL_LATER, "stat %s/" OPERATE_LOCK_FILE, spool_path(spool));
    *marked = status.st_size > 0;
    return true;
}

char *operate_parent_key(const char *queue, const uint8_t *hash)
{
    char digits[HASH_DIGITS + 1];
    name_hash_format(hash, digits);
    return g_strconcat(queue, "-", digits, NULL);
}

static void leftover_clear(gpointer data)
{
    g_free(((Leftover *)data)->file);
}

static void note(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    Remains *remains = data;
    ParentFile parent = {queue, *name};
    Tag tag;
    if (strcmp(rest, SUFFIX_TAKEN) == 0) {
        g_array_append_val(remains->taken, parent);
    } else if (strcmp(rest, SUFFIX_MOVED) == 0) {
        g_array_append_val(remains->moved, parent);
        g_hash_table_add(remains->decided, operate_parent_key(queue_name(queue), name->hash));
    } else if (strlen(file) < FILE_NAME_SIZE && suffix_parse_tag(&hand_operator, rest, &tag)) {
        TaggedChild child = {.queue = queue, .name = *name, .parent = tag};
        g_strlcpy(child.file, file, sizeof child.file);
        g_array_append_val(remains->children, child);
    } else if (remains->leftovers && strlen(file) < FILE_NAME_SIZE && suffix_parse_tag(&hand_runner, rest, &tag)) {
        g_autofree char *key = operate_parent_key(tag.queue, tag.hash);
        GArray *files = g_hash_table_lookup(remains->leftovers, key);
        if (!files) {
            files = g_array_new(FALSE, FALSE, sizeof(Leftover));
            g_array_set_clear_func(files, leftover_clear);
            g_hash_table_insert(remains->leftovers, g_steal_pointer(&key), files);
        }
        Leftover leftover = {queue, g_strdup(file)};
        g_array_append_val(files, leftover);
    }
}

/* Whether one of the children's parents is here, in whatever state: also .tmp, where the rename
 * that made it ready was lost in a power cut. */
static void note_known(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    (void)file;
    Remains *remains = data;
    Tag tag;
    if (!suffix_parse_tag(&hand_operator, rest, &tag))
        g_hash_table_add(remains->known, operate_parent_key(queue_name(queue), name->hash));
}

static bool visit_all(Spool *spool, QueueVisit *visit, Remains *remains, GError **error)
{
    g_auto(GStrv) names = spool_every_queue(spool, NULL, error);
    return names && spool_visit(spool, names, visit, remains, error);
}

/* Syncs the parents' directories, but for those synced before. */
static bool sync_parents(const GArray *parents, GPtrArray *synced, GError **error)
{
    for (guint i = 0; i < parents->len; i++) {
        Queue *queue = g_array_index(parents, ParentFile, i).queue;
        if (g_ptr_array_find(synced, queue, NULL))
            continue;
        if (!fs_sync_dir(queue_fd(queue), error))
            return false;
        g_ptr_array_add(synced, queue);
    }
    return true;
}

/* OR1, OR2 and OR4, child by child. A decided parent can only go forward. In any other state, even claimed by a runner
 * since a power cut undid the command's claim, the command never decided it, and nobody waits for these children. */
static bool settle_children(Remains *remains, GError **error)
{
    for (guint i = 0; i < remains->children->len; i++) {
        TaggedChild *child = &g_array_index(remains->children, TaggedChild, i);
        g_autofree char *parent = operate_parent_key(child->parent.queue, child->parent.hash);
        bool settled;
        if (g_hash_table_contains(remains->decided, parent))
            settled = suffix_publish(child->queue, &child->name, child->file, error);
        else if (g_hash_table_contains(remains->known, parent))
            settled = fs_unlink(queue_fd(child->queue), child->file, error);
        else
            settled = corrupt_set_stray_aside(child->queue, &child->name, child->file, error);
        if (!settled)
            return false;
    }
    return true;
}

/* Decided parents go, for their children are published, and claimed ones are ready again (OR3), as if the command had
 * not begun. All is on the disk before the lock says that nothing is left: nobody would look for it any more. */
static bool settle_parents(Remains *remains, GError **error)
{
    g_autoptr(GPtrArray) synced = g_ptr_array_new();
    char file[FILE_NAME_SIZE];
    for (guint i = 0; i < remains->moved->len; i++) {
        const ParentFile *parent = &g_array_index(remains->moved, ParentFile, i);
        suffix_file(&parent->name, SUFFIX_MOVED, file);
        if (!fs_unlink(queue_fd(parent->queue), file, error))
            return false;
    }
    for (guint i = 0; i < remains->taken->len; i++) {
        ParentFile *parent = &g_array_index(remains->taken, ParentFile, i);
        suffix_file(&parent->name, SUFFIX_TAKEN, file);
        if (!suffix_publish(parent->queue, &parent->name, file, error))
            return false;
    }
    return sync_parents(remains->moved, synced, error) && sync_parents(remains->taken, synced, error);
}

/* Bring to its end what a killed command left. lock is a descriptor that holds the lock exclusively. leftovers, unless
 * NULL, is filled with the children of runners' hops that are being written: it maps operate_parent_key() of the parent
 * to an array of Leftover. */
static bool settle(Spool *spool, int lock, GHashTable *leftovers, GError **error)
{
    bool marked = false;
    if (!is_marked(spool, lock, &marked, error))
        return false;
    g_autoptr(GArray) taken = g_array_new(FALSE, FALSE, sizeof(ParentFile));
    g_autoptr(GArray) moved = g_array_new(FALSE, FALSE, sizeof(ParentFile));
    g_autoptr(GArray) children = g_array_new(FALSE, FALSE, sizeof(TaggedChild));
    g_autoptr(GHashTable) decided = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GPtrArray) synced = g_ptr_array_new();
    Remains remains = {taken, moved, children, decided, known, leftovers};
    /* A parent that we saw as decided must be so on the disk before others see its children. What we saw may be in the
     * kernel's memory alone; should the power fail after its children were published, the parent would be taken up
     * once more. */
    bool sound = visit_all(spool, note, &remains, error) && sync_parents(moved, synced, error) &&
                 (children->len == 0 || visit_all(spool, note_known, &remains, error)) &&
                 settle_children(&remains, error);
    /* Where nothing was marked there is nothing, unless the lock file was taken away: each command syncs all before it
     * says so. Else every directory is synced: children may have been published before, or taken back, and parents have
     * gone, by who was killed before it synced that. */
    bool any = marked || moved->len > 0 || children->len > 0;
    sound = sound && (!any || spool_sync_queues(spool, error)) && settle_parents(&remains, error);
    if (!sound)
        g_prefix_error(error, "bringing to its end what an operator's command left: ");
    return sound;
}

/* Settle what a killed command left, with the lock held shared. The lock is given back first: of several processes that
 * look at once each would wait for the others' to go, and nobody would settle. The last to come finds the work free, or
 * settled. *ours: the lock is held shared again. */
static bool settle_killed(Spool *spool, int fd, bool *ours, GError **error)
{
    bool marked;
    *ours = false;
    if (!set_lock(fd, F_UNLCK, false) || !set_lock(fd, F_WRLCK, false))
        return true; /* another settles it, or a command is at work by now */
    if (!is_marked(spool, fd, &marked, error))
        return false;
    if (marked) {
        log_warn("an operator's command was ended before it was done; what it left is settled now");
        if (!settle(spool, fd, NULL, error) || !fs_truncate(fd, 0, error))
            return false;
    }
    *ours = set_lock(fd, F_RDLCK, false);
    return true;
}

bool operate_look(Spool *spool, int *lock, GError **error)
{
    bool marked = false, ours = true;
    *lock = -1;
    g_autoptr(GError) fault = NULL;
    auto_fd fd = spool_open_lock(spool, OPERATE_LOCK_FILE, &fault);
    if (fd >= 0 && !set_lock(fd, F_RDLCK, false))
        return true;
    if (fd < 0 || !is_marked(spool, fd, &marked, &fault)) {
        log_warn("%s; what an operator's command may have left waits", fault->message);
        return true;
    }
    if (marked && !settle_killed(spool, fd, &ours, error))
        return false;
    if (ours)
        *lock = auto_fd_steal(&fd);
    return true;
}

/* ---- the commands ---- */

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
    GHashTable *leftovers; /* of settle() */
};

Operate *operate_open(Spool *spool, bool wait, OperateDone *done, void *data, GError **error)
{
    auto_fd lock = take_lock(spool, wait, error);
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
    operate->leftovers =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_array_unref);
    if (!settle(spool, operate->lock, operate->leftovers, error))
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

/* Remove the children that an undone run of a runner left of the entry that was claimed (R5): they carry its tag, and
 * would be published with the children that the command makes of it. If we are killed before the sync, the mark is on
 * the disk, and whoever settles syncs the queues. */
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
    /* If we are killed, OR3 makes every claimed entry ready. In shunt no runner takes it then; in another queue its
     * runner would, although it was set aside since it crashed one. */
    if (preserved && strcmp(queue_name(queue), SHUNT_QUEUE) != 0) {
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

bool operate_set_due(Operate *operate, Queue *queue, EntryName *name, int64_t due, GError **error)
{
    char file[FILE_NAME_SIZE];
    suffix_file(name, SUFFIX_READY, file);
    if (name->due == due)
        return true;
    /* No claim: a runner that claims it at this moment renames the same file, and one of the two finds it gone. */
    name->due = due;
    touch(operate, queue);
    return suffix_publish(queue, name, file, error);
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
    /* The count is on the disk before a runner can have the entry: with the old one it would be set aside again at the
     * first crash. */
    if (!take_back_leftovers(operate, queue, name, error) ||
        !fs_pwrite(entry_fd(entry), &none, 1, FORMAT_CRASHES_OFFSET, error) ||
        !fs_sync_file(entry_fd(entry), error))
        return false;
    name->due = clock_now();
    return suffix_publish(queue, name, file, error);
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
    /* The guard writes down elsewhere that the entry goes: when no runner can take it any more, and before it is gone.
     * After a kill in between the entry is back (OR3), and the command can be given again. The other way round nobody
     * would know of it. */
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
    operate->left |= !moved; /* how far it came is not known here, so it is not given back: OR1 to OR3 tell */
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
