/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/archive/archive_maildir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "lists/archive/archived_post.h"

static const char *const folders[] = {"new", "cur"};

/* Calls take for each file's name; false ends that. A folder that is missing is empty. */
typedef void TakeFile(const char *folder, const char *name, void *data);

/* folder is closed. */
static void walk_folder(DIR *folder, const char *name, TakeFile *take, void *data)
{
    for (struct dirent *item; (item = readdir(folder));)
        if (*item->d_name != '.')
            take(name, item->d_name, data);
    closedir(folder);
}

static bool walk(const char *directory, const char *list, TakeFile *take, void *data, GError **error)
{
    for (size_t i = 0; i < G_N_ELEMENTS(folders); i++) {
        g_autofree char *path = g_build_filename(directory, list, folders[i], NULL);
        DIR *folder = opendir(path);
        if (!folder && errno == ENOENT)
            continue;
        if (!folder)
            return fail_errno(error, FAIL_LATER, "read %s", path);
        walk_folder(folder, folders[i], take, data);
    }
    return true;
}

GPtrArray *archive_maildir_lists(const char *directory, GError **error)
{
    g_autoptr(GPtrArray) lists = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GError) fault = NULL;
    g_autoptr(GDir) all = g_dir_open(directory, 0, &fault);
    if (!all) {
        fail(error, FAIL_MISSING, "%s", fault->message);
        return NULL;
    }
    for (const char *name; (name = g_dir_read_name(all));) {
        g_autofree char *inside = g_build_filename(directory, name, "new", NULL);
        if (*name != '.' && g_file_test(inside, G_FILE_TEST_IS_DIR))
            g_ptr_array_add(lists, g_strdup(name));
    }
    g_ptr_array_sort(lists, bytes_compare_texts);
    return g_steal_pointer(&lists);
}

static void count_file(const char *folder, const char *name, void *data)
{
    (void)folder, (void)name;
    ++*(uint64_t *)data;
}

bool archive_maildir_count(const char *directory, const char *list, uint64_t *count, GError **error)
{
    *count = 0;
    return walk(directory, list, count_file, count, error);
}

/* ---- the files of a list ---- */

typedef struct FileRow {
    int64_t arrival;
    size_t name; /* where its folder's letter and its name begin */
} FileRow;

struct ArchiveFiles {
    char *directory; /* of the list */
    int opened[G_N_ELEMENTS(folders)]; /* its folders, of a foreign one, so that they stay what they were; else -1 */
    GString *names;
    GArray *rows;
};

void archive_files_free(ArchiveFiles *files)
{
    if (!files)
        return;
    for (size_t i = 0; i < G_N_ELEMENTS(folders); i++)
        if (files->opened[i] >= 0)
            close(files->opened[i]);
    g_free(files->directory);
    g_string_free(files->names, TRUE);
    g_array_unref(files->rows);
    g_free(files);
}

static ArchiveFiles *files_new(const char *directory, const char *list)
{
    ArchiveFiles *files = g_new0(ArchiveFiles, 1);
    files->directory = g_build_filename(directory, list, NULL);
    files->names = g_string_new(NULL);
    files->rows = g_array_new(FALSE, FALSE, sizeof(FileRow));
    for (size_t i = 0; i < G_N_ELEMENTS(folders); i++)
        files->opened[i] = -1;
    return files;
}

static void take_file(const char *folder, const char *name, void *data)
{
    ArchiveFiles *files = data;
    FileRow row = {archived_post_arrival(name), files->names->len};
    g_string_append_c(files->names, *folder);
    g_string_append_len(files->names, name, (gssize)strlen(name) + 1);
    g_array_append_val(files->rows, row);
}

static int compare_rows(gconstpointer one, gconstpointer other, void *names)
{
    const FileRow *a = one, *b = other;
    if (a->arrival != b->arrival)
        return (a->arrival > b->arrival) - (a->arrival < b->arrival);
    return strcmp((char *)names + a->name + 1, (char *)names + b->name + 1);
}

ArchiveFiles *archive_files_read(const char *directory, const char *list, GError **error)
{
    g_autoptr(ArchiveFiles) files = files_new(directory, list);
    if (!walk(directory, list, take_file, files, error))
        return NULL;
    g_array_sort_with_data(files->rows, compare_rows, files->names->str);
    return g_steal_pointer(&files);
}

