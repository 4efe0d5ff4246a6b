/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"

#define HOLDER_MAX 512

int lock_take(int dir_fd, const char *spool, GError **error)
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
