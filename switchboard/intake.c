/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "switchboard/intake.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"
#include "switchboard/suffix_internal.h"

/* No sweep removes what is younger: half of the least tmp_lifetime. */
#define SAFE_FROM_SWEEP (1800 * CLOCK_SECOND)

/* IntakeProgress says how far one member has come. */
typedef struct IntakeProgress {
    Queue *queue;
    int fd; /* -1: not written, or failed */
    char temporary[FILE_NAME_SIZE];
    int64_t begun; /* on the wall clock */
    bool stored;   /* durable as .tmp */
} IntakeProgress;

/* Whether an earlier try stored it; false, with an error when nobody can say. One that this process
 * stored bears the name; one of a process before it may be due at another time by now (a runner put it back, R8
 * found its name taken), so that one is known by its hash. */
static bool stored_before(Queue *queue, const EntryName *wanted, GError **error)
{
    bool held = false;
    if (!queue_held(queue, wanted->hash, &held, error) || held)
        return held;
    for (const char *const *suffix = suffix_stored; *suffix; suffix++) {
        char file[FILE_NAME_SIZE];
        suffix_file(wanted, *suffix, file);
        if (faccessat(queue_fd(queue), file, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
            return true;
        if (errno != ENOENT)
            return fail_errno(error, FAIL_LATER, "queue %s: look for %s", queue_name(queue), file);
    }
    return false;
}

static void write_member(Spool *spool, Intake *member, IntakeProgress *progress, bool once)
{
    progress->fd = -1;
    progress->begun = clock_now();
    progress->queue = spool_target(spool, draft_queue(member->draft), &member->error);
    if (!progress->queue)
        return;
    const EntryName *name = draft_name(member->draft);
    suffix_file(name, SUFFIX_TMP, progress->temporary);
    /* A crash may have left it, in part or whole. It goes before we look: whoever published it (R8) did so before
     * it was gone, and we see that; afterwards nobody can. */
    if (once)
        fs_unlink(queue_fd(progress->queue), progress->temporary, NULL);
    bool before = once && stored_before(progress->queue, name, &member->error);
    if (before || member->error)
        return;
    progress->fd = draft_write(member->draft, progress->queue, progress->temporary, &member->error);
    if (once && g_error_matches(member->error, FAIL, FAIL_EXISTS)) /* what was left is still there */
        queue_look_again(progress->queue);
}

/* T1: files and directories in one group. Afterwards no descriptor is open. */
static void sync_members(Intake *group, IntakeProgress *progress, size_t count)
{
    g_autofree FsSync *syncs = g_new0(FsSync, 2 * count + 1);
    g_autoptr(GPtrArray) queues = g_ptr_array_new();
    size_t files = 0;
    for (size_t i = 0; i < count; i++)
        if (progress[i].fd >= 0) {
            syncs[files++] = (FsSync){.fd = progress[i].fd, .owner = &progress[i]};
            if (!g_ptr_array_find(queues, progress[i].queue, NULL))
                g_ptr_array_add(queues, progress[i].queue);
        }
    for (guint i = 0; i < queues->len; i++)
        syncs[files + i] = (FsSync){.fd = queue_fd(queues->pdata[i]), .directory = true};
    g_autoptr(GError) error = NULL;
    fs_sync_group(syncs, files + queues->len, &error);
    for (size_t i = 0; i < files; i++) {
        IntakeProgress *one = syncs[i].owner;
        guint queue = 0;
        g_ptr_array_find(queues, one->queue, &queue);
        close(one->fd);
        one->fd = -1;
        one->stored = syncs[i].result == 0 && syncs[files + queue].result == 0;
        if (one->stored)
            continue;
        /* When its file cannot be taken away, or is gone, a runner takes it in (R8), and may have put it off by the
         * time of the next try, which must not rely on what the queue held before. */
        group[one - progress].error = g_error_copy(error);
        if (!fs_unlink(queue_fd(one->queue), one->temporary, NULL))
            queue_look_again(one->queue);
    }
}

/* T2. */
static void publish_member(Intake *member, const IntakeProgress *progress, bool once)
{
    for (;;) {
        char file[FILE_NAME_SIZE];
        suffix_file(draft_name(member->draft), SUFFIX_READY, file);
        g_autoptr(GError) error = NULL;
        if (fs_rename_new(queue_fd(progress->queue), progress->temporary, file, &error))
            return;
        if (g_error_matches(error, FAIL, FAIL_MISSING)) {
            /* The name is gone. The runner was faster (R8): it is stored. Or the clock was set forward, and a sweep
             * took it for abandoned (R7): then nobody can say. */
            if (clock_now() - progress->begun <= SAFE_FROM_SWEEP)
                return;
            queue_look_again(progress->queue);
            fail(&member->error, FAIL_LATER, "queue %s: %s is gone, and the clock has gone on by half an hour or more",
                 queue_name(progress->queue), progress->temporary);
            return;
        }
        if (!g_error_matches(error, FAIL, FAIL_EXISTS)) { /* it is stored, and to be taken in (R8): no 4xx is true */
            log_error("queue %s: %s; it is stored, and its runner takes it in later", queue_name(progress->queue),
                      error->message);
            return;
        }
        if (once) {
            fs_unlink(queue_fd(progress->queue), progress->temporary, NULL);
            return;
        }
        draft_bump(member->draft);
    }
}

bool intake_store(Spool *spool, Intake *group, size_t count, bool once)
{
    g_autofree IntakeProgress *progress = g_new0(IntakeProgress, count);
    for (size_t i = 0; i < count; i++)
        write_member(spool, &group[i], &progress[i], once);
    sync_members(group, progress, count);
    bool all = true;
    for (size_t i = 0; i < count; i++) {
        if (progress[i].stored)
            publish_member(&group[i], &progress[i], once);
        all = all && !group[i].error;
    }
    return all;
}
