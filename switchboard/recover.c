/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "switchboard/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
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
    const char *suffix;
    unsigned crashes;
} Parent;

typedef struct Recovery {
    Queue *queue;
    Slice slice;
    GArray *intake;  /* of EntryName: S1, whole or not */
    GArray *claimed; /* of Parent: S3 */
    GArray *decided; /* of Parent: S4 */
    GArray *orphans; /* of Orphan: S1t */
    GHashTable *parents;   /* hashes of the orphans' parents */
    GHashTable *undecided; /* parents in S3, and those of orphans in S1, S1t and S2 */
    GHashTable *settled;   /* parents in S4 */
    RecoverReport *report;
    bool others; /* there are entries in S1, S1t, S2, S6: they may have children, too */
    bool alone;  /* no operator's command is at work */
} Recovery;

static GHashTable *hash_set(void)
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

/* What bears one of our names and is no file, nobody here made; it would stand in the way
 * for ever. */
static bool is_file(Queue *queue, const char *file)
{
    struct stat status;
    if (fstatat(queue_fd(queue), file, &status, AT_SYMLINK_NOFOLLOW) != 0 || S_ISREG(status.st_mode))
        return true; /* or what follows will tell */
    log_error("queue %s: %s is not a regular file; it is left alone", queue_name(queue), file);
    return false;
}

/* In the queue, or on its way into it, and not claimed by its runner. (Nothing is its own parent.) */
static bool is_other(const EntryName *name, const char *rest)
{
    Tag tag;
    if (suffix_parse_tag(&hand_runner, rest, &tag) || suffix_parse_tag(&hand_operator, rest, &tag))
        return memcmp(tag.hash, name->hash, HASH_SIZE) != 0;
    return strcmp(rest, SUFFIX_READY) == 0 || strcmp(rest, SUFFIX_TAKEN) == 0 || strcmp(rest, SUFFIX_TMP) == 0;
}

static void note_state(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    Recovery *recovery = data;
    if (!slice_owns(recovery->slice, name->hash))
        return;
    Parent parent = {.name = *name};
    if (strcmp(rest, parent.suffix = SUFFIX_CLAIMED) == 0)
        g_array_append_val(recovery->claimed, parent);
    else if (strcmp(rest, parent.suffix = SUFFIX_DECIDED) == 0 && is_file(queue, file))
        g_array_append_val(recovery->decided, parent);
    else if (strcmp(rest, SUFFIX_TMP) == 0 && is_file(queue, file))
        g_array_append_val(recovery->intake, *name);
    recovery->others |= is_other(name, rest);
}

/* A parent that was not claimed as far as the disk knows: its own publication, or
 * its intake's rename, may not have reached it either. */
static void note_other(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    (void)queue;
    (void)file;
    Recovery *recovery = data;
    if (is_other(name, rest) && set_has(recovery->parents, name->hash))
        set_add(recovery->undecided, name->hash);
}

static void note_orphan(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    Recovery *recovery = data;
    Tag tag;
    if (strlen(file) >= FILE_NAME_SIZE || !suffix_parse_tag(&hand_runner, rest, &tag) ||
        strcmp(tag.queue, queue_name(recovery->queue)) != 0 || !slice_owns(recovery->slice, tag.hash) ||
        !is_file(queue, file))
        return;
    Orphan orphan = {.queue = queue, .name = *name};
    g_strlcpy(orphan.file, file, sizeof orphan.file);
    memcpy(orphan.parent, tag.hash, HASH_SIZE);
    g_array_append_val(recovery->orphans, orphan);
    set_add(recovery->parents, orphan.parent);
}

static bool find_orphans(Recovery *recovery, GError **error)
{
    Spool *spool = queue_spool(recovery->queue);
    g_auto(GStrv) names = spool_queue_names(spool, error);
    for (char **name = names; name && *name; name++) {
        Queue *queue = spool_queue(spool, *name, error);
        if (!queue || !queue_visit(queue, note_orphan, recovery, error))
            return false;
    }
    return names != NULL;
}

/* S5, in this slice's own queue; durable with the syncs at the end. */
static bool set_aside(Recovery *recovery, EntryName name, const char *file, const char *why, GError **error)
{
    log_error("queue %s: %s %s; it is set aside as " SUFFIX_PRESERVED, queue_name(recovery->queue), file, why);
    recovery->report->preserved++;
    return suffix_move(recovery->queue, &name, file, SUFFIX_PRESERVED, error);
}

