/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/posts/refused.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"
#include "lists/archive/archive_place.h"
#include "switchboard/meta.h"

#define SECTION "refused"
#define TOTAL "total"
#define BLOCK UINT64_C(4096)
#define TIME_DIGITS 16
#define QUIET (60 * CLOCK_SECOND) /* between two complaints in the log */
#define UNDER_WAY "tmp"           /* a file without its name yet begins so */
#define ABANDONED (3600 * CLOCK_SECOND)

void refused_clear(Refused *mail)
{
    g_clear_pointer(&mail->list_id, g_free);
    g_clear_pointer(&mail->name, g_free);
    g_clear_pointer(&mail->trace, g_free);
    g_clear_pointer(&mail->fate, g_free);
    g_clear_pointer(&mail->reasons, g_free);
    g_clear_pointer(&mail->meta, json_decref);
    g_clear_pointer(&mail->octets, g_bytes_unref);
}

bool refused_wanted(const Config *config)
{
    return config && config_duration(config, SECTION, "keep") > 0;
}

static const char *directory_of(const Config *config)
{
    return config_string(config, SECTION, "directory");
}

static uint64_t blocks(uint64_t octets)
{
    return (octets + BLOCK - 1) / BLOCK * BLOCK;
}

/* ---- the total ---- */

/* Open the file with the total and lock it. -1: failed. */
static int lock_total(int directory, GError **error)
{
    GError *missing = NULL;
    auto_fd fd = fs_open(directory, TOTAL, true, &missing);
    if (fd < 0 && g_error_matches(missing, FAIL, FAIL_MISSING)) {
        g_clear_error(&missing);
        auto_fd made = fs_create(directory, TOTAL, &missing);
        if (made < 0 && g_error_matches(missing, FAIL, FAIL_EXISTS)) {
            g_clear_error(&missing);
            fd = fs_open(directory, TOTAL, true, &missing);
        } else
            fd = auto_fd_steal(&made);
    }
    if (fd < 0) {
        g_propagate_error(error, missing);
        return -1;
    }
    if (flock(fd, LOCK_EX) == 0)
        return auto_fd_steal(&fd);
    fail_errno(error, FAIL_LATER, "lock %s of refused mail", TOTAL);
    return -1;
}

static uint64_t read_total(int fd)
{
    char text[32] = "";
    ssize_t got = pread(fd, text, sizeof text - 1, 0);
    return got > 0 ? g_ascii_strtoull(text, NULL, 10) : 0;
}

static bool write_total(int fd, uint64_t total, GError **error)
{
    g_autofree char *text = g_strdup_printf("%020" G_GUINT64_FORMAT "\n", total);
    return fs_pwrite(fd, text, strlen(text), 0, error);
}

/* ---- keeping ---- */

/* Of the list below the directory; made when missing. Nobody else may look into it. */
static int open_own(int parent, const char *path, GError **error)
{
    auto_fd fd = fs_open_dir_unsynced(parent, path, error);
    if (fd >= 0 && fchmod(fd, 0700) != 0) {
        fail_errno(error, FAIL_LATER, "close %s to others", path);
        return -1;
    }
    return auto_fd_steal(&fd);
}

static bool keep(const Config *config, const Refused *mail, GError **error)
{
    g_autofree char *place = archive_file_name(mail->list_id);
    g_autofree char *name = g_strdup_printf("%0*" G_GINT64_FORMAT ".%s", TIME_DIGITS, mail->arrival, mail->trace);
    g_autofree char *temporary = g_strdup_printf(UNDER_WAY ".%ld.%s", (long)getpid(), name);
    auto_fd directory = open_own(AT_FDCWD, directory_of(config), error);
    auto_fd own = directory >= 0 ? open_own(directory, place, error) : -1;
    if (own < 0)
        return false;
    if (faccessat(own, name, F_OK, 0) == 0)
        return true;
    g_autoptr(json_t) head = json_pack("{ss ss sO*}", "fate", mail->fate, "reasons", mail->reasons, "meta", mail->meta);
    g_autofree char *line = head ? json_dumps(head, JSON_COMPACT) : NULL;
    size_t length;
    const char *octets = g_bytes_get_data(mail->octets, &length);
    g_autoptr(GString) text = g_string_new(line ? line : "{}");
    g_string_append_c(text, '\n');
    g_string_append_len(text, octets, (gssize)length);

    /* The room is taken first, under the lock of the total, and given back if the mail was not written after all. */
    const uint64_t size = blocks(text->len), most = config_size(config, SECTION, "size");
    uint64_t least = config_size(config, "spool", "min_free"), space;
    if (!fs_free_space(directory, &space, error))
        return false;
    if (space < least + size)
        return fail(error, FAIL_LATER, "the file system has no more than [spool] min_free left");
    {
        auto_fd lock = lock_total(directory, error);
        uint64_t total = lock >= 0 ? read_total(lock) : 0;
        if (lock < 0)
            return false;
        if (total + size > most)
            return fail(error, FAIL_LATER, "%s has [refused] size bytes", directory_of(config));
        if (!write_total(lock, total + size, error))
            return false;
    }
    fs_unlink(own, temporary, NULL); /* of an earlier process with this number */
    auto_fd fd = fs_create(own, temporary, error);
    if (fd >= 0 && (fchmod(fd, 0600) == 0 || fail_errno(error, FAIL_LATER, "close %s to others", name)) &&
        fs_write(fd, text->str, text->len, error) && fs_rename(own, temporary, name, error))
        return true;
    if (fd >= 0)
        fs_unlink(own, temporary, NULL);
    auto_fd lock = lock_total(directory, NULL);
    uint64_t total = lock >= 0 ? read_total(lock) : 0;
    if (lock >= 0)
        write_total(lock, total - MIN(total, size), NULL);
    return false;
}

