/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Record the runs of the timer's jobs (runners/task). Each job has one row, so that of several hosts one runs it. From
 * the row, status and metrics can tell when it last ran and how it went. A job that each host runs for itself has a row
 * for each host, named JOB@HOST. Times are microseconds since 1970; errors are those of the store.
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
    bool nobodys; /* no host runs it now: the row's host does not live, or living hosts have rows JOB@HOST of it */
} TaskJob;

/* Take the job for a run if it is due at now, or has no row yet; *taken is false where it is not due. A time that
 * lies more than some seconds, by which clocks differ, behind due_at was set while the clock was ahead: the job is
 * due. Taking sets its time to due_at, so no other process takes it before then, and one may if this run never ends.
 * After the run call task_job_end(). */
bool task_job_take(Store *store, const char *name, int64_t now, int64_t due_at, bool *taken, GError **error);

/* Write how the run ended: ended_at, due_at, done and fault of job; the counts grow by one. */
bool task_job_end(Store *store, const TaskJob *job, GError **error);

/* Forget a job; there need not be one of that name. */
bool task_job_remove(Store *store, const char *name, GError **error);

/* Return all jobs by name, of TaskJob, freed with the array. */
GPtrArray *task_job_all(Store *store, GError **error);
