/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "switchboard/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/child.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"
#include "switchboard/corrupt_internal.h"
#include "switchboard/format_internal.h"
#include "switchboard/operate_internal.h"
#include "switchboard/recover_internal.h"
#include "switchboard/suffix_internal.h"

/* A child found in some queue, of a parent in ours. */
typedef struct Orphan {
    Queue *queue;
    EntryName name;
    char file[FILE_NAME_SIZE];
    uint8_t parent[HASH_SIZE];
} Orphan;

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
    GArray *orphans; /* of Orphan: S1t */
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
    else if (strcmp(rest, SUFFIX_DECIDED) == 0 && recover_is_file(queue, file))
        g_array_append_val(recovery->decided, parent);
    else if (strcmp(rest, SUFFIX_TMP) == 0 && recover_is_file(queue, file))
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
    if (!recover_set_has(recovery->parents, name->hash))
        return;
    if (is_other(name, rest))
        recover_set_add(recovery->undecided, name->hash);
    else if (strcmp(rest, SUFFIX_PRESERVED) == 0)
        recover_set_add(recovery->kept, name->hash);
}

static void note_orphan(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    Recovery *recovery = data;
    Tag tag;
    if (strlen(file) >= FILE_NAME_SIZE || !suffix_parse_tag(&hand_runner, rest, &tag) ||
        strcmp(tag.queue, queue_name(recovery->queue)) != 0 || !slice_owns(recovery->slice, tag.hash) ||
        !recover_is_file(queue, file))
        return;
    Orphan orphan = {.queue = queue, .name = *name};
    g_strlcpy(orphan.file, file, sizeof orphan.file);
    memcpy(orphan.parent, tag.hash, HASH_SIZE);
    g_array_append_val(recovery->orphans, orphan);
    recover_set_add(recovery->parents, orphan.parent);
}

/* The process was killed from outside, as for want of memory: that was hardly the entry's fault, so it is not counted.
 * Which of those in hand was worked on is not known any more; each gets one crash less, in doubt in its favour. */
static void forgive(Parent *parent, int fd)
{
    char digit = (char)('0' + --parent->crashes);
    g_autoptr(GError) error = NULL;
    if (!fs_pwrite(fd, &digit, 1, FORMAT_CRASHES_OFFSET, &error))
        log_warn("crash count: %s", error->message);
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
        if (fd < 0 && recover_is_closed(recovery->queue, file)) {
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
        if (parent->crashes > 0 && child_replaces_killed())
            forgive(parent, fd);
    }
    return true;
}

static bool is_stray(const Recovery *recovery, const Orphan *orphan)
{
    return !recover_set_has(recovery->undecided, orphan->parent) &&
           !recover_set_has(recovery->settled, orphan->parent) && !recover_set_has(recovery->kept, orphan->parent);
}

static unsigned count_strays(const Recovery *recovery)
{
    unsigned strays = 0;
    for (guint i = 0; i < recovery->orphans->len; i++)
        strays += is_stray(recovery, &g_array_index(recovery->orphans, Orphan, i));
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
        recover_set_add(parent->unread ? recovery->kept : recovery->undecided, parent->name.hash);
    }
    for (guint i = 0; i < recovery->decided->len; i++)
        recover_set_add(recovery->settled, g_array_index(recovery->decided, Parent, i).name.hash);
    /* Twice: one that is renamed while the directory is listed may be missed, once. */
    for (int look = 0; look < 2 && count_strays(recovery) > 0; look++)
        if (!queue_visit(recovery->queue, note_other, recovery, error))
            return false;
    return true;
}

/* R6: nobody knows where they belong, so a person gets them, whole; nothing hangs on them, so what fails waits for the
 * next time. While an operator's command is at work a parent may just be changing its name; then all wait, too. */
static void set_strays_aside(Recovery *recovery)
{
    for (guint i = 0; i < recovery->orphans->len && recovery->alone; i++) {
        const Orphan *orphan = &g_array_index(recovery->orphans, Orphan, i);
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

/* R1 to R3 and R5, child by child. Those of a parent that is set aside stay: they go its way. An operator's command
 * takes back what its entry left behind, too, and may have been faster. */
static bool settle_orphans(Recovery *recovery, GError **error)
{
    for (guint i = 0; i < recovery->orphans->len; i++) {
        Orphan *orphan = &g_array_index(recovery->orphans, Orphan, i);
        bool settled = true;
        if (recover_set_has(recovery->settled, orphan->parent))
            settled = suffix_publish(orphan->queue, &orphan->name, orphan->file, error);
        else if (recover_set_has(recovery->undecided, orphan->parent))
            settled = suffix_unlink(orphan->queue, orphan->file, error);
        if (!settled)
            return false;
    }
    return true;
}

/* Nothing of one that stays is anywhere else, or its children stay with it. */
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
            moved = recover_set_aside(queue, recovery->report, name, claimed, why, &fault);
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
        if (!moved && !recover_stays(&fault, error))
            return false;
    }
    return true;
}

static bool unlink_decided(Recovery *recovery, GError **error)
{
    for (guint i = 0; i < recovery->decided->len; i++) {
        const Parent *parent = &g_array_index(recovery->decided, Parent, i);
        char file[FILE_NAME_SIZE];
        suffix_file(&parent->name, SUFFIX_DECIDED, file);
        g_autoptr(GError) fault = NULL;
        if (fs_unlink(queue_fd(recovery->queue), file, &fault))
            recovery->report->rolled_forward++;
        else if (!recover_stays(&fault, error)) /* one that does is rolled forward again, which changes nothing */
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
    /* The decisions that we saw must be on the disk before others see the children. */
    if (recovery->decided->len > 0 && !fs_sync_dir(queue_fd(recovery->queue), error))
        return false;
    if (!settle_orphans(recovery, error))
        return false;
    /* The state of the children must be on the disk before anything becomes of their parents. Children that were
     * published before the crash are not known any more; nor are children that were taken back by a process that was
     * killed before it synced that. So every directory is synced where there may have been any. */
    bool killed = (!thorough && recovery->others) || recovery->claimed->len > 0;
    if ((killed || recovery->decided->len > 0 || recovery->orphans->len != count_strays(recovery)) &&
        !spool_sync_queues(queue_spool(recovery->queue), error))
        return false;
    if (!unlink_decided(recovery, error) || !put_back_claimed(recovery, error) ||
        (!thorough && !recover_stored(recovery->queue, recovery->intake, report, error)))
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
    g_autoptr(GArray) orphans = g_array_new(FALSE, FALSE, sizeof(Orphan));
    g_autoptr(GHashTable) parents = recover_set_new();
    g_autoptr(GHashTable) undecided = recover_set_new();
    g_autoptr(GHashTable) settled = recover_set_new();
    g_autoptr(GHashTable) kept = recover_set_new();
    auto_fd lock = -1;
    bool looked = operate_look(queue_spool(queue), &lock, error);
    Recovery recovery = {queue,     slice,   intake, claimed, decided, orphans, parents,
                         undecided, settled, kept,   report,  false,   lock >= 0};
    if (looked && run(&recovery, thorough, error))
        return true;
    g_prefix_error(error, "recovery of queue %s: ", queue_name(queue));
    return false;
}
