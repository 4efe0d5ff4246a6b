/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "t/switchboard/unreadable.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

bool unreadable_files;

/* In place of the library's. */
ssize_t pread(int fd, void *into, size_t size, off_t from)
{
    if (!unreadable_files)
        return (ssize_t)syscall(SYS_pread64, fd, into, size, from);
    errno = EIO;
    return -1;
}

/* The compiler calls this with _FORTIFY_SOURCE where it knows the size of the buffer. */
ssize_t __pread_chk(int fd, void *into, size_t size, off_t from, size_t room);
ssize_t __pread_chk(int fd, void *into, size_t size, off_t from, size_t room)
{
    return pread(fd, into, size, from);
}
