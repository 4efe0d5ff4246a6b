/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/slices.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"

#define SUFFIX ".slices"
#define PROC_TEXT 1024

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

/* Decimal digits of a small number, without stdio; returns the end. */
static char *put_number(char *at, unsigned number)
{
    char digits[16];
    unsigned count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (count > 0)
        *at++ = digits[--count];
    return at;
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
    put_number(end + 1, instances);
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

GPtrArray *slices_all_owners(int dir_fd)
{
    GPtrArray *owners = g_ptr_array_new_with_free_func((GDestroyNotify)owner_free);
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", dir_fd);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir)) != NULL)
        if (g_str_has_suffix(name, SUFFIX))
            collect_file(dir_fd, name, 0, SLICES_FINEST, owners);
    return owners;
}
