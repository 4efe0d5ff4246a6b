/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/slices.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"

#define SUFFIX ".slices"
#define PROC_TEXT 1024
#define HOLDER_MAX 512
/* A process that SIGKILL does not end hangs in the kernel; its slice stays locked, so the wait need not be longer. */
#define KILL_WAIT (5 * CLOCK_SECOND)

static void owner_free(SliceOwner *owner)
{
    if (owner->pidfd >= 0)
        close(owner->pidfd);
    g_free(owner->queue);
    g_free(owner);
}

int slices_open_dir(const char *spool, GError **error)
{
    g_autofree char *path = g_build_filename(spool, ".master", NULL);
    return fs_open_dir(AT_FDCWD, path, true, error);
}

int slices_lock_spool(int dir_fd, const char *spool, GError **error)
{
    g_autofree char *restoring = g_build_filename(spool, ".restoring", NULL);
    if (access(restoring, F_OK) == 0) {
        fail(error, FAIL_CONFIG, "a restore of the spool %s is not finished; give the command again", spool);
        return -1;
    }
    auto_fd fd = openat(dir_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
    if (fd < 0) {
        fail_errno(error, FAIL_LATER, "open the lock of %s", spool);
        return -1;
    }
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_SETLK, &lock) != 0) {
        if (errno != EAGAIN && errno != EACCES)
            fail_errno(error, FAIL_LATER, "lock %s", spool);
        else if (fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK)
            fail(error, FAIL_RACE, "the spool %s had a master a moment ago; try again", spool);
        else {
            char holder[HOLDER_MAX + 1] = "";
            ssize_t got = pread(fd, holder, HOLDER_MAX, 0);
            holder[strcspn(holder, "\n")] = '\0';
            fail(error, FAIL_RACE, "the spool %s has a master already: %s (the lock's owner is process %ld)", spool,
                 got > 0 ? holder : "it has not yet said which", (long)lock.l_pid);
        }
        return -1;
    }
    g_autofree char *since = clock_text(clock_now());
    g_autofree char *text = g_strdup_printf("pid %ld on %s since %s\n", (long)getpid(), g_get_host_name(), since);
    g_autoptr(GError) unwritten = NULL;
    if (!fs_truncate(fd, 0, &unwritten) || !fs_pwrite(fd, text, strlen(text), 0, &unwritten))
        log_warn("the lock of %s is ours, but cannot say so: %s", spool, unwritten->message);
    return auto_fd_steal(&fd);
}

/* ---- slices ---- */

static unsigned first_of(unsigned instance, unsigned instances)
{
    return instance * (SLICES_FINEST / instances);
}

int slices_take(int dir_fd, const char *queue, unsigned instance, unsigned instances, GError **error)
{
    g_autofree char *name = g_strconcat(queue, SUFFIX, NULL);
    auto_fd fd = openat(dir_fd, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
    if (fd < 0) {
        fail_errno(error, FAIL_LATER, "open %s", name);
        return -1;
    }
    struct flock lock = {.l_type = F_WRLCK,
                         .l_whence = SEEK_SET,
                         .l_start = first_of(instance, instances),
                         .l_len = SLICES_FINEST / instances};
    if (fcntl(fd, F_OFD_SETLK, &lock) != 0) {
        fail_errno(error, errno == EAGAIN || errno == EACCES ? FAIL_RACE : FAIL_LATER, "lock %s", name);
        return -1;
    }
    return auto_fd_steal(&fd);
}

/* Reads a small file of /proc whole; async-signal-safe. */
static bool read_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, text, size - 1);
    close(fd);
    if (got <= 0)
        return false;
    text[got] = '\0';
    return true;
}

/* Field 22 of /proc/PID/stat, counted from behind the command's last ')',
 * as digits in place. */
