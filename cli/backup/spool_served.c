/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/backup/spool_served.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "lists/keys.h"
#include "switchboard/operate.h"

/* Whether anybody holds a lock on that byte of the file (0, 0: on any). */
static bool locked(int fd, off_t start, off_t length)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
    return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static int open_file(Spool *spool, const char *path)
{
    return TEMP_FAILURE_RETRY(openat(spool_fd(spool), path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
}

void spool_served(Spool *spool, const char *queue, Served *served)
{
    bool outgoing = strcmp(queue, "retry") == 0 || strcmp(queue, NOTICE_QUEUE) == 0;
    const char *owner = outgoing ? "out" : queue;
    g_autofree char *path = g_strdup_printf(".master/%s.slices", owner);
    auto_fd fd = open_file(spool, path);
    *served = (Served){0};
    for (unsigned i = 0; fd >= 0 && i < G_N_ELEMENTS(served->byte); i++) {
        served->byte[i] = locked(fd, (off_t)i, 1);
        served->any |= served->byte[i];
    }
}

bool spool_has_master(Spool *spool)
{
    auto_fd fd = open_file(spool, ".master/lock");
    return fd >= 0 && locked(fd, 0, 0);
}

bool spool_has_command(Spool *spool)
{
    auto_fd fd = open_file(spool, OPERATE_LOCK_FILE);
    return fd >= 0 && locked(fd, 0, 0);
}
