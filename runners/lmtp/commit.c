/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/lmtp/commit.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"

/* While some groups are on their way to the disk, the next is made ready; the
 * journal takes them into one commit where it can (doc/performance.md). */
#define COMMITTERS 4

typedef struct Committer {
    Commit *commit;
    Spool *spool; /* the thread's alone */
    GThread *thread;
} Committer;

struct Commit {
    Committer committers[COMMITTERS];
    size_t limit;
    size_t pending;   /* the loop's alone, as this: */
    GQueue submitted; /* not yet given to the threads */
    int fd;
    GMutex lock; /* of what follows */
    GCond more;
    GQueue ready, done; /* of CommitJob */
    bool ending;
};

/* A thread takes what is ready, up to the limit, and stores it as one intake, until the end. */
static gpointer run(gpointer data)
{
    Committer *committer = data;
    Commit *commit = committer->commit;
    GQueue group = G_QUEUE_INIT;
    for (;;) {
        size_t count = 0, at = 0;
        CommitJob *job;
        g_mutex_lock(&commit->lock);
        while (g_queue_is_empty(&commit->ready) && !commit->ending)
            g_cond_wait(&commit->more, &commit->lock);
        while ((job = g_queue_peek_head(&commit->ready)) && (count == 0 || count + job->count <= commit->limit)) {
            count += job->count;
            g_queue_push_tail_link(&group, g_queue_pop_head_link(&commit->ready));
        }
        if (job)
            g_cond_signal(&commit->more); /* another may take the rest */
        g_mutex_unlock(&commit->lock);
        if (count == 0)
            return NULL;

        g_autofree Intake *entries = g_new(Intake, count);
        for (GList *link = group.head; link; link = link->next) {
            job = link->data;
            memcpy(entries + at, job->entries, job->count * sizeof *entries);
            at += job->count;
        }
        intake_store(committer->spool, entries, count, false);
        at = 0;
        for (GList *link = group.head; link; link = link->next) {
            job = link->data;
            memcpy(job->entries, entries + at, job->count * sizeof *entries);
            at += job->count;
        }

        g_mutex_lock(&commit->lock);
        for (GList *link; (link = g_queue_pop_head_link(&group)) != NULL;)
            g_queue_push_tail_link(&commit->done, link);
        g_mutex_unlock(&commit->lock);
        if (write(commit->fd, &(uint64_t){1}, sizeof(uint64_t)) < 0)
            log_panic("eventfd: %s", g_strerror(errno));
    }
}

Commit *commit_new(const char *directory, size_t limit, GError **error)
{
    g_autoptr(Commit) commit = g_new0(Commit, 1);
    commit->limit = limit;
    commit->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (commit->fd < 0)
        log_panic("eventfd: %s", g_strerror(errno));
    g_mutex_init(&commit->lock);
    g_cond_init(&commit->more);
    g_queue_init(&commit->submitted);
    g_queue_init(&commit->ready);
    g_queue_init(&commit->done);
    for (int i = 0; i < COMMITTERS; i++) {
        Committer *committer = &commit->committers[i];
        committer->commit = commit;
        committer->spool = spool_open(directory, error);
        if (!committer->spool)
            return NULL;
        committer->thread = g_thread_new("commit", run, committer);
    }
    return g_steal_pointer(&commit);
}

void commit_free(Commit *commit)
{
    if (!commit)
        return;
    g_assert(commit->pending == 0);
    g_mutex_lock(&commit->lock);
    commit->ending = true;
    g_cond_broadcast(&commit->more);
    g_mutex_unlock(&commit->lock);
    for (int i = 0; i < COMMITTERS; i++) {
        if (commit->committers[i].thread)
            g_thread_join(commit->committers[i].thread);
        spool_free(commit->committers[i].spool);
    }
    close(commit->fd);
    g_mutex_clear(&commit->lock);
    g_cond_clear(&commit->more);
    g_free(commit);
}

void commit_submit(Commit *commit, CommitJob *job)
{
    commit->pending++;
    g_queue_push_tail(&commit->submitted, job);
}

void commit_start(Commit *commit)
{
    GList *link;
    g_mutex_lock(&commit->lock);
    while ((link = g_queue_pop_head_link(&commit->submitted)))
        g_queue_push_tail_link(&commit->ready, link);
    g_cond_signal(&commit->more);
    g_mutex_unlock(&commit->lock);
}

int commit_fd(const Commit *commit)
{
    return commit->fd;
}

CommitJob *commit_take(Commit *commit)
{
    g_mutex_lock(&commit->lock);
    CommitJob *job = g_queue_pop_head(&commit->done);
    uint64_t drained;
    if (!job && read(commit->fd, &drained, sizeof drained) < 0 && errno != EAGAIN)
        log_panic("eventfd: %s", g_strerror(errno));
    g_mutex_unlock(&commit->lock);
    if (job)
        commit->pending--;
    return job;
}

size_t commit_pending(const Commit *commit)
{
    return commit->pending;
}
