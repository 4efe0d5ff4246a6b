/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * failcall.so, for LD_PRELOAD: of the calls by which an installed program changes or syncs files below certain
 * directories, the n-th fails, or the program is killed in its stead.
 *
 * FAILCALL_PLAN names a file with a Plan, which all processes share; FAILCALL_UNDER the directories, with colons
 * between.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define WHAT_SIZE 80

typedef struct Plan {
    int64_t left;  /* calls until it happens; it goes on down */
    int32_t error; /* what errno becomes; 0: the program is killed */
    int32_t hits;
    char what[WHAT_SIZE]; /* the call that it was, and the end of the path */
} Plan;

static Plan *plan;
static const char *under;

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("FAILCALL_PLAN");
    under = getenv("FAILCALL_UNDER");
    int fd = path && under ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *shared = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(Plan), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED) {
        fprintf(stderr, "failcall: no plan\n");
        _exit(70);
    }
    close(fd);
    plan = shared;
}

/* Whether the path begins with one of the directories. */
static bool is_under(const char *path)
{
    for (const char *at = under; *at;) {
        size_t length = strcspn(at, ":");
        if (strncmp(path, at, length) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

/* The path of the descriptor, or the one given; false: it cannot be told. */
static bool find_path(int fd, const char *path, char target[PATH_MAX + 1])
{
    char link[40];
    if (path && *path == '/')
        return snprintf(target, PATH_MAX + 1, "%s", path) <= PATH_MAX;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = fd == AT_FDCWD ? -1 : readlink(link, target, PATH_MAX);
    if (length >= 0)
        target[length] = '\0';
    return length >= 0;
}

/* False, with errno set, when the call must fail. */
static bool permitted(const char *what, int fd, const char *path)
{
    char target[PATH_MAX + 1];
    int saved = errno;
    bool meant = plan && find_path(fd, path, target) && is_under(target);
    errno = saved;
    if (!meant || __atomic_sub_fetch(&plan->left, 1, __ATOMIC_SEQ_CST) != 0)
        return true;
    size_t length = strlen(target), room = WHAT_SIZE / 2;
    snprintf(plan->what, WHAT_SIZE, "%s %s", what, target + (length > room ? length - room : 0));
    plan->hits++;
    if (plan->error == 0)
        kill(getpid(), SIGKILL);
    errno = plan->error;
    return false;
}

#define NEXT(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name))

/* A call of these, and what it is handed on with. */
#define CALL(type, name, parameters, arguments, fd, path)        \
    type name parameters                                         \
    {                                                            \
        return permitted(#name, fd, path) ? NEXT(name) arguments : -1; \
    }

CALL(ssize_t, write, (int fd, const void *octets, size_t length), (fd, octets, length), fd, NULL)
CALL(ssize_t, writev, (int fd, const struct iovec *pieces, int count), (fd, pieces, count), fd, NULL)
CALL(ssize_t, pwrite, (int fd, const void *octets, size_t length, off_t at), (fd, octets, length, at), fd, NULL)
CALL(ssize_t, pwrite64, (int fd, const void *octets, size_t length, off64_t at), (fd, octets, length, at), fd, NULL)
CALL(int, ftruncate, (int fd, off_t length), (fd, length), fd, NULL)
CALL(int, ftruncate64, (int fd, off64_t length), (fd, length), fd, NULL)
CALL(int, fsync, (int fd), (fd), fd, NULL)
CALL(int, fdatasync, (int fd), (fd), fd, NULL)
CALL(int, syncfs, (int fd), (fd), fd, NULL)
CALL(int, renameat, (int from, const char *old, int to, const char *new), (from, old, to, new), from, old)
CALL(int, renameat2, (int from, const char *old, int to, const char *new, unsigned flags), (from, old, to, new, flags),
     from, old)
CALL(int, linkat, (int from, const char *old, int to, const char *new, int flags), (from, old, to, new, flags), from,
     old)
CALL(int, unlinkat, (int fd, const char *path, int flags), (fd, path, flags), fd, path)
CALL(int, mkdirat, (int fd, const char *path, mode_t mode), (fd, path, mode), fd, path)

/* Of openings only those that make a file. */
#define OPEN(name)                                                          \
    int name(int fd, const char *path, int flags, ...)                      \
    {                                                                       \
        va_list rest;                                                       \
        va_start(rest, flags);                                              \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
        va_end(rest);                                                       \
        if (flags & O_CREAT && !permitted(#name, fd, path))                 \
            return -1;                                                      \
        return NEXT(name)(fd, path, flags, mode);                           \
    }

OPEN(openat)
OPEN(openat64)