/* A file of ours that somebody has taken from us: its owner or mode was changed. No waiting helps, and
 * the others shall not wait. */
static bool is_closed(Queue *queue, const char *file)
{
    return faccessat(queue_fd(queue), file, R_OK | W_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) != 0 && errno == EACCES;
}

/* Of those named .bak, the ones that were decided in their heads change over. The
 * rest of a file is not verified: a damaged entry is found when it is claimed. */
static bool read_heads(Recovery *recovery, GError **error)
{
    for (guint i = recovery->claimed->len; i-- > 0;) {
        Parent *parent = &g_array_index(recovery->claimed, Parent, i);
        char file[FILE_NAME_SIZE], head[FORMAT_CRASHES_OFFSET + 1] = "";
        suffix_file(&parent->name, SUFFIX_CLAIMED, file);
        g_autoptr(GError) fault = NULL;
        auto_fd fd = fs_open(queue_fd(recovery->queue), file, false, &fault);
        if (fd < 0 && g_error_matches(fault, FAIL, FAIL_NEVER))
            continue; /* no regular file */
        if (fd < 0 && is_closed(recovery->queue, file)) {
            if (!set_aside(recovery, parent->name, file, "may not be read", error))
                return false;
            g_array_remove_index(recovery->claimed, i);
            continue;
        }
        if (fd < 0) {
            g_propagate_error(error, g_steal_pointer(&fault));
            return false;
        }
        ssize_t got = TEMP_FAILURE_RETRY(pread(fd, head, sizeof head, 0));
        if (got < 0 && errno != EIO)
            return fail_errno(error, FAIL_LATER, "read %s", file);
        if (got < 0) { /* was it decided? nobody knows */
            if (!set_aside(recovery, parent->name, file, CANNOT_BE_READ, error))
                return false;
            g_array_remove_index(recovery->claimed, i);
            continue;
        }
        if (got == sizeof head && g_ascii_isdigit(head[FORMAT_CRASHES_OFFSET]))
            parent->crashes = (unsigned)(head[FORMAT_CRASHES_OFFSET] - '0');
        if (got < (ssize_t)FORMAT_MAGIC_SIZE || memcmp(head, FORMAT_MAGIC_DECIDED, FORMAT_MAGIC_SIZE) != 0)
            continue;
        /* What we saw must be so on the disk before others see its children. */
        if (!fs_sync_file(fd, error))
            return false;
        g_array_append_val(recovery->decided, *parent);
        g_array_remove_index(recovery->claimed, i);
    }
    return true;
}

static bool is_stray(const Recovery *recovery, const Orphan *orphan)
{
    return !set_has(recovery->undecided, orphan->parent) && !set_has(recovery->settled, orphan->parent);
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
    if (!queue_visit(recovery->queue, note_state, recovery, error) || !read_heads(recovery, error))
        return false;
    if (!thorough && !recovery->others && recovery->claimed->len == 0 && recovery->decided->len == 0)
        return true;
    if (!find_orphans(recovery, error))
        return false;
    for (guint i = 0; i < recovery->claimed->len; i++)
        set_add(recovery->undecided, g_array_index(recovery->claimed, Parent, i).name.hash);
    for (guint i = 0; i < recovery->decided->len; i++)
        set_add(recovery->settled, g_array_index(recovery->decided, Parent, i).name.hash);
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
        if (corrupt_set_stray_aside(orphan->queue, &orphan->name, orphan->file, &error))
            recovery->report->strays++;
        else
            log_error("queue %s: %s stays there: %s", queue_name(orphan->queue), orphan->file, error->message);
    }
}

/* An operator's command may have been faster: it takes back what its entry left behind, too. */
static bool take_back(const Orphan *orphan, GError **error)
{
    g_autoptr(GError) fault = NULL;
    if (fs_unlink(queue_fd(orphan->queue), orphan->file, &fault) || g_error_matches(fault, FAIL, FAIL_MISSING))
        return true;
    g_propagate_error(error, g_steal_pointer(&fault));
    return false;
}

/* R1 to R3 and R5, child by child. */
static bool settle_orphans(Recovery *recovery, GError **error)
{
    for (guint i = 0; i < recovery->orphans->len; i++) {
        Orphan *orphan = &g_array_index(recovery->orphans, Orphan, i);
        bool settled = true;
        if (set_has(recovery->settled, orphan->parent))
            settled = suffix_publish(orphan->queue, &orphan->name, orphan->file, error);
        else if (set_has(recovery->undecided, orphan->parent))
            settled = take_back(orphan, error);
        if (!settled)
            return false;
    }
    return true;
}

