/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Who is next. Jobs stand in a ring for each transport and are served in turn, a batch at a
 * time, so that an entry of a million recipients keeps nobody waiting; a
 * transport asks for work when it has a free session.
 *
 * This is the place of the full scheduler (destinations, windows, feedback,
 * preemption): it will answer the same questions.
 */
#include <glib.h>

#include "runners/out/job.h"

typedef struct Scheduler {
    GQueue ring;          /* of Job, those that have recipients to be cut */
    size_t in_flight;     /* recipients in batches that are out */
    size_t recipient_limit;
} Scheduler;

void scheduler_init(Scheduler *scheduler, size_t recipient_limit);

/* The job's recipients want to be sent. */
void scheduler_add(Scheduler *scheduler, Job *job);
void scheduler_remove(Scheduler *scheduler, Job *job);

/* The next batch for a session of transport, NULL when there is none or the limit is reached. */
Batch *scheduler_next(Scheduler *scheduler, const Transport *transport, size_t limit);

/* The batch is no longer out; its job may have more to send. */
void scheduler_returned(Scheduler *scheduler, const Batch *batch);

/* How many batches of limit recipients wait for transport, counted to enough at most. */
size_t scheduler_waiting(const Scheduler *scheduler, const Transport *transport, size_t limit, size_t enough);