void refused_keep(const Config *config, const Refused *mail)
{
    static int64_t told;
    g_autoptr(GError) fault = NULL;
    if (!refused_wanted(config) || keep(config, mail, &fault))
        return;
    if (told == 0 || clock_monotonic() - told > QUIET)
        log_warn("list=%s refused mail is not kept for trials: %s", mail->list_id, fault->message);
    told = clock_monotonic();
}

/* ---- reading ---- */

/* The time of a name; -1: it is no name of a mail. */
static int64_t time_of(const char *name)
{
    gint64 time;
    g_autofree char *digits = g_strndup(name, strspn(name, "0123456789"));
    bool ours = strlen(digits) >= TIME_DIGITS && name[strlen(digits)] == '.';
    return ours && g_ascii_string_to_signed(digits, 10, 0, G_MAXINT64, &time, NULL) ? time : -1;
}

static int64_t oldest_kept(const Config *config, int64_t now)
{
    return now - config_duration(config, SECTION, "keep");
}

GPtrArray *refused_names(const Config *config, const char *list_id, int64_t since, GError **error)
{
    g_autofree char *place = archive_file_name(list_id);
    g_autofree char *path = g_build_filename(directory_of(config), place, NULL);
    g_autoptr(GPtrArray) all = fs_names(path, error);
    if (!all)
        return NULL;
    const int64_t from = MAX(since, oldest_kept(config, clock_now()));
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (guint at = 0; at < all->len && refused_wanted(config); at++)
        if (time_of(all->pdata[at]) >= from)
            g_ptr_array_add(names, g_strdup(all->pdata[at]));
    return names;
}

static bool read_file(const char *place, const char *path, Refused *mail, GError **error)
{
    gsize length;
    g_autofree char *text = NULL;
    g_autoptr(GError) fault = NULL;
    if (!g_file_get_contents(path, &text, &length, &fault))
        return fail(error, g_error_matches(fault, G_FILE_ERROR, G_FILE_ERROR_NOENT) ? FAIL_MISSING : FAIL_LATER, "%s",
                    fault->message);
    const char *end = memchr(text, '\n', length);
    g_autoptr(json_t) head = end ? json_loadb(text, (size_t)(end - text), 0, NULL) : NULL;
    const char *fate = json_string_value(json_object_get(head, "fate"));
    const char *reasons = json_string_value(json_object_get(head, "reasons"));
    if (!fate || !reasons)
        return fail(error, FAIL_NEVER, "%s: it is damaged", path);
    g_autofree char *name = g_path_get_basename(path);
    *mail = (Refused){.list_id = g_strdup(place),
                      .name = g_steal_pointer(&name),
                      .fate = g_strdup(fate),
                      .reasons = g_strdup(reasons),
                      .meta = json_incref(json_object_get(head, "meta")),
                      .octets = g_bytes_new(end + 1, length - (size_t)(end + 1 - text))};
    mail->arrival = time_of(mail->name);
    mail->trace = g_strdup(strchr(mail->name, '.') + 1);
    return true;
}

bool refused_read(const Config *config, const char *list_id, const char *name, Refused *mail, GError **error)
{
    g_autofree char *place = archive_file_name(list_id);
    g_autofree char *path = g_build_filename(directory_of(config), place, name, NULL);
    return read_file(place, path, mail, error);
}

/* ---- all of them ---- */

