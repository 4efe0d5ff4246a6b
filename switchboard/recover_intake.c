/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
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
#include "switchboard/entry.h"
#include "switchboard/format_internal.h"
#include "switchboard/operate_internal.h"
#include "switchboard/recover_internal.h"
#include "switchboard/suffix_internal.h"

GHashTable *recover_set_new(void)
{
    return g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
}

void recover_set_add(GHashTable *set, const uint8_t *hash)
{
    g_hash_table_add(set, g_bytes_new(hash, HASH_SIZE));
}

bool recover_set_has(GHashTable *set, const uint8_t *hash)
{
    g_autoptr(GBytes) key = g_bytes_new_static(hash, HASH_SIZE);
    return g_hash_table_contains(set, key);
}

bool recover_is_file(Queue *queue, const char *file)
{
    struct stat status;
    if (fstatat(queue_fd(queue), file, &status, AT_SYMLINK_NOFOLLOW) != 0 || S_ISREG(status.st_mode))
        return true; /* or what follows will tell */
    log_error("queue %s: %s is not a regular file; it is left alone", queue_name(queue), file);
    return false;
}

bool recover_set_aside(Queue *queue, RecoverReport *report, EntryName name, const char *file, const char *why,
                       GError **error)
{
    if (!suffix_move(queue, &name, file, SUFFIX_PRESERVED, error))
        return false;
    log_error("queue %s: %s %s; it is set aside as " SUFFIX_PRESERVED, queue_name(queue), file, why);
    report->preserved++;
    return true;
}

bool recover_is_closed(Queue *queue, const char *file)
{
    auto_fd fd = fs_open(queue_fd(queue), file, true, NULL);
    return fd < 0 && (errno == EACCES || errno == EPERM);
}

bool recover_stays(GError **fault, GError **error)
{
    if (!g_error_matches(*fault, FAIL, FAIL_NEVER)) {
        g_propagate_error(error, g_steal_pointer(fault));
        return false;
    }
    log_error("%s; it stays there", (*fault)->message);
    g_clear_error(fault);
    return true;
}

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
    if (g_strv_contains(suffix_stored, rest) && recover_set_has(take->wanted, name->hash))
        recover_set_add(take->stored, name->hash);
}

/* Of intake that is made again until it is stored (`once`), an earlier try may have been stored already, due
 * at another time perhaps: what a later one left has nothing to add. */
static bool drop_stored(TakeIn *take, GError **error)
{
    for (guint i = 0; i < take->names->len; i++)
        recover_set_add(take->wanted, g_array_index(take->names, EntryName, i).hash);
    if (take->names->len > 0 && !queue_visit(take->queue, note_stored, take, error))
        return false;
    for (guint i = take->names->len; i-- > 0;) {
        const EntryName *name = &g_array_index(take->names, EntryName, i);
        if (!recover_set_has(take->stored, name->hash))
            continue;
        char file[FILE_NAME_SIZE];
        suffix_file(name, SUFFIX_TMP, file);
        g_autoptr(GError) fault = NULL;
        if (!suffix_unlink(take->queue, file, &fault) && !recover_stays(&fault, error))
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
        const char *why = !later                                 ? NULL
                          : is_lost(take->queue, file)           ? CANNOT_BE_READ
                          : recover_is_closed(take->queue, file) ? MAY_NOT_BE_READ
                                                                 : NULL;
        if (later && !why)
            return fail_with(error, &fault);
        g_autoptr(GError) unmoved = NULL;
        if (why && !recover_set_aside(take->queue, take->report, name, file, why, &unmoved)) {
            take->report->left++; /* it may be whole, so no sweep takes it */
            if (!recover_stays(&unmoved, error))
                return false;
        }
    }
    return true;
}

/* A file that is not whole was never promised, and is left to the sweep; so is a file that a living intake is just
 * writing. An intake that was faster, or is, finds the name gone and the entry stored. */
bool recover_stored(Queue *queue, GArray *names, RecoverReport *report, GError **error)
{
    g_autoptr(GHashTable) wanted = recover_set_new();
    g_autoptr(GHashTable) stored = recover_set_new();
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
    if (is_old(sweep, queue, file, name, rest) && recover_is_file(queue, file))
        g_array_append_val(sweep->found, *name);
}

static bool take_in(Queue *queue, Slice slice, int64_t age_us, RecoverReport *report, GError **error)
{
    g_autoptr(GArray) names = g_array_new(FALSE, FALSE, sizeof(EntryName));
    Sweep sweep = {.slice = slice, .before = (time_t)((clock_now() - age_us) / CLOCK_SECOND), .found = names};
    return queue_visit(queue, find_file, &sweep, error) &&
           (names->len == 0 || fs_sync_dir(queue_fd(queue), error)) && recover_stored(queue, names, report, error);
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
