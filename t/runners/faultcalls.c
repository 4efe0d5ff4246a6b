/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "t/runners/faultcalls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"

enum { NO_SPACE, QUOTA, READ_ONLY, IO, PROCESS_FILES, SYSTEM_FILES, INTERRUPTED, SHORT };

const FaultError fault_errors[] = {
    [NO_SPACE] = {ENOSPC, "ENOSPC"},  [QUOTA] = {EDQUOT, "EDQUOT"},        [READ_ONLY] = {EROFS, "EROFS"},
    [IO] = {EIO, "EIO"},              [PROCESS_FILES] = {EMFILE, "EMFILE"}, [SYSTEM_FILES] = {ENFILE, "ENFILE"},
    [INTERRUPTED] = {EINTR, "EINTR"}, [SHORT] = {FAULT_SHORT, "short"},
};
G_STATIC_ASSERT(G_N_ELEMENTS(fault_errors) == FAULT_ERRORS);

#define BIT(number) (1U << (number))
#define CHANGES (BIT(NO_SPACE) | BIT(QUOTA) | BIT(READ_ONLY) | BIT(IO))
#define OPENS (BIT(IO) | BIT(PROCESS_FILES) | BIT(SYSTEM_FILES) | BIT(INTERRUPTED))

/* The system's, and ours in their place. */
#define BOTH(type, name, parameters) \
    type __real_##name parameters;   \
    type __wrap_##name parameters;
BOTH(int, openat, (int dir_fd, const char *name, int flags, ...))
BOTH(ssize_t, read, (int fd, void *data, size_t length))
BOTH(ssize_t, pread, (int fd, void *data, size_t length, off_t offset))
BOTH(ssize_t, write, (int fd, const void *data, size_t length))
BOTH(ssize_t, pwrite, (int fd, const void *data, size_t length, off_t offset))
BOTH(ssize_t, writev, (int fd, const struct iovec *pieces, int count))
BOTH(int, unlinkat, (int fd, const char *name, int flags))
BOTH(int, mkdirat, (int fd, const char *name, mode_t mode))
int __real_fstat(int fd, struct stat *status);
int __real_faccessat(int fd, const char *name, int mode, int flags);
BOTH(GThreadPool *, g_thread_pool_new, (GFunc function, gpointer data, gint threads, gboolean alone, GError **error))
BOTH(gboolean, g_thread_pool_push, (GThreadPool *pool, gpointer data, GError **error))
BOTH(guint, g_thread_pool_unprocessed, (GThreadPool *pool))
G_NORETURN void __wrap_exit(int code);
/* The compiler calls these in the place of openat, read and pread with _FORTIFY_SOURCE. */
int __wrap___openat_2(int dir_fd, const char *name, int flags);
ssize_t __wrap___read_chk(int fd, void *data, size_t length, size_t room);
ssize_t __wrap___pread_chk(int fd, void *data, size_t length, off_t offset, size_t room);

static FaultPlan plan;
static FaultReport *report; /* NULL: nothing is counted */

void faults_begin(const FaultPlan *wanted, FaultReport *into)
{
    plan = *wanted;
    *into = (FaultReport){0};
    report = into;
}

bool fault_life_ended(const FaultLife *life, int code)
{
    return WIFEXITED(life->status) && WEXITSTATUS(life->status) == code;
}

FaultLife faults_live(const FaultPlan *wanted, FaultReport *into, int (*work)(const void *data), const void *data)
{
    auto_fd log = memfd_create("log", MFD_CLOEXEC), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    pid_t pid = fork();
    g_assert_cmpint(pid, >=, 0);
    if (pid == 0) {
        dup2(log, STDERR_FILENO);
        dup2(null, STDOUT_FILENO); /* GLib says there that it bails out; that is no result of this test */
        faults_begin(wanted, into);
        _exit(work(data));
    }
    FaultLife life = {0};
    g_assert_cmpint(waitpid(pid, &life.status, 0), ==, pid);
    off_t length = lseek(log, 0, SEEK_END);
    life.log = g_malloc0((gsize)length + 1);
    g_assert_cmpint(pread(log, life.log, (size_t)length, 0), ==, length);
    return life;
}

bool faults_may_allocate(void)
{
    if (!report)
        return true;
    report->allocations++;
    return plan.allocation == 0 || report->allocations < plan.allocation ||
           (plan.alone && report->allocations > plan.allocation);
}

