/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The runner out with one fault of the disk: the call number FAULT_AT of those that change the spool fails with
 * FAULT_ERRNO. The file FAULT_FILE is made then, so that a test knows that it came so far. This file is linked with all
 * of out, the linker sends the calls here.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_int calls;

static bool fails(void)
{
    const char *at = getenv("FAULT_AT");
    if (!at || atomic_fetch_add(&calls, 1) + 1 != atoi(at))
        return false;
    FILE *mark = fopen(getenv("FAULT_FILE"), "w");
    if (mark)
        fclose(mark);
    errno = atoi(getenv("FAULT_ERRNO"));
    return true;
}

int __real_openat(int dir_fd, const char *name, int flags, ...);
int __wrap_openat(int dir_fd, const char *name, int flags, ...);

int __wrap_openat(int dir_fd, const char *name, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return flags & O_CREAT && fails() ? -1 : __real_openat(dir_fd, name, flags, mode);
}

#define FAILING(type, name, parameters, arguments)     \
    type __real_##name parameters;                     \
    type __wrap_##name parameters;                     \
    type __wrap_##name parameters                      \
    {                                                  \
        return fails() ? -1 : __real_##name arguments; \
    }
FAILING(ssize_t, pwrite, (int fd, const void *data, size_t length, off_t offset), (fd, data, length, offset))
FAILING(ssize_t, writev, (int fd, const struct iovec *pieces, int count), (fd, pieces, count))
FAILING(int, renameat, (int from_fd, const char *from, int to_fd, const char *to), (from_fd, from, to_fd, to))
FAILING(int, renameat2, (int from_fd, const char *from, int to_fd, const char *to, unsigned flags),
        (from_fd, from, to_fd, to, flags))
FAILING(int, unlinkat, (int fd, const char *name, int flags), (fd, name, flags))
FAILING(int, fsync, (int fd), (fd))
FAILING(int, fdatasync, (int fd), (fd))
