/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Numbers such as S1, T7 and R5 are those of INTERNALS.md, which has each state and each transition. */
#include "switchboard/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"
#include "switchboard/corrupt_internal.h"
#include "switchboard/entry.h"
#include "switchboard/format_internal.h"
#include "switchboard/operate_internal.h"
#include "switchboard/suffix_internal.h"

#define CANNOT_BE_READ "cannot be read (Input/output error)"
#define MAY_NOT_BE_READ "may not be read"

/* A set of hashes; g_hash_table_unref(). */
static GHashTable *set_new(void)
{
    return g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
}

static void set_add(GHashTable *set, const uint8_t *hash)
{
    g_hash_table_add(set, g_bytes_new(hash, HASH_SIZE));
}

static bool set_has(GHashTable *set, const uint8_t *hash)
{
    g_autoptr(GBytes) key = g_bytes_new_static(hash, HASH_SIZE);
    return g_hash_table_contains(set, key);
}

/* Is this a regular file? Recovery passes over a directory or the like with an entry's name: no program of ours made
 * it, and it would stand in the way for ever. */
static bool is_file(Queue *queue, const char *file)
{
    struct stat status;
    if (fstatat(queue_fd(queue), file, &status, AT_SYMLINK_NOFOLLOW) != 0 || S_ISREG(status.st_mode))
        return true; /* or what follows will tell */
    log_error("queue %s: %s is not a regular file; it is left alone", queue_name(queue), file);
    return false;
}

/* Set an entry aside as .psv (S5), log why, and count it in report->preserved. It is durable after the next sync of the
 * directory. */
static bool preserve(Queue *queue, RecoverReport *report, EntryName name, const char *file, const char *why,
                     GError **error)
{
    if (!suffix_move(queue, &name, file, SUFFIX_PRESERVED, error))
        return false;
    log_error("queue %s: %s %s; it is set aside as " SUFFIX_PRESERVED, queue_name(queue), file, why);
    report->preserved++;
    return true;
}

/* Did somebody change this file's owner or mode, or make it immutable, so that we may not use it? Waiting does not help
 * then, and recovery goes on with the other files. */
static bool is_closed(Queue *queue, const char *file)
{
    auto_fd fd = fs_open(queue_fd(queue), file, true, NULL);
    return fd < 0 && (errno == EACCES || errno == EPERM);
}

/* Judge a change of a file that failed with *fault, which is consumed. Return true, and log it, when the file itself is
 * immutable: it stays, and recovery goes on. Else move the fault into error and return false. */
static bool stays(GError **fault, GError **error)
{
    if (!g_error_matches(*fault, FAIL, FAIL_NEVER)) {
        g_propagate_error(error, g_steal_pointer(fault));
        return false;
    }
    log_error("%s; it stays there", (*fault)->message);
    g_clear_error(fault);
    return true;
}

/* ---- what a dead intake left ---- */

#define COPY_BLOCK (64 * 1024)

/* Synced is a file that is whole, as it was when it was synced. */
typedef struct Synced {
    EntryName name;
    struct stat status;
} Synced;

/* R8 at work. */
typedef struct TakeIn {
    Queue *queue;
    GArray *names;      /* of EntryName: S1, whole or not */
    GArray *synced;     /* of Synced */
    GHashTable *wanted; /* their hashes */
    GHashTable *stored; /* those of them that the queue holds already */
    RecoverReport *report;
} TakeIn;

/* The disk itself does not give the bytes; everything else may be better the next time. */
static bool is_lost(Queue *queue, const char *file)
{
    char block[4096];
    auto_fd fd = fs_open(queue_fd(queue), file, false, NULL);
    ssize_t got = fd < 0 ? 0 : 1;
    while (got > 0)
        got = TEMP_FAILURE_RETRY(read(fd, block, sizeof block));
    return got < 0 && errno == EIO;
}

/* Whether the file, which is no sound entry, was whole once: it is as long as its head says, or its end line is there.
 * Of what is just being written neither is true: the end line comes last, or at the very last a head for the
 * blanks that kept its place. False when the system does not tell: a part is swept, and what was whole must not be. */
