/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * heldsync.so, for LD_PRELOAD: find files that a program syncs in a transaction of PostgreSQL.
 *
 * Each answer of the server ends with a message that says whether a transaction is open (ReadyForQuery: "Z", a length
 * of 5, and "T" or "E" for one that is open). The last one that a thread received on each of its connections is kept.
 * For each sync a line is appended to the file HELDSYNC_LOG: "held", "free" or "none" (the thread has no connection),
 * the program and the path. TLS must be off, as nothing could be read.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST 4096

static __thread char states[MOST]; /* of descriptors: 0, 'I' (no transaction), 'T' or 'E' */

static void note(const char *answer, ssize_t length, int fd)
{
    for (ssize_t at = length - 6; fd < MOST && at >= 0; at--)
        if (memcmp(answer + at, "Z\0\0\0\5", 5) == 0) {
            states[fd] = answer[at + 5];
            return;
        }
}

ssize_t recv(int fd, void *buffer, size_t size, int flags)
{
    ssize_t (*real)(int, void *, size_t, int) = dlsym(RTLD_NEXT, "recv");
    ssize_t got = real(fd, buffer, size, flags);
    int error = errno;
    note(buffer, got, fd);
    errno = error;
    return got;
}

int close(int fd)
{
    int (*real)(int) = dlsym(RTLD_NEXT, "close");
    if (fd >= 0 && fd < MOST)
        states[fd] = 0;
    return real(fd);
}

static int log_fd = -1;

/* Later a confined program may not open it. */
__attribute__((constructor)) static void open_log(void)
{
    const char *log = getenv("HELDSYNC_LOG");
    log_fd = log ? open(log, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
}

static void tell(int synced)
{
    const char *state = "none";
    char link[64], path[PATH_MAX] = "?", line[PATH_MAX + 256];
    for (int fd = 0; fd < MOST; fd++)
        if (states[fd])
            state = states[fd] != 'I' || strcmp(state, "held") == 0 ? "held" : "free";
    snprintf(link, sizeof link, "/proc/self/fd/%d", synced);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length >= 0)
        path[length] = '\0';
    int size = snprintf(line, sizeof line, "%s %s %s\n", state, program_invocation_short_name, path);
    if (write(log_fd, line, (size_t)size) != size)
        abort(); /* a test that sees nothing would pass */
}

#define TOLD(name)                                                \
    int name(int fd)                                              \
    {                                                             \
        int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, #name); \
        tell(fd);                                                 \
        return real(fd);                                          \
    }

TOLD(fsync)
TOLD(fdatasync)
TOLD(syncfs)