/* The path of an open file; "" when it has none. */
static void find_path(int fd, char path[PATH_MAX + 1])
{
    char link[40];
    g_snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = fd >= 0 ? readlink(link, path, PATH_MAX) : 0;
    path[MAX(length, 0)] = '\0';
}

static bool is_meant(const char *call, int fd)
{
    char path[PATH_MAX + 1];
    if (plan.only && !g_pattern_match_simple(plan.only, call))
        return false;
    if (!plan.under)
        return true;
    find_path(fd, path);
    return g_str_has_prefix(path, plan.under);
}

/* Writes what is called into the report: the call, the directory or file, the name. */
static void tell(const char *call, int fd, const char *name)
{
    char path[PATH_MAX + 1];
    find_path(fd, path);
    const char *base = strrchr(path, '/');
    g_snprintf(report->call, sizeof report->call, "%s %s%s%s", call, base ? base + 1 : "", name ? "/" : "",
               name ? name : "");
}

/* Counts a call on the spool that can have these errors; the errno it is to have,
 * FAULT_SHORT, or 0. */
static int next_error(const char *call, int fd, const char *name, unsigned possible)
{
    struct stat status;
    bool ours = fd == AT_FDCWD || fd == -1 || (fd > 2 && __real_fstat(fd, &status) == 0 &&
                                               (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)));
    if (!report || !ours || !is_meant(call, fd))
        return 0;
    report->calls++;
    if (plan.at == 0 || report->calls < plan.at || report->injected >= plan.times)
        return 0;
    for (unsigned i = 0; i < FAULT_ERRORS; i++)
        if (fault_errors[i].error == plan.error && (possible & BIT(i))) {
            if (report->injected++ == 0) {
                report->hit = report->calls;
                tell(call, fd, name);
            }
            return plan.error;
        }
    return 0;
}

/* True with errno set when the call is to fail. */
static bool fails(const char *call, int fd, const char *name, unsigned possible)
{
    int error = next_error(call, fd, name, possible);
    if (error > 0)
        errno = error;
    return error > 0;
}

/* How many bytes a call may take; 0 with errno set when it fails. */
static size_t may_take(const char *call, int fd, size_t length, unsigned possible)
{
    int error = next_error(call, fd, NULL, length > 1 ? possible | BIT(SHORT) : possible);
    if (error > 0) {
        errno = error;
        return 0;
    }
    return error == FAULT_SHORT ? length / 2 : length;
}

int __wrap_openat(int dir_fd, const char *name, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & O_CREAT ? (mode_t)va_arg(arguments, int) : 0;
    va_end(arguments);
    unsigned more = flags & O_CREAT ? CHANGES : (flags & O_ACCMODE) != O_RDONLY ? BIT(READ_ONLY) : 0;
    return fails("openat", dir_fd, name, OPENS | more) ? -1 : __real_openat(dir_fd, name, flags, mode);
}

ssize_t __wrap_read(int fd, void *data, size_t length)
{
    size_t take = may_take("read", fd, length, BIT(IO) | BIT(INTERRUPTED));
    return take == 0 && length > 0 ? -1 : __real_read(fd, data, take);
}

ssize_t __wrap_pread(int fd, void *data, size_t length, off_t offset)
{
    size_t take = may_take("pread", fd, length, BIT(IO) | BIT(INTERRUPTED));
    return take == 0 && length > 0 ? -1 : __real_pread(fd, data, take, offset);
}

int __wrap___openat_2(int dir_fd, const char *name, int flags)
{
    return __wrap_openat(dir_fd, name, flags);
}

ssize_t __wrap___read_chk(int fd, void *data, size_t length, size_t room)
{
    return __wrap_read(fd, data, length);
}

ssize_t __wrap___pread_chk(int fd, void *data, size_t length, off_t offset, size_t room)
{
    return __wrap_pread(fd, data, length, offset);
}

ssize_t __wrap_write(int fd, const void *data, size_t length)
{
    size_t take = may_take("write", fd, length, CHANGES | BIT(INTERRUPTED));
    return take == 0 && length > 0 ? -1 : __real_write(fd, data, take);
}

ssize_t __wrap_pwrite(int fd, const void *data, size_t length, off_t offset)
{
    size_t take = may_take("pwrite", fd, length, CHANGES | BIT(INTERRUPTED));
    return take == 0 && length > 0 ? -1 : __real_pwrite(fd, data, take, offset);
}

