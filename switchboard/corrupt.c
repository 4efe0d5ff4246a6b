/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "switchboard/corrupt_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"
#include "switchboard/suffix_internal.h"

#define COPY_BLOCK (256 * 1024)

/* The bytes of file in a new file, synced; its name is not. */
static bool copy_file(Queue *from, const char *file, Queue *into, const char *to, GError **error)
{
    auto_fd source = fs_open(queue_fd(from), file, false, error);
    if (source < 0)
        return false;
    auto_fd copy = fs_create(queue_fd(into), to, error);
    if (copy < 0)
        return false;
    g_autofree char *block = g_malloc(COPY_BLOCK);
    bool good = true;
    for (ssize_t got; good && (got = TEMP_FAILURE_RETRY(read(source, block, COPY_BLOCK))) != 0;)
        good = got > 0 ? fs_write(copy, block, (size_t)got, error) : fail_errno(error, FAIL_LATER, "read");
    if (good && fs_sync_file(copy, error))
        return true;
    fs_unlink(queue_fd(into), to, NULL);
    return false;
}

/* A child of the file, as T5 leaves it. */
static bool copy_child(Queue *queue, const char *file, Queue *into, const char *tagged, GError **error)
{
    if (!copy_file(queue, file, into, tagged, error))
        return false;
    if (fs_sync_dir(queue_fd(into), error))
        return true;
    fs_unlink(queue_fd(into), tagged, NULL);
    return false;
}

/* The copy was not made whole, and is gone, if it could be: it must not come back beside what another run makes. */
static bool withdraw(Queue *corrupt, const char *tagged, GError **error)
{
    int fd = queue_fd(corrupt);
    return (faccessat(fd, tagged, F_OK, AT_SYMLINK_NOFOLLOW) != 0 || fs_unlink(fd, tagged, error)) &&
           fs_sync_dir(fd, error);
}

bool corrupt_set_aside(Queue *queue, const Hand *hand, const EntryName *name, GError **error)
{
    char claimed[FILE_NAME_SIZE], decided[FILE_NAME_SIZE], tagged[FILE_NAME_SIZE];
    suffix_file(name, hand->claimed, claimed);
    suffix_file(name, hand->decided, decided);
    suffix_tagged(hand, name, queue, name->hash, tagged);
    g_autoptr(GError) fault = NULL;
    Queue *corrupt = spool_queue(queue_spool(queue), CORRUPT_QUEUE, &fault);
    if (!corrupt || !copy_child(queue, claimed, corrupt, tagged, &fault)) {
        log_error("queue %s: %s stays there as " SUFFIX_PRESERVED ", it cannot be moved to " CORRUPT_QUEUE ": %s",
                  queue_name(queue), claimed, fault->message);
        return (!corrupt || withdraw(corrupt, tagged, error)) && suffix_preserve(queue, name, claimed, error);
    }
    EntryName published = *name;
    return fs_rename(queue_fd(queue), claimed, decided, error) && fs_sync_dir(queue_fd(queue), error) &&
           suffix_publish(corrupt, &published, tagged, error) && fs_sync_dir(queue_fd(corrupt), error) &&
           fs_unlink(queue_fd(queue), decided, error);
}

bool corrupt_set_stray_aside(Queue *queue, const EntryName *name, const char *file, GError **error)
{
    Queue *shunt = spool_queue(queue_spool(queue), SHUNT_QUEUE, error);
    if (!shunt)
        return false;
    char part[FILE_NAME_SIZE], copy[FILE_NAME_SIZE];
    suffix_file(name, SUFFIX_TMP, part);
    suffix_file(name, SUFFIX_PRESERVED, copy);
    log_error("queue %s: %s has no parent; it is set aside as " SHUNT_QUEUE "/%s", queue_name(queue), file, copy);
    fs_unlink(queue_fd(shunt), part, NULL); /* what a crash in here left */
    return copy_file(queue, file, shunt, part, error) && fs_rename(queue_fd(shunt), part, copy, error) &&
           fs_sync_dir(queue_fd(shunt), error) && fs_unlink(queue_fd(queue), file, error);
}
