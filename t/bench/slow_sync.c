/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* slow_sync.so, for LD_PRELOAD: each sync of a file below SLOW_SYNC_UNDER takes SLOW_SYNC_MS milliseconds more. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void wait_below(int fd)
{
    const char *under = getenv("SLOW_SYNC_UNDER"), *ms = getenv("SLOW_SYNC_MS");
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path);
    if (under && ms && length >= (ssize_t)strlen(under) && strncmp(path, under, strlen(under)) == 0)
        usleep((useconds_t)atoi(ms) * 1000);
}

#define SLOW(name)                                                \
    int name(int fd)                                              \
    {                                                             \
        int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, #name); \
        wait_below(fd);                                           \
        return real(fd);                                          \
    }

SLOW(fsync)
SLOW(fdatasync)
SLOW(syncfs)
