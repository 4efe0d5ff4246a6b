/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/out/scheduler.h"

void scheduler_init(Scheduler *scheduler, size_t recipient_limit)
{
    g_queue_init(&scheduler->ring);
    scheduler->in_flight = 0;
    scheduler->recipient_limit = recipient_limit;
}

void scheduler_add(Scheduler *scheduler, Job *job)
{
    if (job->scheduled)
        return;
    job->scheduled = true;
    g_queue_push_tail_link(&scheduler->ring, &job->link);
}

void scheduler_remove(Scheduler *scheduler, Job *job)
{
    if (!job->scheduled)
        return;
    job->scheduled = false;
    g_queue_unlink(&scheduler->ring, &job->link);
}

/* The first job of the ring for this transport goes to the end of it, or
 * leaves when its last batch is cut. */
Batch *scheduler_next(Scheduler *scheduler, const Transport *transport, size_t limit)
{
    for (GList *link = scheduler->ring.head, *next; link; link = next) {
        next = link->next;
        Job *job = link->data;
        if (job->transport != transport)
            continue;
        if (scheduler->in_flight > 0 && scheduler->in_flight + limit > scheduler->recipient_limit)
            return NULL;
        Batch *batch = job_cut(job, limit);
        scheduler_remove(scheduler, job);
        if (!job_drained(job))
            scheduler_add(scheduler, job);
        if (!batch)
            continue;
        scheduler->in_flight += batch->count;
        return batch;
    }
    return NULL;
}

void scheduler_returned(Scheduler *scheduler, const Batch *batch)
{
    scheduler->in_flight -= batch->count;
    if (!job_drained(batch->job))
        scheduler_add(scheduler, batch->job);
}

size_t scheduler_waiting(const Scheduler *scheduler, const Transport *transport, size_t limit, size_t enough)
{
    size_t batches = 0;
    for (const GList *link = scheduler->ring.head; link && batches < enough; link = link->next) {
        const Job *job = link->data;
        if (job->transport == transport)
            batches += (job_unread(job) + limit - 1) / limit;
    }
    return MIN(batches, enough);
}
