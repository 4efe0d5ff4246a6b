/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/archive/mbox_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"

#define LINE_LENGTH (MBOX_KEY_LENGTH + 1 + 12 + 1 + 10 + 1)
#define MAGIC "listrunner mbox 1 "
#define STATE_AT (sizeof(MAGIC) - 1)
#define MARK "until "
#define BLOCK_MIN (4096 / LINE_LENGTH * LINE_LENGTH) /* of the index, read at once */
#define BLOCK_MAX (1024 * 1024 / LINE_LENGTH * LINE_LENGTH)
#define LOCK_STEP (10 * CLOCK_SECOND / 1000)

struct MboxFile {
    char *name;
    int dir_fd, mbox_fd, index_fd, intent_fd;
    bool locked, appended;
    bool named; /* the directory was synced since we opened the files: who made them may have died before */
    off_t offset, index_end;        /* where the append begins, in both files */
    GString *text, *lines;          /* to append; lines have offsets from the start of text */
    unsigned count;
    int64_t latest; /* no mail of the index or of what is added arrived after that */
    /* The index as it was when we first locked it, or first after an append of ours failed: behind it is what others
     * stored, and what we know to have stored. */
    bool found;
    off_t found_end;
    int64_t found_latest;
};

typedef struct Intent {
    uint64_t inode, offset, length, index, count;
    char sha1[MBOX_KEY_LENGTH + 1];
    char state;
    GBytes *octets; /* the whole file */
    const char *lines;
} Intent;

static int open_or_create(MboxFile *file, const char *suffix, GError **error)
{
    g_autofree char *name = g_strconcat(file->name, suffix, NULL);
    for (;;) { /* another instance may make or someone may rotate it meanwhile */
        g_autoptr(GError) problem = NULL;
        int fd = fs_open(file->dir_fd, name, true, &problem);
        if (fd < 0 && g_error_matches(problem, FAIL, FAIL_MISSING)) {
            g_clear_error(&problem);
            fd = fs_create(file->dir_fd, name, &problem);
        }
        file->named = false;
        if (fd >= 0)
            return fd;
        if (!g_error_matches(problem, FAIL, FAIL_EXISTS)) {
            g_propagate_error(error, g_steal_pointer(&problem));
            return -1;
        }
    }
}

static bool open_all(MboxFile *file, GError **error)
{
    return (file->mbox_fd = open_or_create(file, ".mbox", error)) >= 0 &&
           (file->index_fd = open_or_create(file, ".mbox.index", error)) >= 0 &&
           (file->intent_fd = open_or_create(file, ".mbox.intent", error)) >= 0;
}

MboxFile *mbox_file_open(int dir_fd, const char *name, GError **error)
{
    g_autoptr(MboxFile) file = g_new0(MboxFile, 1);
    file->name = g_strdup(name);
    file->dir_fd = dir_fd;
    file->mbox_fd = file->index_fd = file->intent_fd = -1;
    file->text = g_string_new(NULL);
    file->lines = g_string_new(NULL);
    return open_all(file, error) ? g_steal_pointer(&file) : NULL;
}

void mbox_file_free(MboxFile *file)
{
    if (file == NULL)
        return;
    auto_fd_close(&file->mbox_fd);
    auto_fd_close(&file->index_fd);
    auto_fd_close(&file->intent_fd);
    g_string_free(file->text, TRUE);
    g_string_free(file->lines, TRUE);
    g_free(file->name);
    g_free(file);
}

static bool size_of(int fd, off_t *size, GError **error)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return fail_errno(error, FAIL_LATER, "stat");
    *size = status.st_size;
    return true;
}

/* The intent's checksum is taken with P for its state. */
static char *checksum(const char *octets, size_t length)
{
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA1);
    g_checksum_update(sum, (const guchar *)octets, STATE_AT);
    g_checksum_update(sum, (const guchar *)"P", 1);
    g_checksum_update(sum, (const guchar *)octets + STATE_AT + 1, (gssize)(length - STATE_AT - 1));
    return g_strdup(g_checksum_get_string(sum));
}

