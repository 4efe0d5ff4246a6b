/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/task_job.h"

#include "store/store_internal.h"

#define COLUMNS "SELECT name, started_at, ended_at, due_at, done, runs, failures, fault FROM job "

void task_job_free(TaskJob *job)
{
    if (!job)
        return;
    g_free(job->name);
    g_free(job->fault);
    g_free(job);
}

static TaskJob *read_row(Query *query)
{
    TaskJob *job = g_new0(TaskJob, 1);
    job->name = g_strdup(query_text(query, 0));
    job->started_at = query_integer(query, 1);
    job->ended_at = query_integer(query, 2);
    job->due_at = query_integer(query, 3);
    job->done = query_integer(query, 4);
    job->runs = query_integer(query, 5);
    job->failures = query_integer(query, 6);
    job->fault = g_strdup(query_text(query, 7));
    return job;
}

bool task_job_find(Store *store, const char *name, TaskJob **job, GError **error)
{
    g_autoptr(Query) query = query_open(store, error, COLUMNS "WHERE name = $1", TEXT(name));
    Step step = query ? query_step(query, error) : STEP_FAILED;
    *job = step == STEP_ROW ? read_row(query) : NULL;
    return step != STEP_FAILED;
}

static bool take(Store *store, const char *name, int64_t now, int64_t due_at, bool *taken, GError **error)
{
    int64_t changed = 0;
    *taken = false;
    if (!query_run(store, error, &changed,
                   "INSERT INTO job (name, started_at, ended_at, due_at, done, runs, failures, fault) "
                   "VALUES ($1, $2, 0, $3, 0, 0, 0, '') ON CONFLICT (name) DO UPDATE SET started_at = $2, due_at = $3 "
                   "WHERE job.due_at <= $2",
                   TEXT(name), INTEGER(now), INTEGER(due_at)))
        return false;
    *taken = changed > 0;
    return true;
}

bool task_job_take(Store *store, const char *name, int64_t now, int64_t due_at, bool *taken, GError **error)
{
    Write write;
    return write_begin(store, &write, error) &&
           write_end(store, &write, take(store, name, now, due_at, taken, error), error);
}

bool task_job_end(Store *store, const TaskJob *job, GError **error)
{
    Write write;
    bool failed = job->fault && *job->fault;
    return write_begin(store, &write, error) &&
           write_end(store, &write,
                     query_run(store, error, NULL,
                               "UPDATE job SET ended_at = $2, due_at = $3, done = $4, runs = runs + 1, "
                               "failures = failures + $5, fault = $6 WHERE name = $1",
                               TEXT(job->name), INTEGER(job->ended_at), INTEGER(job->due_at), INTEGER(job->done),
                               INTEGER(failed), TEXT(failed ? job->fault : "")),
                     error);
}

GPtrArray *task_job_all(Store *store, GError **error)
{
    g_autoptr(GPtrArray) jobs = g_ptr_array_new_with_free_func((GDestroyNotify)task_job_free);
    g_autoptr(Query) query = query_start(store, error, COLUMNS "ORDER BY name", NULL, 0);
    Step step = STEP_FAILED;
    while (query && (step = query_step(query, error)) == STEP_ROW)
        g_ptr_array_add(jobs, read_row(query));
    return step == STEP_DONE ? g_steal_pointer(&jobs) : NULL;
}
