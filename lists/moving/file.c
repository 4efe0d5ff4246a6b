/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/moving/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"
#include "base/fs.h"
#include "mail/mbox.h"

#define LISTS_NAMED 5 /* in a message */

static int compare_names(gconstpointer one, gconstpointer other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

static bool is_link(int folder, const char *name)
{
    struct stat status;
    return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
}

/* Open one step of a path, no link, and for the last one with these flags. -1 with errno. */
static int open_step(int folder, const char *name, bool last, int flags)
{
    int fd = strcmp(name, "..") == 0 ? (errno = ELOOP, -1)
             : last ? openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | flags)
                    : openat(folder, name, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOTDIR && is_link(folder, name))
        errno = ELOOP;
    return fd;
}

/* Open a path that begins with the directory. The directory is what the operator named, and may lie behind links. */
static int open_steps(const char *directory, const char *path, int flags)
{
    g_assert(g_str_has_prefix(path, directory));
    g_auto(GStrv) steps = g_strsplit(path + strlen(directory), "/", -1);
    char **step = steps;
    while (*step && !**step)
        step++;
    if (!*step)
        return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags);
    int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    while (fd >= 0 && *step) {
        char **next = step + 1;
        while (*next && !**next)
            next++;
        int inner = open_step(fd, *step, !*next, flags), why = errno;
        close(fd);
        errno = why;
        fd = inner;
        step = next;
    }
    return fd;
}

int moving_open(const char *directory, const char *path, int flags, struct stat *status, GError **error)
{
    auto_fd file = open_steps(directory, path, flags);
    if (file < 0 || fstat(file, status) != 0) {
        if (errno == ELOOP)
            fail(error, FAIL_NEVER, "%s: it lies behind a symbolic link, and what others link is not read", path);
        else
            fail_errno(error, errno == ENOENT || errno == ENOTDIR ? FAIL_MISSING : FAIL_LATER, "%s", path);
        return -1;
    }
    if (!(flags & O_DIRECTORY) && !S_ISREG(status->st_mode)) {
        fail(error, FAIL_NEVER, "%s: it is no file", path);
        return -1;
    }
    return auto_fd_steal(&file);
}

bool moving_stat(const char *directory, const char *path, struct stat *status)
{
    auto_fd file = moving_open(directory, path, 0, status, NULL);
    return file >= 0;
}

GPtrArray *moving_names(const char *directory, const char *path, GError **error)
{
    struct stat status;
    g_autoptr(GError) why = NULL;
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    auto_fd fd = moving_open(directory, path, O_DIRECTORY, &status, &why);
    if (fd < 0 && g_error_matches(why, FAIL, FAIL_MISSING))
        return g_steal_pointer(&names);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (!folder) {
        if (why)
            g_propagate_error(error, g_steal_pointer(&why));
        else
            fail_errno(error, FAIL_LATER, "%s", path);
        return NULL;
    }
    auto_fd_steal(&fd);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (*entry->d_name != '.')
            g_ptr_array_add(names, g_strdup(entry->d_name));
    closedir(folder);
    g_ptr_array_sort(names, compare_names);
    return g_steal_pointer(&names);
}

GBytes *moving_read_file(const char *directory, const char *path, GError **error)
{
    struct stat status;
    auto_fd file = moving_open(directory, path, 0, &status, error);
    if (file < 0)
        return NULL;
    if ((uint64_t)status.st_size > MBOX_MAIL_MAX) {
        fail(error, FAIL_NEVER, "%s: it is larger than %zu bytes", path, MBOX_MAIL_MAX);
        return NULL;
    }
    g_autofree char *bytes = g_malloc((size_t)status.st_size + 1);
    size_t length = 0;
    ssize_t got = 1;
    while (length < (size_t)status.st_size && got > 0) {
        got = read(file, bytes + length, (size_t)status.st_size - length);
        length += got > 0 ? (size_t)got : 0;
    }
    if (got < 0) {
        fail_errno(error, FAIL_LATER, "%s", path);
        return NULL;
    }
    return g_bytes_new_take(g_steal_pointer(&bytes), length);
}

/* Not by access(2), which does not know the right to read every file that root may have kept. */
static bool exists(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

/* The folders of the directory that have the file: " DIR/one DIR/two, and 3 more", or "". */
static GString *lists_in(const char *directory, const char *file)
{
    unsigned count = 0;
    GString *lists = g_string_new(NULL);
    g_autoptr(GPtrArray) names = fs_names(directory, NULL);
    for (guint at = 0; names && at < names->len; at++) {
        g_autofree char *folder = g_build_filename(directory, names->pdata[at], NULL);
        g_autofree char *path = g_build_filename(folder, file, NULL);
        if (exists(path) && ++count <= LISTS_NAMED)
            g_string_append_printf(lists, " %s", folder);
    }
    if (count > LISTS_NAMED)
        g_string_append_printf(lists, ", and %u more", count - LISTS_NAMED);
    return lists;
}

bool moving_no_list(const char *directory, const char *system, const char *file, GError **error)
{
    if (!g_file_test(directory, G_FILE_TEST_IS_DIR))
        return fail(error, FAIL_MISSING, "%s", exists(directory) ? "it is no directory" : "there is no such directory");
    g_autoptr(GString) lists = lists_in(directory, file);
    return fail(error, FAIL_MISSING, "it is no list of %s: the directory of one has the file %s%s%s", system, file,
                lists->len > 0 ? "; lists are in it, so name these:" : "", lists->str);
}

GBytes *moving_read_mark(const char *directory, const char *system, const char *file, GError **error)
{
    g_autoptr(GError) why = NULL;
    g_autofree char *path = g_build_filename(directory, file, NULL);
    GBytes *bytes = moving_read_file(directory, path, &why);
    if (g_error_matches(why, FAIL, FAIL_MISSING))
        moving_no_list(directory, system, file, error);
    else if (why)
        g_propagate_error(error, g_steal_pointer(&why));
    return bytes;
}
