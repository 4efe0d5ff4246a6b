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

#define BOTH(type, name, parameters) \
    type __real_##name parameters;   \
    type __wrap_##name parameters;
BOTH(int, openat, (int dir_fd, const char *name, int flags, ...))
BOTH(ssize_t, pwrite, (int fd, const void *data, size_t length, off_t offset))
BOTH(ssize_t, writev, (int fd, const struct iovec *pieces, int count))
BOTH(int, renameat, (int from_fd, const char *from, int to_fd, const char *to))
BOTH(int, renameat2, (int from_fd, const char *from, int to_fd, const char *to, unsigned flags))
BOTH(int, unlinkat, (int fd, const char *name, int flags))
BOTH(int, fsync, (int fd))
BOTH(int, fdatasync, (int fd))

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

int __wrap_openat(int dir_fd, const char *name, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return flags & O_CREAT && fails() ? -1 : __real_openat(dir_fd, name, flags, mode);
}

ssize_t __wrap_pwrite(int fd, const void *data, size_t length, off_t offset)
{
    return fails() ? -1 : __real_pwrite(fd, data, length, offset);
}

ssize_t __wrap_writev(int fd, const struct iovec *pieces, int count)
{
    return fails() ? -1 : __real_writev(fd, pieces, count);
}

int __wrap_renameat(int from_fd, const char *from, int to_fd, const char *to)
{
    return fails() ? -1 : __real_renameat(from_fd, from, to_fd, to);
}

int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    return fails() ? -1 : __real_renameat2(from_fd, from, to_fd, to, flags);
}

int __wrap_unlinkat(int fd, const char *name, int flags)
{
    return fails() ? -1 : __real_unlinkat(fd, name, flags);
}

int __wrap_fsync(int fd)
{
    return fails() ? -1 : __real_fsync(fd);
}

int __wrap_fdatasync(int fd)
{
    return fails() ? -1 : __real_fdatasync(fd);
}
