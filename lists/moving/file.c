/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/moving/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"
#include "mail/mbox.h"

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