static bool was_whole(int fd, const EntryName *name, bool *whole, GError **error)
{
    char head[FORMAT_HEAD_SIZE + 1] = "", tail[FORMAT_TAIL_SIZE + 1], found[FORMAT_TAIL_SIZE];
    struct stat status;
    FormatHead parsed;
    format_tail_print(name->hash, tail);
    *whole = false;
    if (fstat(fd, &status) != 0)
        return fail_errno(error, FAIL_LATER, "stat");
    if (status.st_size < (off_t)(FORMAT_HEAD_SIZE + FORMAT_TAIL_SIZE))
        return true;
    ssize_t first = TEMP_FAILURE_RETRY(pread(fd, head, FORMAT_HEAD_SIZE, 0)), last = -1;
    if (first >= 0)
        last = TEMP_FAILURE_RETRY(pread(fd, found, sizeof found, status.st_size - (off_t)sizeof found));
    if (last < 0)
        return fail_errno(error, FAIL_LATER, "read");
    if (first != FORMAT_HEAD_SIZE || last != sizeof found)
        return true;
    bool as_long_as_said = format_head_parse(head, &parsed) &&
                           parsed.meta_length + parsed.recipients_length + parsed.message_length + FORMAT_HEAD_SIZE +
                                   FORMAT_TAIL_SIZE == (size_t)status.st_size;
    *whole = as_long_as_said || (memcmp(found, tail, sizeof found) == 0 && head[0] != ' ');
    return true;
}

/* Writes the bytes once more where they are. A sync that failed has told so to somebody, and left them clean in the
 * kernel's memory: the next one would succeed without them. */
static bool write_again(int fd, GError **error)
{
    char block[COPY_BLOCK];
    for (off_t at = 0;;) {
        ssize_t got = TEMP_FAILURE_RETRY(pread(fd, block, sizeof block, at));
        if (got < 0)
            return fail_errno(error, FAIL_LATER, "read");
        if (got == 0)
            return true;
        if (!fs_pwrite(fd, block, (size_t)got, at, error))
            return false;
        at += got;
    }
}

/* T1 once more, but for the directory. What the disk has damaged since will be ready, too: who claims it moves it to
 * corrupt/ (T11). Nobody else writes: it is whole, so its intake does not, and a runner of its slice is ourselves. */
static void sync_stored(TakeIn *take, const EntryName *name, const char *file, int fd)
{
    g_autoptr(GError) error = NULL;
    Synced synced = {.name = *name};
    if (write_again(fd, &error) && fs_sync_file(fd, &error) &&
        (fstat(fd, &synced.status) == 0 || fail_errno(&error, FAIL_LATER, "stat"))) {
        g_array_append_val(take->synced, synced);
        return;
    }
    log_error("queue %s: %s cannot be taken in now: %s", queue_name(take->queue), file, error->message);
    take->report->left++;
}

/* Intake that is made again takes away what an earlier try left, and begins anew under that name: then it is no more
 * what was synced, nor whole. */