ArchiveFiles *archive_files_read_foreign(const char *path, GError **error)
{
    g_autoptr(ArchiveFiles) files = files_new(path, NULL);
    auto_fd maildir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (maildir < 0) {
        fail_errno(error, FAIL_LATER, "read %s", path);
        return NULL;
    }
    for (size_t at = 0; at < G_N_ELEMENTS(folders); at++) { /* no folder may be a link */
        struct stat status;
        int fd = openat(maildir, folders[at], O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0 && errno == ENOENT)
            continue;
        if (fd < 0 && fstatat(maildir, folders[at], &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode)) {
            fail(error, FAIL_NEVER, "%s: its %s is a symbolic link, and what others link is not read", path,
                 folders[at]);
            return NULL;
        }
        files->opened[at] = fd;
        int other = fd >= 0 ? dup(fd) : -1;
        DIR *folder = other >= 0 ? fdopendir(other) : NULL;
        if (!folder) {
            fail_errno(error, FAIL_LATER, "read %s/%s", path, folders[at]);
            return NULL;
        }
        walk_folder(folder, folders[at], take_file, files);
    }
    g_array_sort_with_data(files->rows, compare_rows, files->names->str);
    return g_steal_pointer(&files);
}

size_t archive_files_count(const ArchiveFiles *files)
{
    return files->rows->len;
}

static const char *entry_of(const ArchiveFiles *files, size_t at)
{
    return files->names->str + g_array_index(files->rows, FileRow, at).name;
}

char *archive_files_name(const ArchiveFiles *files, size_t at, int64_t *arrival)
{
    const char *name = entry_of(files, at) + 1;
    *arrival = g_array_index(files->rows, FileRow, at).arrival;
    return g_strndup(name, strcspn(name, ":"));
}

static GBytes *load(int directory_fd, const char *name, GError **error)
{
    auto_fd fd = fs_open(directory_fd, name, false, error);
    struct stat status;
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) != 0 || status.st_size < 0) {
        fail_errno(error, FAIL_LATER, "%s", name);
        return NULL;
    }
    size_t length = 0, size = (size_t)status.st_size;
    g_autofree char *octets = g_malloc(size + 1);
    for (ssize_t got = 1; length < size && got > 0;) {
        got = read(fd, octets + length, size - length);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got < 0) {
            fail_errno(error, FAIL_LATER, "read %s", name);
            return NULL;
        } else
            length += (size_t)got;
    }
    return g_bytes_new_take(g_steal_pointer(&octets), length);
}

GBytes *archive_files_load(const ArchiveFiles *files, size_t at, GError **error)
{
    const char *entry = entry_of(files, at);
    const size_t which = *entry == 'n' ? 0 : 1;
    if (files->opened[which] >= 0)
        return load(files->opened[which], entry + 1, error);
    g_autofree char *path = g_build_filename(files->directory, folders[which], NULL);
    auto_fd fd = fs_open_dir(AT_FDCWD, path, false, error);
    return fd >= 0 ? load(fd, entry + 1, error) : NULL;
}

/* ---- one file ---- */

typedef struct Wanted {
    const char *file;
    size_t length;
    char *path; /* NULL: not found yet */
} Wanted;

static void look_at_file(const char *folder, const char *name, void *data)
{
    Wanted *wanted = data;
    if (!wanted->path && strncmp(name, wanted->file, wanted->length) == 0 &&
        (name[wanted->length] == '\0' || name[wanted->length] == ':'))
        wanted->path = g_build_filename(folder, name, NULL);
}

/* Return the path of one file below the list's directory, whatever its flags are: "cur/NAME:2,S". FAIL_MISSING: there
 * is none. */
static char *find_file(const char *directory, const char *list, const char *file, GError **error)
{
    static const char *const usual[][2] = {{"new", ""}, {"cur", ":2,"}, {"cur", ":2,S"}, {"cur", ""}};
    Wanted wanted = {.file = file, .length = strlen(file)};
    if (strchr(file, '/') || *file == '.' || !*file) {
        fail(error, FAIL_MISSING, "\"%s\" is no file of a maildir", file);
        return NULL;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(usual); i++) {
        g_autofree char *name = g_strconcat(file, usual[i][1], NULL);
        g_autofree char *path = g_build_filename(directory, list, usual[i][0], name, NULL);
        if (access(path, F_OK) == 0)
            return g_build_filename(usual[i][0], name, NULL);
    }
    if (walk(directory, list, look_at_file, &wanted, error) && !wanted.path)
        fail(error, FAIL_MISSING, "the archive of %s has no file %s", list, file);
    return wanted.path;
}

GBytes *archive_maildir_load(const char *directory, const char *list, const char *file, GError **error)
{
    g_autofree char *path = find_file(directory, list, file, error);
    g_autofree char *own = path ? g_build_filename(directory, list, NULL) : NULL;
    auto_fd fd = own ? fs_open_dir(AT_FDCWD, own, false, error) : -1;
    return fd >= 0 ? load(fd, path, error) : NULL;
}