static const char *start_time(char *stat)
{
    char *at = strrchr(stat, ')');
    for (int field = 2; at && field < 22; field++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    if (at)
        at[strspn(at, "0123456789")] = '\0';
    return at && *at ? at : NULL;
}

bool slices_sign(int fd, unsigned instance, unsigned instances)
{
    char stat[PROC_TEXT], boot[CLOCK_BOOT_ID_SIZE], record[SLICES_RECORD];
    if (!read_text("/proc/self/stat", stat, sizeof stat) || !clock_boot_id(boot))
        return false;
    size_t pid_length = strspn(stat, "0123456789");
    const char *started = start_time(stat);
    if (!started || pid_length + strlen(started) + strlen(boot) + 8 > sizeof record)
        return false;
    memset(record, ' ', sizeof record);
    char *end = mempcpy(record, stat, pid_length);
    end = mempcpy(end + 1, started, strlen(started));
    end = mempcpy(end + 1, boot, strlen(boot));
    char digits[16]; /* no stdio here */
    size_t at = sizeof digits;
    for (unsigned rest = instances; rest > 0 || at == sizeof digits; rest /= 10)
        digits[--at] = (char)('0' + rest % 10);
    memcpy(end + 1, digits + at, sizeof digits - at);
    record[SLICES_RECORD - 1] = '\n';
    return pwrite(fd, record, SLICES_RECORD, (off_t)first_of(instance, instances) * SLICES_RECORD) == SLICES_RECORD;
}

/* A descriptor for the process of a record if it still lives, else -1. */
static int living_owner(const char *record, pid_t *pid, unsigned *instances)
{
    long number;
    char started[32], boot[64], here[CLOCK_BOOT_ID_SIZE], path[64], stat[PROC_TEXT];
    if (sscanf(record, "%ld %31[0-9] %63[0-9a-f-] %3u", &number, started, boot, instances) != 4 || number <= 1 ||
        number > G_MAXINT || *instances == 0 || *instances > SLICES_FINEST)
        return -1;
    if (!clock_boot_id(here) || strcmp(here, boot) != 0)
        return -1;
    /* The descriptor comes before the comparison: no later process of the same pid can be taken for the owner. */
    auto_fd pidfd = pidfd_open((pid_t)number, 0);
    g_snprintf(path, sizeof path, "/proc/%ld/stat", number);
    if (pidfd < 0 || !read_text(path, stat, sizeof stat))
        return -1;
    const char *behind = strrchr(stat, ')');
    bool dead = behind && behind[1] == ' ' && (behind[2] == 'Z' || behind[2] == 'X');
    const char *now = start_time(stat);
    if (dead || !now || strcmp(now, started) != 0)
        return -1;
    *pid = (pid_t)number;
    return auto_fd_steal(&pidfd);
}

/* Adds the living owners whose range meets from .. to - 1. */
static void collect_file(int dir_fd, const char *name, unsigned from, unsigned to, GPtrArray *owners)
{
    auto_fd fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return;
    for (unsigned first = 0; first < SLICES_FINEST; first++) {
        char record[SLICES_RECORD + 1];
        ssize_t got = pread(fd, record, SLICES_RECORD, (off_t)first * SLICES_RECORD);
        if (got <= 0)
            return;
        record[got] = '\0';
        pid_t pid;
        unsigned instances;
        auto_fd pidfd = record[0] == '\0' ? -1 : living_owner(record, &pid, &instances);
        if (pidfd < 0 || first >= to || first + SLICES_FINEST / instances <= from)
            continue;
        SliceOwner *owner = g_new0(SliceOwner, 1);
        *owner = (SliceOwner){.queue = g_strndup(name, strlen(name) - strlen(SUFFIX)), .first = first, .pid = pid,
                              .pidfd = auto_fd_steal(&pidfd)};
        g_ptr_array_add(owners, owner);
    }
}

GPtrArray *slices_owners(int dir_fd, const char *queue, unsigned instance, unsigned instances)
{
    GPtrArray *owners = g_ptr_array_new_with_free_func((GDestroyNotify)owner_free);
    g_autofree char *name = g_strconcat(queue, SUFFIX, NULL);
    unsigned from = first_of(instance, instances);
    collect_file(dir_fd, name, from, from + SLICES_FINEST / instances, owners);
    return owners;
}

/* ---- what an earlier master left ---- */

/* Forgets those that cannot be signalled: another user's. */
static void signal_all(GPtrArray *owners, int number, const char *what)
{
    for (guint i = owners->len; i-- > 0;) {
        const SliceOwner *owner = g_ptr_array_index(owners, i);
        log_warn("%s: process %ld of an earlier master still owns the slice at %u of %u; %s", owner->queue,
                 (long)owner->pid, owner->first, SLICES_FINEST, what);
        if (pidfd_send_signal(owner->pidfd, number, NULL, 0) == 0 || errno == ESRCH) {
            pidfd_send_signal(owner->pidfd, SIGCONT, NULL, 0); /* its master may have died in a pause */
            continue;
        }
        log_error("process %ld: %s", (long)owner->pid, g_strerror(errno));
        g_ptr_array_remove_index(owners, i);
    }
}

/* Waits for all of them, at most `timeout` or until told to stop, and forgets those that have ended. */
static void wait_all(GPtrArray *owners, int64_t timeout, int stop_fd)
{
    int64_t until = clock_monotonic() + timeout;
    int64_t left;
    while (owners->len > 0 && (left = until - clock_monotonic()) > 0) {
        g_autofree struct pollfd *polled = g_new0(struct pollfd, owners->len + 1);
        for (guint i = 0; i < owners->len; i++)
            polled[i] = (struct pollfd){((SliceOwner *)g_ptr_array_index(owners, i))->pidfd, POLLIN, 0};
        polled[owners->len] = (struct pollfd){stop_fd, POLLIN, 0};
        if (poll(polled, owners->len + 1, (int)MIN(left / 1000 + 1, G_MAXINT)) < 0 && errno != EINTR)
            return;
        if (polled[owners->len].revents)
            return;
        for (guint i = owners->len; i-- > 0;)
            if (polled[i].revents)
                g_ptr_array_remove_index(owners, i);
    }
}

void slices_end_orphans(int dir_fd, int64_t timeout)
{
    g_autoptr(GPtrArray) owners = g_ptr_array_new_with_free_func((GDestroyNotify)owner_free);
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", dir_fd);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir)) != NULL)
        if (g_str_has_suffix(name, SUFFIX))
            collect_file(dir_fd, name, 0, SLICES_FINEST, owners);
    if (owners->len == 0)
        return;
    sigset_t stops; /* the descriptor is readable while a signal that ends the master is pending; it stays so */
    sigemptyset(&stops);
    sigaddset(&stops, SIGTERM);
    sigaddset(&stops, SIGINT);
    auto_fd stop_fd = signalfd(-1, &stops, SFD_CLOEXEC);
    struct pollfd told = {stop_fd, POLLIN, 0};
    signal_all(owners, SIGTERM, "asked to finish");
    wait_all(owners, timeout, stop_fd);
    if (owners->len == 0 || poll(&told, 1, 0) > 0)
        return;
    signal_all(owners, SIGKILL, "killed");
    wait_all(owners, KILL_WAIT, stop_fd);
}
