/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Record what the timer did (runners/task). There is one row a job, so that status and metrics can tell when it last
 * ran and how it went, and so that of several hosts one does it.
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
} TaskJob;

void task_job_free(TaskJob *job);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TaskJob, task_job_free)

/* *job is NULL when it never ran. */
bool task_job_find(Store *store, const char *name, TaskJob **job, GError **error);

/* Take the job for a run now, unless it is not due yet or another process took it less than a lease ago: *taken. Its
 * next run is then due at due_at, should this one never end. */
bool task_job_take(Store *store, const char *name, int64_t now, int64_t due_at, bool *taken, GError **error);

/* Write how the run ended: ended_at, due_at, done and fault of job; the counts grow by one. */
bool task_job_end(Store *store, const TaskJob *job, GError **error);

/* All of them by name, of TaskJob, freed with the array. */
GPtrArray *task_job_all(Store *store, GError **error);