/* False: the directory cannot be read, or visit failed. */
typedef bool Visit(const char *place, const char *path, int64_t time, void *data, GError **error);
static bool visit_all(const Config *config, Visit *visit, void *data, GError **error)
{
    g_autoptr(GPtrArray) places = fs_names(directory_of(config), error);
    for (guint at = 0; places && at < places->len; at++) {
        g_autofree char *path = g_build_filename(directory_of(config), places->pdata[at], NULL);
        if (!g_file_test(path, G_FILE_TEST_IS_DIR))
            continue;
        g_autoptr(GPtrArray) names = fs_names(path, error);
        for (guint i = 0; names && i < names->len; i++) {
            g_autofree char *file = g_build_filename(path, names->pdata[i], NULL);
            if (!visit(places->pdata[at], file, time_of(names->pdata[i]), data, error))
                return false;
        }
        if (!names)
            return false;
    }
    return places != NULL;
}

static bool remove_file(const char *path, GError **error)
{
    g_autoptr(GError) fault = NULL;
    return fs_unlink(AT_FDCWD, path, &fault) || fail_unless(error, FAIL_MISSING, &fault);
}

typedef struct RefusedReader {
    RefusedEach *each;
    void *data;
} RefusedReader;

static bool read_each(const char *place, const char *path, int64_t time, void *data, GError **error)
{
    const RefusedReader *reader = data;
    g_autoptr(GError) fault = NULL;
    g_auto(Refused) mail = {0};
    bool gone = false;
    if (time < 0 || !read_file(place, path, &mail, &fault)) {
        if (!fault || !g_error_matches(fault, FAIL, FAIL_LATER))
            return true;
        return fail_with(error, &fault);
    }
    reader->each(&mail, &gone, reader->data);
    return !gone || remove_file(path, error);
}

bool refused_each(const Config *config, RefusedEach *each, void *data, GError **error)
{
    RefusedReader reader = {each, data};
    return visit_all(config, read_each, &reader, error);
}

/* ---- tidying ---- */

typedef struct OldFile {
    char *path;
    int64_t time;
    uint64_t size;
} OldFile;

static void old_file_clear(void *data)
{
    g_free(((OldFile *)data)->path);
}

typedef struct Tidy {
    int64_t before, now;
    GArray *files; /* of OldFile: those that stay */
    uint64_t total;
    int64_t *removed;
} Tidy;

static bool look(const char *place, const char *path, int64_t time, void *data, GError **error)
{
    Tidy *tidy = data;
    struct stat status;
    (void)place;
    if (time < 0 && !g_str_has_prefix(strrchr(path, '/') + 1, UNDER_WAY "."))
        return true; /* it is somebody else's */
    if (stat(path, &status) != 0)
        return true; /* somebody removed it meanwhile */
    const int64_t written = (int64_t)status.st_mtime * CLOCK_SECOND;
    if (time < 0 ? written < tidy->now - ABANDONED : time < tidy->before) {
        *tidy->removed += time >= 0;
        return remove_file(path, error);
    }
    const OldFile file = {g_strdup(path), time, blocks((uint64_t)status.st_size)};
    g_array_append_val(tidy->files, file);
    tidy->total += file.size;
    return true;
}

static int compare_age(const void *one, const void *other)
{
    const OldFile *a = one, *b = other;
    return a->time != b->time ? (a->time < b->time ? -1 : 1) : strcmp(a->path, b->path);
}

bool refused_tidy(const Config *config, int64_t now, int64_t *removed, GError **error)
{
    g_autoptr(GArray) files = g_array_new(FALSE, FALSE, sizeof(OldFile));
    uint64_t most = config_size(config, SECTION, "size");
    Tidy tidy = {.before = refused_wanted(config) ? oldest_kept(config, now) : INT64_MAX,
                 .now = now,
                 .files = files,
                 .removed = removed};
    g_array_set_clear_func(files, old_file_clear);
    if (!g_file_test(directory_of(config), G_FILE_TEST_IS_DIR))
        return true;
    auto_fd directory = fs_open_dir(AT_FDCWD, directory_of(config), false, error);
    auto_fd total = directory >= 0 ? lock_total(directory, error) : -1;
    if (total < 0 || !visit_all(config, look, &tidy, error))
        return false;
    /* A quarter is free afterwards, or nothing new could be kept on a site that refuses much. */
    g_array_sort(files, compare_age);
    for (guint at = 0; at < files->len && tidy.total > most - most / 4; at++) {
        const OldFile *file = &g_array_index(files, OldFile, at);
        if (!remove_file(file->path, error))
            return false;
        tidy.total -= file->size;
        (*removed)++;
    }
    return write_total(total, tidy.total, error);
}