/* A short one takes the first piece, and of the second what half of it is. */
ssize_t __wrap_writev(int fd, const struct iovec *pieces, int count)
{
    size_t length = 0;
    for (int i = 0; i < count; i++)
        length += pieces[i].iov_len;
    size_t take = may_take("writev", fd, length, CHANGES | BIT(INTERRUPTED));
    if (take == length)
        return __real_writev(fd, pieces, count);
    if (take == 0)
        return -1;
    struct iovec some[2] = {pieces[0], {0}};
    if (count > 1)
        some[1] = (struct iovec){pieces[1].iov_base, pieces[1].iov_len / 2};
    else
        some[0].iov_len = take;
    return __real_writev(fd, some, 2);
}

/* A missing file is missing on a read-only disk, too. */
int __wrap_unlinkat(int fd, const char *name, int flags)
{
    bool there = __real_faccessat(fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    return there && fails("unlinkat", fd, name, BIT(IO) | BIT(READ_ONLY)) ? -1 : __real_unlinkat(fd, name, flags);
}

int __wrap_mkdirat(int fd, const char *name, mode_t mode)
{
    bool there = __real_faccessat(fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    return !there && fails("mkdirat", fd, name, CHANGES) ? -1 : __real_mkdirat(fd, name, mode);
}

/* No helpers: what is pushed is done at once, in order. */
GThreadPool *__wrap_g_thread_pool_new(GFunc function, gpointer data, gint threads, gboolean alone, GError **error)
{
    GThreadPool *pool = g_new0(GThreadPool, 1);
    (void)threads;
    (void)error;
    *pool = (GThreadPool){function, data, alone};
    return pool;
}

gboolean __wrap_g_thread_pool_push(GThreadPool *pool, gpointer data, GError **error)
{
    (void)error;
    pool->func(data, pool->user_data);
    return TRUE;
}

/* A process that ends does not look for leaks. */
void __wrap_exit(int code)
{
    _exit(code);
}

guint __wrap_g_thread_pool_unprocessed(GThreadPool *pool)
{
    (void)pool;
    return 0; /* each was done when it was pushed */
}

/* Calls that fail or do all that they are asked to: what is called, on which directory or file and name in it, which
 * errors it can have, and what it returns then. */
#define FAILING(type, name, parameters, arguments, fd, file, possible, failure)      \
    type __real_##name parameters;                                                   \
    type __wrap_##name parameters;                                                   \
    type __wrap_##name parameters                                                    \
    {                                                                                \
        return fails(#name, fd, file, possible) ? failure : __real_##name arguments; \
    }
FAILING(int, ftruncate, (int fd, off_t length), (fd, length), fd, NULL, CHANGES | BIT(INTERRUPTED), -1)
FAILING(int, renameat, (int from_fd, const char *from, int to_fd, const char *to), (from_fd, from, to_fd, to),
        from_fd, from, CHANGES, -1)
FAILING(int, renameat2, (int from_fd, const char *from, int to_fd, const char *to, unsigned flags),
        (from_fd, from, to_fd, to, flags), from_fd, from, CHANGES, -1)
FAILING(int, fsync, (int fd), (fd), fd, NULL, CHANGES | BIT(INTERRUPTED), -1)
FAILING(int, fdatasync, (int fd), (fd), fd, NULL, CHANGES | BIT(INTERRUPTED), -1)
FAILING(int, fstat, (int fd, struct stat *status), (fd, status), fd, NULL, BIT(IO), -1)
FAILING(int, fstatat, (int fd, const char *name, struct stat *status, int flags), (fd, name, status, flags),
        fd, name, BIT(IO), -1)
FAILING(int, faccessat, (int fd, const char *name, int mode, int flags), (fd, name, mode, flags), fd, name, BIT(IO), -1)
FAILING(DIR *, fdopendir, (int fd), (fd), fd, NULL, BIT(IO), NULL)
FAILING(struct dirent *, readdir, (DIR * directory), (directory), dirfd(directory), NULL, BIT(IO), NULL)
FAILING(int, inotify_init1, (int flags), (flags), -1, NULL, BIT(PROCESS_FILES), -1)
FAILING(int, inotify_add_watch, (int fd, const char *path, uint32_t mask), (fd, path, mask),
        -1, NULL, BIT(NO_SPACE), -1)
FAILING(void *, mmap, (void *at, size_t size, int protection, int flags, int fd, off_t offset),
        (at, size, protection, flags, fd, offset), fd, NULL, BIT(IO), MAP_FAILED)
