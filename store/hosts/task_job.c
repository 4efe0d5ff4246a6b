/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/hosts/task_job.h"

#include <string.h>

#include "store/hosts/host.h"
#include "store/row.h"
#include "store/store_internal.h"

static const RowField job_row[] = {ROW(TaskJob, name),     ROW(TaskJob, started_at), ROW(TaskJob, ended_at),
                                   ROW(TaskJob, due_at),   ROW(TaskJob, done),       ROW(TaskJob, runs),
                                   ROW(TaskJob, failures), ROW(TaskJob, fault)};

static void job_free(TaskJob *job)
{
    row_free(job_row, job);
}

bool task_job_take(Store *store, const char *name, int64_t now, int64_t due_at, bool *taken, GError **error)
{
    int64_t changed = 0;
    g_auto(Write) write = write_begin(store, WRITE_PEOPLE, error);
    if (!write.begun)
        return false;
    *taken = false;
    if (!query_run(store, error, &changed,
                   "INSERT INTO job (name, started_at, ended_at, due_at, done, runs, failures, fault) "
                   "VALUES ($1, $2, 0, $3, 0, 0, 0, '') ON CONFLICT (name) DO UPDATE SET started_at = $2, due_at = $3 "
                   "WHERE job.due_at <= $2 OR job.due_at - 5000000 > $3",
                   TEXT(name), INTEGER(now), INTEGER(due_at)))
        return false;
    *taken = changed > 0;
    return write_end(&write, error);
}

bool task_job_end(Store *store, const TaskJob *job, GError **error)
{
    bool failed = job->fault && *job->fault;
    return STORE_WRITE_PEOPLE(store, error,
                              query_run(store, error, NULL,
                                        "UPDATE job SET ended_at = $2, due_at = $3, done = $4, runs = runs + 1, "
                                        "failures = failures + $5, fault = $6 WHERE name = $1",
                                        TEXT(job->name), INTEGER(job->ended_at), INTEGER(job->due_at),
                                        INTEGER(job->done), INTEGER(failed), TEXT(failed ? job->fault : "")));
}

bool task_job_remove(Store *store, const char *name, GError **error)
{
    return STORE_WRITE_PEOPLE(store, error,
                              query_run(store, error, NULL, "DELETE FROM job WHERE name = $1", TEXT(name)));
}

static bool is_living(const GPtrArray *hosts, const char *name)
{
    for (guint at = 0; at < hosts->len; at++) {
        const Host *host = hosts->pdata[at];
        if (host->living && strcmp(host->name, name) == 0)
            return true;
    }
    return false;
}

/* A row without a host's name is left over from when the site had one host, if one that lives has its own. */
static bool is_nobodys(const TaskJob *job, const GPtrArray *jobs, const GPtrArray *hosts)
{
    const char *own = strchr(job->name, '@');
    size_t length = strlen(job->name);
    if (own)
        return !is_living(hosts, own + 1);
    for (guint at = 0; at < jobs->len; at++) {
        const char *name = ((const TaskJob *)jobs->pdata[at])->name;
        if (strncmp(name, job->name, length) == 0 && name[length] == '@' && is_living(hosts, name + length + 1))
            return true;
    }
    return false;
}

GPtrArray *task_job_all(Store *store, GError **error)
{
    g_autoptr(Query) query = query_start(store, error,
                                         "SELECT name, started_at, ended_at, due_at, done, runs, failures, fault "
                                         "FROM job ORDER BY name", NULL, 0);
    g_autoptr(GPtrArray) jobs = row_all(query, TaskJob, job_row, job_free, error);
    g_autoptr(GPtrArray) hosts = jobs ? host_all(store, error) : NULL;
    for (guint at = 0; hosts && at < jobs->len; at++) {
        TaskJob *job = jobs->pdata[at];
        job->nobodys = is_nobodys(job, jobs, hosts);
    }
    return hosts ? g_steal_pointer(&jobs) : NULL;
}