/* What became of the children must be on the disk before anything becomes of their parents. Those that were published
 * before the crash are not known any more; nor those that were taken back by a process that was killed before it synced
 * that. So every directory is synced where there may have been any. */
static bool sync_children(const Recovery *recovery, bool thorough, GError **error)
{
    bool killed = !thorough && (recovery->others || recovery->claimed->len > 0);
    return (!killed && recovery->decided->len == 0 && recovery->orphans->len == count_strays(recovery)) ||
           spool_sync_queues(queue_spool(recovery->queue), error);
}

static bool put_back_claimed(Recovery *recovery, GError **error)
{
    for (guint i = 0; i < recovery->claimed->len; i++) {
        const Parent *parent = &g_array_index(recovery->claimed, Parent, i);
        EntryName name = parent->name;
        char claimed[FILE_NAME_SIZE];
        suffix_file(&name, SUFFIX_CLAIMED, claimed);
        if (parent->crashes >= RECOVER_CRASHES_LIMIT) {
            g_autofree char *why = g_strdup_printf("crashed its runner %u times", parent->crashes);
            if (!set_aside(recovery, name, claimed, why, error))
                return false;
            continue;
        }
        recovery->report->rolled_back++;
        if (!suffix_publish(recovery->queue, &name, claimed, error))
            return false;
    }
    return true;
}

/* The disk itself does not give the octets; everything else may be better the next time. */
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

/* T1 once more, but for the directory. What the disk has damaged since will be ready, too: who claims it moves it to
 * corrupt/ (T11). */
static bool sync_stored(Recovery *recovery, const EntryName *name, const char *file, Entry *entry, GError **error)
{
    auto_fd fd = entry ? -1 : fs_open(queue_fd(recovery->queue), file, false, error);
    if (!entry && fd < 0)
        return false;
    bool whole = true;
    if (!entry && !was_whole(fd, name, &whole, error)) {
        g_prefix_error(error, "%s: ", file);
        return false;
    }
    if (!whole)
        return fail(error, FAIL_NEVER, "%s is a part", file);
    return fs_sync_file(entry ? entry_fd(entry) : fd, error);
}

static void note_stored(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    (void)queue;
    (void)file;
    Recovery *recovery = data;
    if (suffix_is_stored(rest) && set_has(recovery->parents, name->hash))
        set_add(recovery->settled, name->hash);
}

/* Of intake that is made again until it is stored (`once`), an earlier try may have been stored already, due
 * at another time perhaps: what a later one left has nothing to add. */
static bool drop_stored(Recovery *recovery, GError **error)
{
    g_hash_table_remove_all(recovery->parents);
    g_hash_table_remove_all(recovery->settled);
    for (guint i = 0; i < recovery->intake->len; i++)
        set_add(recovery->parents, g_array_index(recovery->intake, EntryName, i).hash);
    if (recovery->intake->len > 0 && !queue_visit(recovery->queue, note_stored, recovery, error))
        return false;
    for (guint i = recovery->intake->len; i-- > 0;) {
        const EntryName *name = &g_array_index(recovery->intake, EntryName, i);
        if (!set_has(recovery->settled, name->hash))
            continue;
        char file[FILE_NAME_SIZE];
        suffix_file(name, SUFFIX_TMP, file);
        g_autoptr(GError) fault = NULL;
        if (!fs_unlink(queue_fd(recovery->queue), file, &fault) && !g_error_matches(fault, FAIL, FAIL_MISSING)) {
            g_propagate_error(error, g_steal_pointer(&fault));
            return false;
        }
        g_array_remove_index(recovery->intake, i);
    }
    return true;
}

/* What is whole stays in recovery->intake; what cannot be read is set aside, and what is a part is left. */
static bool sync_intake(Recovery *recovery, GError **error)
{
    for (guint i = recovery->intake->len; i-- > 0;) {
        EntryName name = g_array_index(recovery->intake, EntryName, i);
        char file[FILE_NAME_SIZE];
        suffix_file(&name, SUFFIX_TMP, file);
        g_autoptr(GError) fault = NULL;
        g_autoptr(Entry) entry = entry_open(recovery->queue, file, &fault);
        bool damaged = g_error_matches(fault, FAIL, FAIL_NEVER);
        if (damaged)
            g_clear_error(&fault);
        if ((entry || damaged) && sync_stored(recovery, &name, file, entry, &fault))
            continue;
        bool later = g_error_matches(fault, FAIL, FAIL_LATER);
        const char *why = entry || !later                     ? NULL
                          : is_lost(recovery->queue, file)   ? CANNOT_BE_READ
                          : is_closed(recovery->queue, file) ? "may not be read"
                                                             : NULL;
        if (why && !set_aside(recovery, name, file, why, error))
            return false;
        if (later && !why) {
            g_propagate_error(error, g_steal_pointer(&fault));
            return false;
        }
        g_array_remove_index(recovery->intake, i);
    }
    return true;
}