bool archive_maildir_replace(const char *directory, const char *list, const char *file, GBytes *octets, GError **error)
{
    g_autofree char *path = find_file(directory, list, file, error);
    g_autofree char *own = path ? g_build_filename(directory, list, NULL) : NULL;
    g_autofree char *folder = path ? g_path_get_dirname(path) : NULL, *aside = g_strconcat("tmp/", file, NULL);
    auto_fd top = own ? fs_open_dir(AT_FDCWD, own, false, error) : -1;
    auto_fd folder_fd = top >= 0 ? fs_open_dir(top, folder, false, error) : -1;
    if (folder_fd < 0)
        return false;
    fs_unlink(top, aside, NULL);
    size_t length;
    const char *data = g_bytes_get_data(octets, &length);
    auto_fd fd = fs_create(top, aside, error);
    return fd >= 0 && fs_write(fd, data, length, error) && fs_sync_file(fd, error) &&
           fs_rename(top, aside, path, error) && fs_sync_dir(folder_fd, error);
}

/* ---- writing ---- */

struct ArchiveWriter {
    int top_fd, new_fd;
    GArray *files;    /* of int: written in tmp */
    GPtrArray *names; /* theirs */
};

static void close_file(void *fd)
{
    close(*(int *)fd);
}

ArchiveWriter *archive_writer_open(const char *directory, const char *list, GError **error)
{
    auto_fd archive = fs_open_dir(AT_FDCWD, directory, true, error);
    auto_fd top = archive >= 0 ? fs_open_dir(archive, list, true, error) : -1;
    auto_fd aside = top >= 0 ? fs_open_dir_unsynced(top, "tmp", error) : -1;
    auto_fd cur = aside >= 0 ? fs_open_dir_unsynced(top, "cur", error) : -1;
    auto_fd new_fd = cur >= 0 ? fs_open_dir(top, "new", true, error) : -1;
    if (new_fd < 0)
        return NULL;
    ArchiveWriter *writer = g_new0(ArchiveWriter, 1);
    writer->top_fd = auto_fd_steal(&top);
    writer->new_fd = auto_fd_steal(&new_fd);
    writer->files = g_array_new(FALSE, FALSE, sizeof(int));
    g_array_set_clear_func(writer->files, close_file);
    writer->names = g_ptr_array_new_with_free_func(g_free);
    return writer;
}

static void give_up(ArchiveWriter *writer)
{
    for (guint i = 0; i < writer->names->len; i++) {
        g_autofree char *aside = g_strconcat("tmp/", (char *)writer->names->pdata[i], NULL);
        fs_unlink(writer->top_fd, aside, NULL);
    }
    g_ptr_array_set_size(writer->names, 0);
    g_array_set_size(writer->files, 0);
}

void archive_writer_free(ArchiveWriter *writer)
{
    if (!writer)
        return;
    give_up(writer);
    g_array_unref(writer->files);
    g_ptr_array_unref(writer->names);
    close(writer->top_fd);
    close(writer->new_fd);
    g_free(writer);
}

char *archive_writer_add(ArchiveWriter *writer, int64_t arrival, const char *octets, size_t length, GError **error)
{
    g_autofree char *key = g_compute_checksum_for_data(G_CHECKSUM_SHA1, (const guchar *)octets, length);
    g_autofree char *name = g_strdup_printf("%" G_GINT64_FORMAT ".%s.listrunner", arrival / CLOCK_SECOND, key);
    g_autofree char *aside = g_strconcat("tmp/", name, NULL);
    if (faccessat(writer->new_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
        g_ptr_array_find_with_equal_func(writer->names, name, g_str_equal, NULL))
        return g_steal_pointer(&name);
    fs_unlink(writer->top_fd, aside, NULL); /* left over from a crash, perhaps half written */
    int fd = fs_create(writer->top_fd, aside, error);
    if (fd < 0)
        return NULL;
    g_array_append_val(writer->files, fd);
    g_ptr_array_add(writer->names, g_strdup(name));
    return fs_write(fd, octets, length, error) ? g_steal_pointer(&name) : NULL;
}

bool archive_writer_flush(ArchiveWriter *writer, GError **error)
{
    g_autofree FsSync *group = g_new0(FsSync, writer->files->len + 1);
    bool done = true;
    for (guint i = 0; i < writer->files->len; i++)
        group[i].fd = g_array_index(writer->files, int, i);
    done = writer->files->len == 0 || fs_sync_group(group, writer->files->len, error);
    for (guint i = 0; done && i < writer->names->len; i++) {
        g_autofree char *from = g_strconcat("tmp/", (char *)writer->names->pdata[i], NULL);
        g_autofree char *to = g_strconcat("new/", (char *)writer->names->pdata[i], NULL);
        done = fs_rename(writer->top_fd, from, to, error);
    }
    done = done && fs_sync_dir(writer->new_fd, error);
    if (!done) {
        give_up(writer);
        return false;
    }
    g_ptr_array_set_size(writer->names, 0);
    g_array_set_size(writer->files, 0);
    return true;
}
