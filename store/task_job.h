/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Record what the timer did (runners/task). There is one row a job, so that status and metrics can tell when it last
 * ran and how it went, and so that of several hosts one does it. What each of several hosts does for itself has a row a
 * host, JOB@HOST.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

typedef struct TaskJob {
    char *name;
    int64_t started_at, ended_at; /* of the last run */
    int64_t due_at;               /* of the next */
    int64_t done;                 /* what the last run did, in the job's own unit (posts, requests, letters) */
    int64_t runs, failures;       /* in all */
    char *fault;                  /* of the last run; "": it went well */
    bool nobodys; /* nobody has to do it now: its host does not live, or the hosts that live have rows of their own */
} TaskJob;

void task_job_free(TaskJob *job);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TaskJob, task_job_free)

/* Take the job for a run now, unless it is not due yet or another process took it less than a lease ago: *taken. Its
 * next run is then due at due_at, should this one never end. */
bool task_job_take(Store *store, const char *name, int64_t now, int64_t due_at, bool *taken, GError **error);

/* Write how the run ended: ended_at, due_at, done and fault of job; the counts grow by one. */
bool task_job_end(Store *store, const TaskJob *job, GError **error);

/* Forget a job; there need not be one of that name. */
bool task_job_remove(Store *store, const char *name, GError **error);

/* All of them by name, of TaskJob, freed with the array. */
GPtrArray *task_job_all(Store *store, GError **error);
