/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/moving/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"
#include "base/fs.h"
#include "mail/mbox.h"

#define LISTS_NAMED 5 /* in a message */

GBytes *moving_read_file(const char *path, GError **error)
{
    auto_fd file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) {
        fail_errno(error, errno == ENOENT || errno == ENOTDIR ? FAIL_MISSING : FAIL_LATER, "%s", path);
        return NULL;
    }
    if (!S_ISREG(status.st_mode) || (uint64_t)status.st_size > MBOX_MAIL_MAX) {
        fail(error, FAIL_NEVER, "%s: it is no file, or larger than %zu bytes", path, MBOX_MAIL_MAX);
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
    GBytes *bytes = moving_read_file(path, &why);
    if (g_error_matches(why, FAIL, FAIL_MISSING))
        moving_no_list(directory, system, file, error);
    else if (why)
        g_propagate_error(error, g_steal_pointer(&why));
    return bytes;
}
