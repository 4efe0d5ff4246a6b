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

/* Open a path that begins with the directory. The directory is what the operator named, and may lie behind links; no
 * step below it may be one. -1 with errno. */
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
        struct stat status;
        char **next = step + 1;
        while (*next && !**next)
            next++;
        int how = *next ? O_PATH | O_DIRECTORY : O_RDONLY | O_NOCTTY | O_NONBLOCK | flags;
        int inner = strcmp(*step, "..") == 0 ? -1 : openat(fd, *step, O_CLOEXEC | O_NOFOLLOW | how), why = errno;
        if (strcmp(*step, "..") == 0 ||
            (inner < 0 && why == ENOTDIR && fstatat(fd, *step, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
             S_ISLNK(status.st_mode)))
            why = ELOOP;
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

bool moving_no_list(const char *directory, const char *system, const char *file, GError **error)
{
    if (!g_file_test(directory, G_FILE_TEST_IS_DIR))
        return fail(error, FAIL_MISSING, "%s", exists(directory) ? "it is no directory" : "there is no such directory");
    /* Folders of the directory may be lists: " DIR/one DIR/two, and 3 more". */
    unsigned count = 0;
    g_autoptr(GString) lists = g_string_new(NULL);
    g_autoptr(GPtrArray) names = fs_names(directory, NULL);
    for (guint at = 0; names && at < names->len; at++) {
        g_autofree char *folder = g_build_filename(directory, names->pdata[at], NULL);
        g_autofree char *path = g_build_filename(folder, file, NULL);
        if (exists(path) && ++count <= LISTS_NAMED)
            g_string_append_printf(lists, " %s", folder);
    }
    if (count > LISTS_NAMED)
        g_string_append_printf(lists, ", and %u more", count - LISTS_NAMED);
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