/* Reads the intent; *valid is false when there is none or it is torn. */
static bool intent_read(MboxFile *file, Intent *intent, bool *valid, GError **error)
{
    off_t size = 0;
    *valid = false;
    if (!size_of(file->intent_fd, &size, error))
        return false;
    g_autofree char *octets = g_malloc((gsize)size + 1);
    ssize_t got = pread(file->intent_fd, octets, (size_t)size, 0);
    if (got < 0)
        return fail_errno(error, FAIL_LATER, "read %s.mbox.intent", file->name);
    octets[got] = '\0';
    int head = 0;
    if (sscanf(octets, MAGIC "%c %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %40[0-9a-f]%n",
               &intent->state, &intent->inode, &intent->offset, &intent->length, &intent->index, &intent->count,
               intent->sha1, &head) != 7 ||
        octets[head] != '\n' || intent->count > (uint64_t)got / LINE_LENGTH)
        return true;
    size_t summed = (size_t)head + 1 + (size_t)intent->count * LINE_LENGTH;
    if ((size_t)got < summed + MBOX_KEY_LENGTH + 1)
        return true;
    g_autofree char *sum = checksum(octets, summed);
    *valid = memcmp(octets + summed, sum, MBOX_KEY_LENGTH) == 0;
    intent->octets = g_bytes_new_take(g_steal_pointer(&octets), (gsize)got);
    intent->lines = (const char *)g_bytes_get_data(intent->octets, NULL) + head + 1;
    return true;
}

/* To be synced also when it is no longer than that: who cut it may have died before. */
static bool cut(int fd, off_t to, GError **error)
{
    off_t size = 0;
    return size_of(fd, &size, error) && (size <= to || fs_truncate(fd, to, error));
}

static bool roll_back(MboxFile *file, const Intent *intent, off_t size, GError **error)
{
    if ((uint64_t)size > intent->offset + intent->length) {
        log_warn("mbox=%s torn-at=%" PRIu64 " octets=%" PRIu64
                 " reason=\"another program wrote behind it; left as it is\"",
                 file->name, intent->offset, intent->length);
    } else if (!cut(file->mbox_fd, (off_t)intent->offset, error) || !fs_sync_file(file->mbox_fd, error)) {
        return false;
    }
    return cut(file->index_fd, (off_t)intent->index, error) && fs_sync_file(file->index_fd, error);
}

static void mark_complete(MboxFile *file)
{
    /* Unsynced: when it is lost, recovery finds the append whole. */
    fs_pwrite(file->intent_fd, "C", 1, STATE_AT, NULL);
}

/* Complete an append that an intent tells of, when all of its bytes are there; else undo it. */
static bool recover(MboxFile *file, GError **error)
{
    Intent intent = {.octets = NULL};
    bool valid;
    struct stat status;
    bool readable = intent_read(file, &intent, &valid, error);
    g_autoptr(GBytes) octets = intent.octets;
    if (!readable)
        return false;
    if (fstat(file->mbox_fd, &status) != 0)
        return fail_errno(error, FAIL_LATER, "stat %s.mbox", file->name);
    if (!valid || intent.state != 'P' || intent.inode != status.st_ino || (uint64_t)status.st_size < intent.offset)
        return true;
    bool whole = false;
    if ((uint64_t)status.st_size >= intent.offset + intent.length) {
        /* A map spares a copy of what may be large. */
        off_t page = (off_t)intent.offset & ~(off_t)(sysconf(_SC_PAGESIZE) - 1);
        size_t before = (size_t)((off_t)intent.offset - page), mapped = (size_t)intent.length + before;
        char *map = mmap(NULL, mapped, PROT_READ, MAP_SHARED, file->mbox_fd, page);
        if (map == MAP_FAILED)
            return fail_errno(error, FAIL_LATER, "map");
        g_autofree char *sha1 =
            g_compute_checksum_for_data(G_CHECKSUM_SHA1, (guchar *)map + before, (gsize)intent.length);
        munmap(map, mapped);
        whole = strcmp(sha1, intent.sha1) == 0;
    }
    log_info("mbox=%s recovered=%s lines=%" PRIu64, file->name, whole ? "completed" : "undone", intent.count);
    if (whole) {
        /* Bytes whose sync may have failed are taken for written by the kernel, so they are written again. */
        g_autofree char *text = g_malloc(intent.length + 1);
        ssize_t got = pread(file->mbox_fd, text, (size_t)intent.length, (off_t)intent.offset);
        if (got < 0)
            return fail_errno(error, FAIL_LATER, "read %s.mbox", file->name);
        size_t lines = (size_t)intent.count * LINE_LENGTH;
        if (!fs_pwrite(file->mbox_fd, text, (size_t)got, (off_t)intent.offset, error) ||
            !fs_pwrite(file->index_fd, intent.lines, lines, (off_t)intent.index, error) ||
            !cut(file->index_fd, (off_t)(intent.index + lines), error) || !fs_sync_file(file->mbox_fd, error) ||
            !fs_sync_file(file->index_fd, error))
            return false;
    } else if (!roll_back(file, &intent, status.st_size, error)) {
        return false;
    }
    mark_complete(file);
    return true;
}