/* R8: what intake made whole under its temporary name: T1 and T2 once more; the caller has synced the directory since
 * the names were found. What is not whole was never promised, and is left to the sweep; so is what a living intake is
 * just writing. One that was faster, or is, finds the name gone and the entry stored. */
static bool complete_intake(Recovery *recovery, GError **error)
{
    if (!drop_stored(recovery, error) || !sync_intake(recovery, error))
        return false;
    for (guint i = 0; i < recovery->intake->len; i++) {
        EntryName name = g_array_index(recovery->intake, EntryName, i);
        char file[FILE_NAME_SIZE];
        suffix_file(&name, SUFFIX_TMP, file);
        g_autoptr(GError) fault = NULL;
        if (suffix_publish(recovery->queue, &name, file, &fault)) {
            recovery->report->completed++;
        } else if (g_error_matches(fault, FAIL, FAIL_LATER)) {
            g_propagate_error(error, g_steal_pointer(&fault));
            return false;
        }
    }
    return true;
}

static bool unlink_decided(Recovery *recovery, GError **error)
{
    for (guint i = 0; i < recovery->decided->len; i++) {
        const Parent *parent = &g_array_index(recovery->decided, Parent, i);
        char file[FILE_NAME_SIZE];
        suffix_file(&parent->name, parent->suffix, file);
        if (!fs_unlink(queue_fd(recovery->queue), file, error))
            return false;
        recovery->report->rolled_forward++;
    }
    return true;
}

static bool run(Recovery *recovery, bool thorough, GError **error)
{
    RecoverReport *report = recovery->report;
    if (!find_all(recovery, thorough, error))
        return false;
    report->unsettled = true;
    /* What we saw as decided must be so on the disk before others see its
     * children. */
    if (recovery->decided->len > 0 && !fs_sync_dir(queue_fd(recovery->queue), error))
        return false;
    if (!settle_orphans(recovery, error) || !sync_children(recovery, thorough, error))
        return false;
    if (!unlink_decided(recovery, error) || !put_back_claimed(recovery, error) ||
        (!thorough && !complete_intake(recovery, error)))
        return false;
    /* What is put back needs no sync: should it be claimed again after a power cut, it is put back again. */
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
    g_autoptr(GHashTable) parents = hash_set();
    g_autoptr(GHashTable) undecided = hash_set();
    g_autoptr(GHashTable) settled = hash_set();
    auto_fd lock = -1;
    bool looked = operate_look(queue_spool(queue), &lock, error);
    Recovery recovery = {queue, slice, intake, claimed, decided, orphans, parents, undecided, settled, report, false,
                         lock >= 0};
    if (looked && run(&recovery, thorough, error))
        return true;
    g_prefix_error(error, "recovery of queue %s: ", queue_name(queue));
    return false;
}

/* What a sweep looks for. */
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

bool recover_intake(Queue *queue, Slice slice, int64_t age_us, unsigned *completed, GError **error)
{
    g_autoptr(GArray) intake = g_array_new(FALSE, FALSE, sizeof(EntryName));
    g_autoptr(GHashTable) wanted = hash_set();
    g_autoptr(GHashTable) stored = hash_set();
    Sweep sweep = {.slice = slice, .before = (time_t)((clock_now() - age_us) / CLOCK_SECOND), .found = intake};
    RecoverReport report = {0};
    Recovery recovery = {.queue = queue, .slice = slice, .intake = intake, .parents = wanted, .settled = stored,
                         .report = &report};
    bool sound = queue_visit(queue, find_file, &sweep, error) &&
                 (intake->len == 0 || fs_sync_dir(queue_fd(queue), error)) && complete_intake(&recovery, error);
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
    unsigned completed;
    Sweep sweep = {.slice = slice, .before = (time_t)((clock_now() - age_us) / CLOCK_SECOND)};
    bool sound = recover_intake(queue, slice, age_us, &completed, error) &&
                 queue_visit(queue, sweep_file, &sweep, error);
    *swept = sweep.swept;
    return sound;
}
