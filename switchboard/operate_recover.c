/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"
#include "switchboard/corrupt_internal.h"
#include "switchboard/operate.h"
#include "switchboard/operate_internal.h"
#include "switchboard/suffix_internal.h"

typedef struct ParentFile {
    Queue *queue;
    EntryName name;
} ParentFile;

typedef struct ChildFile {
    Queue *queue;
    EntryName name;
    char file[FILE_NAME_SIZE];
    char *parent; /* key */
} ChildFile;

typedef struct Remains {
    GArray *taken;    /* of ParentFile: S6 */
    GArray *moved;    /* of ParentFile: S7 */
    GArray *children; /* of ChildFile: S1o */
    GHashTable *decided; /* keys of moved */
    GHashTable *known;   /* keys of parents that are somewhere in their queue */
    GHashTable *leftovers;
} Remains;

static bool set_lock(int fd, short type, bool wait)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
    return TEMP_FAILURE_RETRY(fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock)) == 0;
}

int operate_lock(Spool *spool, bool wait, GError **error)
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
        if (!operate_settle(spool, fd, NULL, error) || !fs_truncate(fd, 0, error))
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

char *operate_parent_key(const char *queue, const uint8_t *hash)
{
    char digits[HASH_DIGITS + 1];
    name_hash_format(hash, digits);
    return g_strconcat(queue, "-", digits, NULL);
}

static void leftovers_free(gpointer data)
{
    g_array_unref(data);
}

static void leftover_clear(gpointer data)
{
    g_free(((Leftover *)data)->file);
}

GHashTable *operate_leftovers_new(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, leftovers_free);
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
        ChildFile child = {.queue = queue, .name = *name, .parent = operate_parent_key(tag.queue, tag.hash)};
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

/* OR1 to OR3. */
static bool settle_children(Remains *remains, GError **error)
{
    for (guint i = 0; i < remains->children->len; i++) {
        ChildFile *child = &g_array_index(remains->children, ChildFile, i);
        bool settled;
        if (g_hash_table_contains(remains->decided, child->parent))
            settled = suffix_publish(child->queue, &child->name, child->file, error);
        else if (g_hash_table_contains(remains->known, child->parent))
            settled = fs_unlink(queue_fd(child->queue), child->file, error);
        else
            settled = corrupt_set_stray_aside(child->queue, &child->name, child->file, error);
        if (!settled)
            return false;
    }
    return true;
}

/* All is on the disk before the lock says that nothing is left. */
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

/* Where nothing was marked there is nothing, unless the lock file was taken away: each command syncs all before it says
 * so. Else every directory is synced: children may have been published before, or taken back, and parents have gone, by
 * who was killed before it synced that. */
static bool run(Spool *spool, bool marked, Remains *remains, GError **error)
{
    if (!visit_all(spool, note, remains, error))
        return false;
    /* A parent that we saw as decided must be so on the disk before others see its children. */
    g_autoptr(GPtrArray) synced = g_ptr_array_new();
    if (!sync_parents(remains->moved, synced, error))
        return false;
    if (remains->children->len > 0 && !visit_all(spool, note_known, remains, error))
        return false;
    bool any = marked || remains->moved->len > 0 || remains->children->len > 0;
    return settle_children(remains, error) && (!any || spool_sync_queues(spool, error)) &&
           settle_parents(remains, error);
}

bool operate_settle(Spool *spool, int lock, GHashTable *leftovers, GError **error)
{
    bool marked = false;
    if (!is_marked(spool, lock, &marked, error))
        return false;
    g_autoptr(GArray) taken = g_array_new(FALSE, FALSE, sizeof(ParentFile));
    g_autoptr(GArray) moved = g_array_new(FALSE, FALSE, sizeof(ParentFile));
    g_autoptr(GArray) children = g_array_new(FALSE, FALSE, sizeof(ChildFile));
    g_autoptr(GHashTable) decided = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    Remains remains = {taken, moved, children, decided, known, leftovers};
    bool sound = run(spool, marked, &remains, error);
    for (guint i = 0; i < children->len; i++)
        g_free(g_array_index(children, ChildFile, i).parent);
    if (!sound)
        g_prefix_error(error, "bringing to its end what an operator's command left: ");
    return sound;
}
