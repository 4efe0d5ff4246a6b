/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "switchboard/intake.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/fs.h"

#define SUFFIX_SIZE 8

/* What became of one member so far. */
typedef struct Progress {
    Queue *queue;
    int fd; /* -1: not written, or failed */
    char temporary[NAME_SIZE + SUFFIX_SIZE];
    bool published;
} Progress;

/* False, with an error when nobody can say. */
static bool stored_before(Queue *queue, const char *name, GError **error)
{
    static const char *const suffixes[] = {".msg", ".bak", ".done", ".psv", ".opc", ".opd"};
    for (size_t i = 0; i < G_N_ELEMENTS(suffixes); i++) {
        char file[NAME_SIZE + SUFFIX_SIZE];
        g_snprintf(file, sizeof file, "%s%s", name, suffixes[i]);
        if (faccessat(queue_fd(queue), file, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
            return true;
        if (errno != ENOENT)
            return fail_errno(error, FAIL_LATER, "queue %s: look for %s", queue_name(queue), file);
    }
    return false;
}

static void write_member(Spool *spool, Intake *member, Progress *progress, bool once)
{
    char name[NAME_SIZE];
    progress->fd = -1;
    progress->queue = spool_queue(spool, draft_queue(member->draft), &member->error);
    if (!progress->queue)
        return;
    name_format(draft_name(member->draft), name);
    if (once && stored_before(progress->queue, name, &member->error))
        progress->published = true;
    if (progress->published || member->error)
        return;
    g_snprintf(progress->temporary, sizeof progress->temporary, "%s.tmp", name);
    if (once) /* a crash may have left a part of it */
        fs_unlink(queue_fd(progress->queue), progress->temporary, NULL);
    progress->fd = draft_write(member->draft, progress->queue, progress->temporary, &member->error);
}

static void give_up(Intake *member, Progress *progress, const GError *why)
{
    if (!member->error)
        member->error = g_error_copy(why);
    fs_unlink(queue_fd(progress->queue), progress->temporary, NULL);
    progress->published = false;
}

/* Syncs what was written; afterwards no descriptor is open. */
static void sync_members(Intake *group, Progress *progress, size_t count)
{
    g_autofree FsSync *syncs = g_new0(FsSync, count);
    g_autofree size_t *which = g_new(size_t, count);
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (progress[i].fd >= 0) {
            which[used] = i;
            syncs[used++] = (FsSync){.fd = progress[i].fd};
        }
    g_autoptr(GError) error = NULL;
    fs_sync_group(syncs, used, &error);
    for (size_t i = 0; i < used; i++) {
        Progress *one = &progress[which[i]];
        close(one->fd);
        one->fd = -1;
        if (syncs[i].result != 0)
            give_up(&group[which[i]], one, error);
    }
}

static void publish_member(Intake *member, Progress *progress)
{
    for (;;) {
        char name[NAME_SIZE], file[NAME_SIZE + SUFFIX_SIZE];
        name_format(draft_name(member->draft), name);
        g_snprintf(file, sizeof file, "%s.msg", name);
        g_autoptr(GError) error = NULL;
        if (fs_rename_new(queue_fd(progress->queue), progress->temporary, file, &error)) {
            progress->published = true;
            return;
        }
        if (!g_error_matches(error, FAIL, FAIL_RACE)) {
            give_up(member, progress, error);
            return;
        }
        draft_bump(member->draft);
    }
}

/* A directory whose sync failed: what was published there is not durable and
 * must not be acknowledged, so it is taken back as far as it goes. */
static void retract(Intake *group, Progress *progress, size_t count, Queue *queue, const GError *why)
{
    for (size_t i = 0; i < count; i++)
        if (progress[i].published && progress[i].queue == queue && progress[i].temporary[0]) {
            char name[NAME_SIZE];
            name_format(draft_name(group[i].draft), name);
            g_snprintf(progress[i].temporary, sizeof progress[i].temporary, "%s.msg", name);
            give_up(&group[i], &progress[i], why);
        }
}

static void sync_directories(Intake *group, Progress *progress, size_t count)
{
    g_autoptr(GPtrArray) queues = g_ptr_array_new();
    for (size_t i = 0; i < count; i++)
        if (progress[i].published && !g_ptr_array_find(queues, progress[i].queue, NULL))
            g_ptr_array_add(queues, progress[i].queue);
    g_autofree FsSync *syncs = g_new0(FsSync, queues->len + 1);
    for (guint i = 0; i < queues->len; i++)
        syncs[i] = (FsSync){.fd = queue_fd(queues->pdata[i]), .directory = true};
    g_autoptr(GError) error = NULL;
    if (fs_sync_group(syncs, queues->len, &error))
        return;
    for (guint i = 0; i < queues->len; i++)
        if (syncs[i].result != 0)
            retract(group, progress, count, queues->pdata[i], error);
}

bool intake_store(Spool *spool, Intake *group, size_t count, bool once)
{
    g_autofree Progress *progress = g_new0(Progress, count);
    for (size_t i = 0; i < count; i++)
        write_member(spool, &group[i], &progress[i], once);
    sync_members(group, progress, count);
    bool all = true;
    for (size_t i = 0; i < count; i++)
        if (!group[i].error && progress[i].temporary[0] && !progress[i].published)
            publish_member(&group[i], &progress[i]);
    sync_directories(group, progress, count);
    for (size_t i = 0; i < count; i++)
        all = all && !group[i].error;
    return all;
}
