/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The timer: runs each job of jobs.c when it is due, and writes down how it went (store/task_job.h). Of several
 * processes and hosts, one takes a job. An entry of the queue task has a job's name in its metadata (KEY_JOB): that
 * job runs at once.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/own_address.h"
#include "runners/keys.h"
#include "runners/list_runner.h"
#include "runners/task/jobs.h"

#define RETRY (60 * CLOCK_SECOND) /* after a fault, if that is sooner than the interval */
#define LOOK (60 * CLOCK_SECOND)  /* for jobs that another process has ended meanwhile */

/* Runs the job that was taken. */
static void run_job(Runner *runner, const TimerJob *job)
{
    ListRunner *shared = runner_data(runner);
    g_autoptr(GError) fault = NULL, error = NULL;
    JobPlace place = {runner, shared->store, &shared->site, runner_config(runner), clock_now()};
    TaskJob record = {.name = (char *)job->name};
    bool done = job->run(&place, &record.done, &fault);
    record.ended_at = clock_now();
    record.due_at = timer_job_next(job, place.config, record.ended_at);
    if (!done) {
        record.fault = fault ? fault->message : (char *)"failed without saying why";
        record.due_at = MIN(record.due_at, record.ended_at + RETRY);
        log_error("- queue=task job=%s result=later (%s)", job->name, record.fault);
    } else if (record.done > 0) {
        log_info("- queue=task job=%s result=done %s=%" G_GINT64_FORMAT, job->name, job->unit, record.done);
    }
    if (!task_job_end(shared->store, &record, &error))
        log_error("- queue=task job=%s: %s", job->name, error->message);
    runner_progress(runner);
}

/* *due: when it is due next, as far as is known. */
static bool take_job(Runner *runner, const TimerJob *job, int64_t now, bool *taken, int64_t *due, GError **error)
{
    ListRunner *shared = runner_data(runner);
    TaskJob *found;
    *taken = false;
    *due = timer_job_next(job, runner_config(runner), now);
    if (!task_job_find(shared->store, job->name, &found, error))
        return false;
    g_autoptr(TaskJob) record = found;
    /* A daily job of a new site has its first turn at its time. */
    if (!record && job->interval == 0) {
        bool first;
        return task_job_take(shared->store, job->name, now, *due, &first, error);
    }
    if (record && record->due_at > now) {
        *due = MIN(record->due_at, *due);
        return true;
    }
    return task_job_take(shared->store, job->name, now, *due, taken, error);
}

static int64_t idle(Runner *runner)
{
    int64_t now = clock_now(), next = now + LOOK;
    if (runner_slice(runner).index != 0)
        return -1;
    for (const TimerJob *job = timer_jobs; job->name && !runner_stopping(runner); job++) {
        g_autoptr(GError) error = NULL;
        bool taken;
        int64_t due;
        if (!take_job(runner, job, now, &taken, &due, &error)) {
            log_error("- queue=task job=%s: %s", job->name, error->message);
            continue;
        }
        if (taken)
            run_job(runner, job);
        next = MIN(next, due);
    }
    return MAX(next - clock_now(), CLOCK_SECOND / 10);
}

/* The job that an entry asks for, whether or not it is due. */
static bool handle(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    const char *name = meta_string(entry_meta(entry), KEY_JOB, "");
    ListRunner *shared = runner_data(runner);
    int64_t now = clock_now();
    bool taken;
    for (const TimerJob *job = timer_jobs; job->name; job++)
        if (strcmp(job->name, name) == 0) {
            int64_t next = timer_job_next(job, runner_config(runner), now);
            if (!task_job_take(shared->store, name, now, next, &taken, error))
                return false;
            run_job(runner, job);
            return true;
        }
    return fail(error, FAIL_NEVER, "there is no job \"%s\"", name);
}

/* A list that gets the mail for the people who run the site gets letters about itself. */
static bool start(Runner *runner, GError **error)
{
    if (!list_runner_start(runner, error))
        return false;
    ListRunner *shared = runner_data(runner);
    const Actor actor = {.role = ACTOR_OPERATOR, .door = DOOR_TIMER};
    g_autoptr(Work) work = work_new(shared->store, &shared->site, &actor);
    char *which;
    if (!own_address_site_owner(work, &which, error))
        return false;
    g_autofree char *list_id = which;
    if (list_id)
        log_warn("[site] site_owner is %s, an address of the list %s: letters about that list come back to it, and are "
                 "dropped there; give the site an owner elsewhere", shared->site.site_owner, list_id);
    return true;
}

static const RunnerSpec spec = {
    .name = "task",
    .start = start,
    .handle = handle,
    .idle = idle,
    .stop = list_runner_stop,
};

int main(int argc, char **argv)
{
    return runner_main(&spec, argc, argv);
}