static bool is_in_place(const MboxFile *file, int fd, const char *suffix)
{
    g_autofree char *name = g_strconcat(file->name, suffix, NULL);
    struct stat ours, there;
    return fstat(fd, &ours) == 0 && fstatat(file->dir_fd, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

/* The time of a mark; -1 when the line is none. */
static int64_t mark_time(const char *line)
{
    return memcmp(line, MARK, strlen(MARK)) == 0 ? g_ascii_strtoll(line + strlen(MARK), NULL, 10) : -1;
}

static bool read_index(MboxFile *file, char *lines, size_t length, off_t from, GError **error)
{
    ssize_t got = pread(file->index_fd, lines, length, from);
    if (got < 0)
        return fail_errno(error, FAIL_LATER, "read %s.mbox.index", file->name);
    return (size_t)got == length || fail(error, FAIL_LATER, "%s.mbox.index became shorter", file->name);
}

/* Where both files end now. An index whose last line is no mark, since somebody cut it, knows no arrivals: they are
 * past. */
static bool look_at_ends(MboxFile *file, GError **error)
{
    char last[LINE_LENGTH + 1] = "";
    if (!size_of(file->mbox_fd, &file->offset, error) || !size_of(file->index_fd, &file->index_end, error))
        return false;
    file->index_end -= file->index_end % LINE_LENGTH; /* never torn by us; a line cut by someone else is lost */
    file->latest = 0;
    if (file->index_end > 0) {
        if (!read_index(file, last, LINE_LENGTH, file->index_end - LINE_LENGTH, error))
            return false;
        file->latest = mark_time(last);
        if (file->latest < 0)
            file->latest = clock_now();
    }
    if (!file->found) {
        file->found_end = file->index_end;
        file->found_latest = file->latest;
        file->found = true;
    }
    return true;
}

bool mbox_file_lock(MboxFile *file, int64_t wait_us, GError **error)
{
    if (file->locked)
        return true;
    int64_t deadline = clock_monotonic() + wait_us;
    do { /* whoever had the lock may have put another file in the place of this one */
        /* Since we opened the files someone may have moved the mbox away (rotation) or removed all three (list remove).
         * Those that are in place are opened again as they are. */
        if (!is_in_place(file, file->mbox_fd, ".mbox") || !is_in_place(file, file->index_fd, ".mbox.index") ||
            !is_in_place(file, file->intent_fd, ".mbox.intent")) {
            auto_fd_close(&file->mbox_fd);
            auto_fd_close(&file->index_fd);
            auto_fd_close(&file->intent_fd);
            file->found = false; /* the index may be another one */
            if (!open_all(file, error))
                return false;
        }
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        while (fcntl(file->mbox_fd, F_SETLK, &lock) != 0) {
            if (errno != EACCES && errno != EAGAIN && errno != EINTR)
                return fail_errno(error, FAIL_LATER, "lock %s.mbox", file->name);
            if (clock_monotonic() >= deadline)
                return fail(error, FAIL_RACE, "%s.mbox is locked by another program", file->name);
            g_usleep(LOCK_STEP);
        }
    } while (!is_in_place(file, file->mbox_fd, ".mbox"));
    file->locked = true;
    if (recover(file, error) && look_at_ends(file, error))
        return true;
    mbox_file_abandon(file);
    return false;
}

bool mbox_file_locked(const MboxFile *file)
{
    return file->locked;
}

bool mbox_file_knows(MboxFile *file, const MboxKey *key, bool *known, GError **error)
{
    off_t end = key->again ? file->index_end : file->found_end;
    bool older = key->arrival > (key->again ? file->latest : file->found_latest);
    *known = memmem(file->lines->str, file->lines->len, key->text, MBOX_KEY_LENGTH) != NULL;
    for (size_t size = BLOCK_MIN; !*known && !older && end > 0; size = MIN(2 * size, BLOCK_MAX)) {
        size_t length = MIN(size, (size_t)end);
        g_autofree char *lines = g_malloc(length);
        end -= (off_t)length;
        if (!read_index(file, lines, length, end, error))
            return false;
        *known = memmem(lines, length, key->text, MBOX_KEY_LENGTH) != NULL;
        /* Is there an older mark in these lines? Marks never go back: the first will do. */
        for (const char *line = lines; line < lines + length; line += LINE_LENGTH) {
            int64_t time = mark_time(line);
            older = time >= 0 && time < key->arrival;
            if (time >= 0)
                break;
        }
    }
    return true;
}

static void add_line(MboxFile *file, const char *key, size_t length)
{
    g_string_append_printf(file->lines, "%-40.40s %012" PRIu64 " %010zu\n", key,
                           (uint64_t)file->offset + file->text->len, length);
}

void mbox_file_add(MboxFile *file, const MboxKey *key, const char *octets, size_t length)
{
    char last = '\n';
    if (file->count == 0 && file->offset > 0 && pread(file->mbox_fd, &last, 1, file->offset - 1) == 1 && last != '\n')
        g_string_append_c(file->text, '\n'); /* another program left a line open */
    add_line(file, key->text, length);
    g_string_append_len(file->text, octets, (gssize)length);
    file->latest = MAX(file->latest, key->arrival);
    file->count++;
}

size_t mbox_file_pending(const MboxFile *file)
{
    return file->text->len;
}

bool mbox_file_begin(MboxFile *file, GError **error)
{
    struct stat status;
    if (file->count == 0) /* all of it was known */
        return true;
    if (fstat(file->mbox_fd, &status) != 0)
        return fail_errno(error, FAIL_LATER, "stat %s.mbox", file->name);
    g_autofree char *mark = g_strdup_printf(MARK "%016" PRId64, file->latest);
    add_line(file, mark, 0);
    g_autofree char *sha1 = g_compute_checksum_for_data(G_CHECKSUM_SHA1, (guchar *)file->text->str, file->text->len);
    g_autoptr(GString) intent = g_string_new(NULL);
    g_string_printf(intent, MAGIC "P %" PRIu64 " %" PRIu64 " %zu %" PRIu64 " %u %s\n", (uint64_t)status.st_ino,
                    (uint64_t)file->offset, file->text->len, (uint64_t)file->index_end, file->count + 1, sha1);
    g_string_append_len(intent, file->lines->str, (gssize)file->lines->len);
    g_autofree char *sum = checksum(intent->str, intent->len);
    g_string_append_printf(intent, "%s\n", sum);
    file->appended = false;
    return fs_truncate(file->intent_fd, 0, error) && fs_pwrite(file->intent_fd, intent->str, intent->len, 0, error);
}

bool mbox_file_append(MboxFile *file, GError **error)
{
    file->appended = true;
    return file->count == 0 ||
           (fs_pwrite(file->mbox_fd, file->text->str, file->text->len, file->offset, error) &&
            fs_pwrite(file->index_fd, file->lines->str, file->lines->len, file->index_end, error));
}

void mbox_file_syncs(const MboxFile *file, GArray *group)
{
    if (file->count == 0)
        return;
    FsSync first = {.fd = file->appended ? file->mbox_fd : file->intent_fd};
    FsSync second = {.fd = file->appended ? file->index_fd : file->dir_fd, .directory = !file->appended};
    g_array_append_val(group, first);
    if (file->appended || !file->named)
        g_array_append_val(group, second);
}

static void unlock(MboxFile *file)
{
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    fcntl(file->mbox_fd, F_SETLK, &lock);
    file->locked = false;
    file->count = 0;
    file->appended = false;
    g_string_truncate(file->text, 0);
    g_string_truncate(file->lines, 0);
}

void mbox_file_end(MboxFile *file)
{
    mark_complete(file);
    file->named = true;
    unlock(file);
}

void mbox_file_abandon(MboxFile *file)
{
    file->found = false; /* what was appended all the same is found by the next lock */
    unlock(file);
}
