/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/hosts/limit_share.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"
#include "lists/hosts/this_host.h"

#define BEGUN 0 /* this byte is locked by the runner host, those from 1 on are marks */

struct LimitShare {
    Spool *spool;
    int fd;          /* -1: this host works alone */
    bool believed;   /* what the runner host has written may be used */
    unsigned marked; /* the greatest part that is marked: one in so many; 0: none */
    unsigned used;   /* the part that limit_share_look() said last */
};

static int open_file(Spool *spool, GError **error)
{
    return fs_keep_once(spool_fd(spool), LIMIT_SHARE_FILE, 0640, "", 0, error)
               ? fs_open(spool_fd(spool), LIMIT_SHARE_FILE, true, error)
               : -1;
}

LimitShare *limit_share_new(Spool *spool, const Config *config, bool believed, GError **error)
{
    g_autoptr(LimitShare) share = g_new0(LimitShare, 1);
    share->spool = spool;
    share->believed = believed;
    share->fd = -1;
    if (this_host_is_one_of_many(config) && (share->fd = open_file(spool, error)) < 0)
        return NULL;
    return g_steal_pointer(&share);
}

void limit_share_free(LimitShare *share)
{
    if (!share)
        return;
    if (share->fd >= 0)
        close(share->fd);
    g_free(share);
}

bool limit_share_changes(const LimitShare *share)
{
    return share->fd >= 0;
}

/* Return whether one in so many parts is more than one in than. */
static bool is_more(unsigned parts, unsigned than)
{
    return parts > 0 && (than == 0 || parts < than);
}

static bool lock_byte(int fd, off_t at, short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
    return TEMP_FAILURE_RETRY(fcntl(fd, F_OFD_SETLK, &lock)) == 0;
}

int limit_share_begin(Spool *spool, GError **error)
{
    auto_fd fd = open_file(spool, error);
    if (fd >= 0 && !lock_byte(fd, BEGUN, F_RDLCK)) {
        fail_errno(error, FAIL_LATER, "lock %s of the spool", LIMIT_SHARE_FILE);
        return -1;
    }
    return auto_fd_steal(&fd);
}

/* Read the share that the runner host says; where that cannot be read, return the one used before. */
static unsigned read_part(LimitShare *share)
{
    g_auto(ThisHost) host = {0};
    g_autoptr(GError) fault = NULL;
    if (!share->believed) { /* until the lock of a runner host is seen, which has begun then */
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = BEGUN, .l_len = 1};
        share->believed = TEMP_FAILURE_RETRY(fcntl(share->fd, F_OFD_GETLK, &lock)) == 0 && lock.l_type != F_UNLCK;
    }
    if (!share->believed)
        return 0;
    if (!this_host_read(spool_fd(share->spool), &host, &fault))
        return g_error_matches(fault, FAIL, FAIL_MISSING) ? 0 : share->used;
    return clock_boot() < host.share_until ? (unsigned)CLAMP(host.parts, 0, INT_MAX) : 0;
}

/* The mark comes first, and then it is read again: the runner host writes first, and then looks for marks. */
unsigned limit_share_look(LimitShare *share)
{
    if (share->fd < 0)
        return 1;
    unsigned part = read_part(share);
    if (is_more(part, share->marked)) {
        if (!lock_byte(share->fd, part, F_RDLCK))
            return share->used;
        if (read_part(share) != part) { /* the next look finds what it is now */
            lock_byte(share->fd, part, F_UNLCK);
            return share->used;
        }
        if (share->marked > 0)
            lock_byte(share->fd, share->marked, F_UNLCK);
        share->marked = part;
    }
    share->used = part;
    return part;
}

void limit_share_kept(LimitShare *share)
{
    if (share->fd < 0 || !is_more(share->marked, share->used) ||
        (share->used > 0 && !lock_byte(share->fd, share->used, F_RDLCK)))
        return;
    lock_byte(share->fd, share->marked, F_UNLCK);
    share->marked = share->used;
}

bool limit_share_in_use(Spool *spool, unsigned parts, bool *in_use, GError **error)
{
    auto_fd fd = open_file(spool, error);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 1, .l_len = parts > 0 ? parts - 1 : 0};
    *in_use = true;
    if (fd < 0)
        return false;
    if (parts == 1) { /* a length of 0 would be all */
        *in_use = false;
        return true;
    }
    if (TEMP_FAILURE_RETRY(fcntl(fd, F_OFD_GETLK, &lock)) != 0)
        return fail_errno(error, FAIL_LATER, "look for marks in %s of the spool", LIMIT_SHARE_FILE);
    *in_use = lock.l_type != F_UNLCK;
    return true;
}