static bool was_replaced(const TakeIn *take, const char *file, const struct stat *synced)
{
    struct stat now;
    return fstatat(queue_fd(take->queue), file, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
           (now.st_ino != synced->st_ino || now.st_size != synced->st_size ||
            now.st_mtim.tv_sec != synced->st_mtim.tv_sec || now.st_mtim.tv_nsec != synced->st_mtim.tv_nsec);
}

static void note_stored(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    (void)queue;
    (void)file;
    TakeIn *take = data;
    if (g_strv_contains(suffix_stored, rest) && set_has(take->wanted, name->hash))
        set_add(take->stored, name->hash);
}

/* Of intake that is made again until it is stored (`once`), an earlier try may have been stored already, due
 * at another time perhaps: what a later one left has nothing to add. */
static bool drop_stored(TakeIn *take, GError **error)
{
    for (guint i = 0; i < take->names->len; i++)
        set_add(take->wanted, g_array_index(take->names, EntryName, i).hash);
    if (take->names->len > 0 && !queue_visit(take->queue, note_stored, take, error))
        return false;
    for (guint i = take->names->len; i-- > 0;) {
        const EntryName *name = &g_array_index(take->names, EntryName, i);
        if (!set_has(take->stored, name->hash))
            continue;
        char file[FILE_NAME_SIZE];
        suffix_file(name, SUFFIX_TMP, file);
        g_autoptr(GError) fault = NULL;
        if (!suffix_unlink(take->queue, file, &fault) && !stays(&fault, error))
            return false;
        g_array_remove_index(take->names, i);
    }
    return true;
}

/* Opens what is whole, or was; -1: it is a part, or there is a fault. */
static int open_stored(TakeIn *take, const EntryName *name, const char *file, GError **error)
{
    g_autoptr(GError) fault = NULL;
    g_autoptr(Entry) entry = entry_open(take->queue, file, &fault);
    bool damaged = g_error_matches(fault, FAIL, FAIL_NEVER), whole = true;
    if (!entry && !damaged) {
        g_propagate_error(error, g_steal_pointer(&fault));
        return -1;
    }
    if (entry) { /* the file that was read, whatever bears its name by now */
        int same = fcntl(entry_fd(entry), F_DUPFD_CLOEXEC, 0);
        if (same < 0)
            fail_errno(error, FAIL_LATER, "%s", file);
        return same;
    }
    auto_fd fd = fs_open(queue_fd(take->queue), file, true, error);
    if (fd < 0)
        return -1;
    if (was_whole(fd, name, &whole, error))
        return whole ? auto_fd_steal(&fd) : -1;
    g_prefix_error(error, "%s: ", file);
    return -1;
}

/* Sync the files of an intake. Set aside files that cannot be read; leave files that are a part or cannot be synced. */
static bool sync_intake(TakeIn *take, GError **error)
{
    for (guint i = take->names->len; i-- > 0;) {
        EntryName name = g_array_index(take->names, EntryName, i);
        char file[FILE_NAME_SIZE];
        suffix_file(&name, SUFFIX_TMP, file);
        g_autoptr(GError) fault = NULL;
        auto_fd fd = open_stored(take, &name, file, &fault);
        if (fd >= 0)
            sync_stored(take, &name, file, fd);
        bool later = g_error_matches(fault, FAIL, FAIL_LATER);
        const char *why = !later                         ? NULL
                          : is_lost(take->queue, file)   ? CANNOT_BE_READ
                          : is_closed(take->queue, file) ? MAY_NOT_BE_READ
                                                         : NULL;
        if (later && !why)
            return fail_with(error, &fault);
        g_autoptr(GError) unmoved = NULL;
        if (why && !preserve(take->queue, take->report, name, file, why, &unmoved)) {
            take->report->left++; /* it may be whole, so no sweep takes it */
            if (!stays(&unmoved, error))
                return false;
        }
    }
    return true;
}

/* Publish entries that a dead intake wrote whole under temporary names (R8). names is of EntryName, and is taken. The
 * caller has synced the directory since they were found. A file that is not whole was never promised, and is left to
 * the sweep; so is a file that a living intake is just writing. An intake that was faster, or is, finds the name gone
 * and the entry stored. */
static bool take_in_stored(Queue *queue, GArray *names, RecoverReport *report, GError **error)
{
    g_autoptr(GHashTable) wanted = set_new();
    g_autoptr(GHashTable) stored = set_new();
    g_autoptr(GArray) synced = g_array_new(FALSE, FALSE, sizeof(Synced));
    TakeIn take = {queue, names, synced, wanted, stored, report};
    if (!drop_stored(&take, error) || !sync_intake(&take, error))
        return false;
    for (guint i = synced->len; i-- > 0;) {
        const Synced *one = &g_array_index(synced, Synced, i);
        EntryName name = one->name;
        char file[FILE_NAME_SIZE];
        suffix_file(&name, SUFFIX_TMP, file);
        g_autoptr(GError) fault = NULL;
        if (was_replaced(&take, file, &one->status))
            continue;
        if (suffix_publish(queue, &name, file, &fault))
            report->completed++;
        else if (g_error_matches(fault, FAIL, FAIL_LATER))
            return fail_with(error, &fault);
    }
    return true;
}

/* ---- what a dead runner left ---- */

/* A parent as it was found. */
typedef struct Parent {
    EntryName name;
    unsigned crashes;
    const char *unread; /* why it cannot be read */
} Parent;

typedef struct Recovery {
    Queue *queue;
    Slice slice;
    GArray *intake;  /* of EntryName: S1, whole or not */
    GArray *claimed; /* of Parent: S3 */
    GArray *decided; /* of Parent: S4 */
    GArray *orphans; /* of TaggedChild, whose parent is in our queue: S1t */
    GHashTable *parents;   /* hashes of the orphans' parents */
    GHashTable *undecided; /* parents in S3, and those of orphans in S1, S1t, S1u and S2 */
    GHashTable *settled;   /* parents in S4 */
    GHashTable *kept;      /* parents in S5, and those that come to it because nobody can read them */
    RecoverReport *report;
    bool others; /* there are entries in S1, S1t, S1u, S2, S6: they may have children, too */
    bool alone;  /* no operator's command is at work */
} Recovery;

/* In the queue, or on its way into it, and not claimed by its runner. (Nothing is its own parent.) */
static bool is_other(const EntryName *name, const char *rest)
{
    Tag tag;
    char unit[PREPARED_TAG_DIGITS + 1];
    if (suffix_parse_tag(&hand_runner, rest, &tag) || suffix_parse_tag(&hand_operator, rest, &tag))
        return memcmp(tag.hash, name->hash, HASH_SIZE) != 0;
    return suffix_parse_prepared(rest, unit) || strcmp(rest, SUFFIX_READY) == 0 ||
           strcmp(rest, SUFFIX_TAKEN) == 0 || strcmp(rest, SUFFIX_TMP) == 0;
}

static void note_state(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    Recovery *recovery = data;
    if (!slice_owns(recovery->slice, name->hash))
        return;
    Parent parent = {.name = *name};
    if (strcmp(rest, SUFFIX_CLAIMED) == 0)
        g_array_append_val(recovery->claimed, parent);
    else if (strcmp(rest, SUFFIX_DECIDED) == 0 && is_file(queue, file))
        g_array_append_val(recovery->decided, parent);
    else if (strcmp(rest, SUFFIX_TMP) == 0 && is_file(queue, file))
        g_array_append_val(recovery->intake, *name);
    recovery->others |= is_other(name, rest);
}

/* A parent that was not claimed as far as the disk knows: its own publication, or
 * its intake's rename, may not have reached it either. Or one that was set aside, unread. */
static void note_other(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    (void)queue;
    (void)file;
    Recovery *recovery = data;
    if (!set_has(recovery->parents, name->hash))
        return;
    if (is_other(name, rest))
        set_add(recovery->undecided, name->hash);
    else if (strcmp(rest, SUFFIX_PRESERVED) == 0)
        set_add(recovery->kept, name->hash);
}

static void note_orphan(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    Recovery *recovery = data;
    Tag tag;
    if (strlen(file) >= FILE_NAME_SIZE || !suffix_parse_tag(&hand_runner, rest, &tag) ||
        strcmp(tag.queue, queue_name(recovery->queue)) != 0 || !slice_owns(recovery->slice, tag.hash) ||
        !is_file(queue, file))
        return;
    TaggedChild orphan = {.queue = queue, .name = *name, .parent = tag};
    g_strlcpy(orphan.file, file, sizeof orphan.file);
    g_array_append_val(recovery->orphans, orphan);
    set_add(recovery->parents, tag.hash);
}

/* How often each of those named .bak has crashed its runner. The rest of a file is not verified: a damaged entry is
 * found when it is claimed. */
static bool read_crashes(Recovery *recovery, GError **error)
{
    for (guint i = 0; i < recovery->claimed->len; i++) {
        Parent *parent = &g_array_index(recovery->claimed, Parent, i);
        char file[FILE_NAME_SIZE], head[FORMAT_CRASHES_OFFSET + 1] = "";
        suffix_file(&parent->name, SUFFIX_CLAIMED, file);
        g_autoptr(GError) fault = NULL;
        auto_fd fd = fs_open(queue_fd(recovery->queue), file, true, &fault);
        if (fd < 0 && g_error_matches(fault, FAIL, FAIL_NEVER))
            continue; /* no regular file */
        if (fd < 0 && is_closed(recovery->queue, file)) {
            parent->unread = MAY_NOT_BE_READ;
            continue;
        }
        if (fd < 0)
            return fail_with(error, &fault);
        ssize_t got = TEMP_FAILURE_RETRY(pread(fd, head, sizeof head, 0));
        if (got < 0 && errno != EIO)
            return fail_errno(error, FAIL_LATER, "read %s", file);
        if (got < 0) {
            parent->unread = CANNOT_BE_READ;
            continue;
        }
        if (got == sizeof head && g_ascii_isdigit(head[FORMAT_CRASHES_OFFSET]))
            parent->crashes = (unsigned)(head[FORMAT_CRASHES_OFFSET] - '0');
        if (parent->crashes == 0 || !child_replaces_killed())
            continue;
        /* The process was killed from outside, as for want of memory: that was hardly the entry's fault, so it is not
         * counted. Which of those in hand was worked on is not known any more; each gets one crash less, in doubt in
         * its favour. */
        char digit = (char)('0' + --parent->crashes);
        g_autoptr(GError) unwritten = NULL;
        if (!fs_pwrite(fd, &digit, 1, FORMAT_CRASHES_OFFSET, &unwritten))
            log_warn("crash count: %s", unwritten->message);
    }
    return true;
}

static bool is_stray(const Recovery *recovery, const TaggedChild *orphan)
{
    return !set_has(recovery->undecided, orphan->parent.hash) &&
           !set_has(recovery->settled, orphan->parent.hash) && !set_has(recovery->kept, orphan->parent.hash);
}

static unsigned count_strays(const Recovery *recovery)
{
    unsigned strays = 0;
    for (guint i = 0; i < recovery->orphans->len; i++)
        strays += is_stray(recovery, &g_array_index(recovery->orphans, TaggedChild, i));
    return strays;
}

/* The parents, then their children; and, when there are children whose parent
 * is not among the claimed and decided, whether it is in another state. */
static bool find_all(Recovery *recovery, bool thorough, GError **error)
{
    if (!queue_visit(recovery->queue, note_state, recovery, error) || !read_crashes(recovery, error))
        return false;
    if (!thorough && !recovery->others && recovery->claimed->len == 0 && recovery->decided->len == 0)
        return true;
    Spool *spool = queue_spool(recovery->queue);
    g_auto(GStrv) names = spool_every_queue(spool, &recovery->report->missing, error);
    if (!names || !spool_visit(spool, names, note_orphan, recovery, error))
        return false;
    for (guint i = 0; i < recovery->claimed->len; i++) {
        const Parent *parent = &g_array_index(recovery->claimed, Parent, i);
        set_add(parent->unread ? recovery->kept : recovery->undecided, parent->name.hash);
    }
    for (guint i = 0; i < recovery->decided->len; i++)
        set_add(recovery->settled, g_array_index(recovery->decided, Parent, i).name.hash);
    /* Twice: one that is renamed while the directory is listed may be missed, once. */
    for (int look = 0; look < 2 && count_strays(recovery) > 0; look++)
        if (!queue_visit(recovery->queue, note_other, recovery, error))
            return false;
    return true;
}

/* R6: nobody knows where they belong, so a person gets them, whole. Nothing hangs on them, so what fails waits for the
 * next time. While an operator's command is at work a parent may just be changing its name; then all wait, too. */
static void set_strays_aside(Recovery *recovery)
{
    for (guint i = 0; i < recovery->orphans->len && recovery->alone; i++) {
        const TaggedChild *orphan = &g_array_index(recovery->orphans, TaggedChild, i);
        g_autoptr(GError) error = NULL;
        if (!is_stray(recovery, orphan))
            continue;
        if (corrupt_set_stray_aside(orphan->queue, &orphan->name, orphan->file, &error) &&
            fs_sync_dir(queue_fd(orphan->queue), &error))
            recovery->report->strays++;
        else
            log_error("queue %s: %s stays there: %s", queue_name(orphan->queue), orphan->file, error->message);
    }
}

/* R1 to R3 and R5, child by child. The parent decides: of a decided one all children are on the disk, so they are
 * published; of another one perhaps not all, so it has to begin anew, and they go. Those of a parent that is set aside
 * stay: they go its way. An operator's command takes back what its entry left behind, too, and may have been faster. */
static bool settle_orphans(Recovery *recovery, GError **error)
{
    for (guint i = 0; i < recovery->orphans->len; i++) {
        TaggedChild *orphan = &g_array_index(recovery->orphans, TaggedChild, i);
        bool settled = true;
        if (set_has(recovery->settled, orphan->parent.hash))
            settled = suffix_publish(orphan->queue, &orphan->name, orphan->file, error);
        else if (set_has(recovery->undecided, orphan->parent.hash))
            settled = suffix_unlink(orphan->queue, orphan->file, error);
        if (!settled)
            return false;
    }
    return true;
}

/* R4 and R9. One that crashes its runner would crash the next one, too, so it waits longer each time, and others go
 * before it; at last a person gets it. One that cannot be read never gets so far. Where the system refuses the rename
 * of a file, that file stays: nothing of it is anywhere else, or its children stay with it. */
static bool put_back_claimed(Recovery *recovery, GError **error)
{
    Queue *queue = recovery->queue;
    for (guint i = 0; i < recovery->claimed->len; i++) {
        const Parent *parent = &g_array_index(recovery->claimed, Parent, i);
        EntryName name = parent->name;
        char claimed[FILE_NAME_SIZE];
        suffix_file(&name, SUFFIX_CLAIMED, claimed);
        g_autoptr(GError) fault = NULL;
        bool moved;
        if (parent->unread || parent->crashes >= RECOVER_CRASHES_LIMIT) {
            g_autofree char *why = parent->unread ? g_strdup(parent->unread)
                                                  : g_strdup_printf("crashed its runner %u times", parent->crashes);
            moved = preserve(queue, recovery->report, name, claimed, why, &fault);
        } else {
            if (parent->crashes > 0) {
                int64_t delay = RECOVER_CRASH_DELAY << (parent->crashes - 1);
                name.due = MAX(name.due, clock_now() + delay);
                log_warn("queue %s: %s crashed its runner %u times; tried again in %" G_GINT64_FORMAT
                         " s, after others",
                         queue_name(queue), claimed, parent->crashes, delay / CLOCK_SECOND);
            }
            moved = suffix_publish(queue, &name, claimed, &fault);
            recovery->report->rolled_back += moved;
        }
        if (!moved && !stays(&fault, error))
            return false;
    }
    return true;
}

/* The end of R1 and R2: the children are published, and that is on the disk. */
static bool unlink_decided(Recovery *recovery, GError **error)
{
    for (guint i = 0; i < recovery->decided->len; i++) {
        const Parent *parent = &g_array_index(recovery->decided, Parent, i);
        char file[FILE_NAME_SIZE];
        suffix_file(&parent->name, SUFFIX_DECIDED, file);
        g_autoptr(GError) fault = NULL;
        if (fs_unlink(queue_fd(recovery->queue), file, &fault))
            recovery->report->rolled_forward++;
        else if (!stays(&fault, error)) /* one that does is rolled forward again, which changes nothing */
            return false;
    }
    return true;
}

static bool run(Recovery *recovery, bool thorough, GError **error)
{
    RecoverReport *report = recovery->report;
    if (!find_all(recovery, thorough, error))
        return false;
    report->unsettled = true;
    /* The decisions that we saw must be on the disk before others see the children. A name .done may be in the kernel's
     * memory alone: after a power cut the parent would be there as .bak, and be worked on beside its children. */
    if (recovery->decided->len > 0 && !fs_sync_dir(queue_fd(recovery->queue), error))
        return false;
    if (!settle_orphans(recovery, error))
        return false;
    /* The state of the children must be on the disk before anything becomes of their parents: a decided parent is the
     * only one who knows of a publication that a power cut undoes, and a child that comes back beside a parent that is
     * worked on anew would be published with the children of the new run. Children that were published before the
     * crash are not known any more; nor are children that were taken back by a process that was killed before it
     * synced that. So every directory is synced where there may have been any. */
    bool killed = (!thorough && recovery->others) || recovery->claimed->len > 0;
    if ((killed || recovery->decided->len > 0 || recovery->orphans->len != count_strays(recovery)) &&
        !spool_sync_queues(queue_spool(recovery->queue), error))
        return false;
    if (!unlink_decided(recovery, error) || !put_back_claimed(recovery, error) ||
        (!thorough && !take_in_stored(recovery->queue, recovery->intake, report, error)))
        return false;
    /* An entry that is put back needs no sync: should it be claimed again after a power cut, it is put back again. */
    if (report->preserved > 0 && !fs_sync_dir(queue_fd(recovery->queue), error))
        return false;
    report->unsettled = false;
    set_strays_aside(recovery);
    return true;
}

bool recover_slice(Queue *queue, Slice slice, bool thorough, RecoverReport *report, GError **error)
{
    g_autoptr(GArray) intake = g_array_new(FALSE, FALSE, sizeof(EntryName));
    g_autoptr(GArray) claimed = g_array_new(FALSE, FALSE, sizeof(Parent));
    g_autoptr(GArray) decided = g_array_new(FALSE, FALSE, sizeof(Parent));
    g_autoptr(GArray) orphans = g_array_new(FALSE, FALSE, sizeof(TaggedChild));
    g_autoptr(GHashTable) parents = set_new();
    g_autoptr(GHashTable) undecided = set_new();
    g_autoptr(GHashTable) settled = set_new();
    g_autoptr(GHashTable) kept = set_new();
    auto_fd lock = -1;
    bool looked = operate_look(queue_spool(queue), &lock, error);
    Recovery recovery = {queue,     slice,   intake, claimed, decided, orphans, parents,
                         undecided, settled, kept,   report,  false,   lock >= 0};
    if (looked && run(&recovery, thorough, error))
        return true;
    g_prefix_error(error, "recovery of queue %s: ", queue_name(queue));
    return false;
}

/* ---- beside living runners ---- */

/* Sweep says what a sweep looks for. */
typedef struct Sweep {
    Slice slice;
    time_t before;
    unsigned swept;
    GArray *found; /* of EntryName, where they are not removed */
} Sweep;

/* Intake that nobody has touched for long. */
static bool is_old(const Sweep *sweep, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    struct stat status;
    return strcmp(rest, SUFFIX_TMP) == 0 && slice_owns(sweep->slice, name->hash) &&
           fstatat(queue_fd(queue), file, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_mtime < sweep->before;
}

static void find_file(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    Sweep *sweep = data;
    if (is_old(sweep, queue, file, name, rest) && is_file(queue, file))
        g_array_append_val(sweep->found, *name);
}

static bool take_in(Queue *queue, Slice slice, int64_t age_us, RecoverReport *report, GError **error)
{
    g_autoptr(GArray) names = g_array_new(FALSE, FALSE, sizeof(EntryName));
    Sweep sweep = {.slice = slice, .before = (time_t)((clock_now() - age_us) / CLOCK_SECOND), .found = names};
    return queue_visit(queue, find_file, &sweep, error) &&
           (names->len == 0 || fs_sync_dir(queue_fd(queue), error)) && take_in_stored(queue, names, report, error);
}

bool recover_intake(Queue *queue, Slice slice, int64_t age_us, unsigned *completed, GError **error)
{
    RecoverReport report = {0};
    bool sound = take_in(queue, slice, age_us, &report, error);
    *completed = report.completed; /* what was set aside is set aside again, should a power cut undo it */
    return sound;
}

static void sweep_file(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    Sweep *sweep = data;
    if (!is_old(sweep, queue, file, name, rest))
        return;
    g_autoptr(GError) error = NULL;
    if (fs_unlink(queue_fd(queue), file, &error))
        sweep->swept++;
    else if (!g_error_matches(error, FAIL, FAIL_MISSING))
        log_warn("queue %s: sweep: %s", queue_name(queue), error->message);
}

bool recover_sweep(Queue *queue, Slice slice, int64_t age_us, unsigned *swept, GError **error)
{
    auto_fd lock = -1;
    if (!operate_look(queue_spool(queue), &lock, error))
        return false;
    RecoverReport report = {0};
    Sweep sweep = {.slice = slice, .before = (time_t)((clock_now() - age_us) / CLOCK_SECOND)};
    bool sound = take_in(queue, slice, age_us, &report, error) &&
                 (report.left > 0 || queue_visit(queue, sweep_file, &sweep, error)); /* what is left is whole */
    *swept = sweep.swept;
    return sound;
}
