/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The timer: runs each job of jobs.c when it is due, and writes down how it went (store/hosts/task_job.h). Of several
 * processes one takes a job. Of several hosts, one holds the claim to the jobs for all; each does those for its own
 * spool and files. An entry of the queue task has a job's name in its metadata (KEY_JOB): that
 * job runs at once.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/hosts/this_host.h"
#include "lists/keys.h"
#include "lists/people/own_address.h"
#include "runners/posts/list_runner.h"
#include "runners/task/jobs.h"
#include "store/hosts/task_job.h"

#define RETRY (60 * CLOCK_SECOND) /* after a fault, if that is sooner than the interval */
#define LOOK (60 * CLOCK_SECOND)  /* for jobs that another process has ended meanwhile */
#define REST CLOCK_SECOND         /* between two looks, however often this process is woken: they cost questions */
#define UNKNOWN (-1)
#define AHEAD (5 * CLOCK_SECOND)   /* by which the clocks of two processes may differ */
#define DAILY (25 * 60 * LOOK)     /* the longest day that a clock shows, when summer time ends */

#define CLAIM "task" /* to the jobs that one host does */

/* The name of a job in the record; g_free(). Of several hosts each has one of its own where each does the job. */
static char *record_name(Runner *runner, const TimerJob *job)
{
    const Config *config = runner_config(runner);
    return job->each_host && this_host_is_one_of_many(config)
               ? g_strdup_printf("%s@%s", job->name, config_string(config, "site", "hostname"))
               : g_strdup(job->name);
}

typedef struct Timer {
    int64_t look_at; /* monotonic: not before */
} Timer;

/* Until when this host does what one host does, by clock_boot(); 0: another host does it. */
static bool find_until(Runner *runner, int64_t *until, GError **error)
{
    Store *store = ((ListRunner *)runner_data(runner))->store;
    return this_host_claims(store, runner_spool(runner), runner_config(runner), CLAIM, until, error);
}

bool job_stops(const JobPlace *place)
{
    JobLease *lease = place->lease;
    g_autoptr(GError) unknown = NULL;
    if (!runner_stopping(place->runner) && clock_boot() >= lease->until &&
        !find_until(place->runner, &lease->until, &unknown)) {
        log_error("- queue=task: %s", unknown->message);
        lease->until = 0;
    }
    lease->cut = runner_stopping(place->runner) || clock_boot() >= lease->until;
    return lease->cut;
}

/* Runs the job that was taken. */
static void run_job(Runner *runner, const TimerJob *job, int64_t until)
{
    ListRunner *shared = runner_data(runner);
    g_autoptr(GError) fault = NULL, error = NULL;
    g_autofree char *name = record_name(runner, job);
    JobLease lease = {.until = until};
    JobPlace place = {runner, shared->store, &shared->site, runner_config(runner), clock_now(), &lease};
    TaskJob record = {.name = name};
    bool done = job->run(&place, &record.done, &fault);
    record.ended_at = clock_now();
    record.due_at = lease.cut ? record.ended_at : timer_job_next(job, place.config, record.ended_at);
    if (!done) {
        record.fault = fault ? fault->message : (char *)"failed without saying why";
        record.due_at = MIN(record.due_at, record.ended_at + RETRY);
        log_error("- queue=task job=%s result=later (%s)", job->name, record.fault);
    } else if (lease.cut) {
        log_info("- queue=task job=%s result=cut %s=%" G_GINT64_FORMAT, job->name, job->unit, record.done);
    } else if (record.done > 0) {
        log_info("- queue=task job=%s result=done %s=%" G_GINT64_FORMAT, job->name, job->unit, record.done);
    }
    if (!task_job_end(shared->store, &record, &error))
        log_error("- queue=task job=%s: %s", job->name, error->message);
    runner_progress(runner);
}

/* *due: when it is due next, as far as is known. */
static bool take_job(Runner *runner, const TimerJob *job, const GPtrArray *records, bool *taken, int64_t *due,
                     GError **error)
{
    ListRunner *shared = runner_data(runner);
    g_autofree char *name = record_name(runner, job);
    const TaskJob *record = NULL; /* it never ran */
    for (guint i = 0; !record && i < records->len; i++)
        if (strcmp(((const TaskJob *)records->pdata[i])->name, name) == 0)
            record = records->pdata[i];
    /* The next time can lie so far ahead. One that lies further was written while the clock was ahead. */
    int64_t now = clock_now(), longest_wait = job->interval > 0 ? job->interval + AHEAD : DAILY;
    bool waits = record && record->due_at > now;
    *taken = false;
    *due = timer_job_next(job, runner_config(runner), now);
    if (waits && (record->due_at <= now + longest_wait || record->due_at == *due)) {
        *due = MIN(record->due_at, *due);
        return true;
    }
    /* A daily job has its first turn at its time, and so has one whose time is not believed. */
    if (job->interval == 0 && (!record || waits)) {
        bool moved;
        return task_job_take(shared->store, name, now, *due, &moved, error);
    }
    return task_job_take(shared->store, name, now, *due, taken, error);
}

/* Do what is due, and return when to look again, by clock_now(). */
static int64_t look(Runner *runner)
{
    int64_t now = clock_now(), next = now + LOOK, ours = UNKNOWN; /* as find_until() says for all of them */
    g_autoptr(GError) unread = NULL;
    g_autoptr(GPtrArray) records = task_job_all(((ListRunner *)runner_data(runner))->store, &unread);
    if (!records) {
        log_error("- queue=task: %s", unread->message);
        return now;
    }
    for (const TimerJob *job = timer_jobs; job->name && !runner_stopping(runner); job++) {
        g_autoptr(GError) error = NULL;
        bool taken = false;
        int64_t due = next;
        bool asks = !job->each_host && ours == UNKNOWN;
        if (asks && !find_until(runner, &ours, &error))
            ours = UNKNOWN;
        int64_t until = job->each_host ? INT64_MAX : ours;
        if (error || (until > 0 && !take_job(runner, job, records, &taken, &due, &error))) {
            log_error("- queue=task job=%s: %s", job->name, error->message);
            continue;
        }
        if (taken) {
            run_job(runner, job, until);
            ours = UNKNOWN; /* that may have taken long */
        }
        next = MIN(next, due);
    }
    return next;
}

static int64_t idle(Runner *runner)
{
    Timer *timer = ((ListRunner *)runner_data(runner))->more;
    if (runner_slice(runner).index != 0)
        return -1;
    int64_t early = timer->look_at - clock_monotonic();
    if (early > 0)
        return early;
    int64_t next = look(runner);
    timer->look_at = clock_monotonic() + REST;
    return MAX(next - clock_now(), REST);
}

/* The job that an entry asks for, whether or not it is due, and whichever host does it else: two that do it at once do
 * no harm, since each step is one transaction. */
static bool handle(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    const char *name = meta_string(entry_meta(entry), KEY_JOB, "");
    ListRunner *shared = runner_data(runner);
    int64_t now = clock_now();
    bool taken;
    for (const TimerJob *job = timer_jobs; job->name; job++)
        if (strcmp(job->name, name) == 0) {
            int64_t next = timer_job_next(job, runner_config(runner), now);
            g_autofree char *record = record_name(runner, job);
            if (!task_job_take(shared->store, record, now, next, &taken, error))
                return false;
            run_job(runner, job, INT64_MAX);
            return true;
        }
    return fail(error, FAIL_NEVER, "there is no job \"%s\"", name);
}

static bool start(Runner *runner, GError **error)
{
    if (!list_runner_start(runner, error))
        return false;
    ListRunner *shared = runner_data(runner);
    /* Where there are hosts, nobody does the jobs that each has of its own under their bare names, which a database has
     * that was copied from a site of one host. */
    bool many = this_host_is_one_of_many(runner_config(runner));
    for (const TimerJob *job = timer_jobs; many && job->name; job++)
        if (job->each_host && !task_job_remove(shared->store, job->name, error))
            return false;
    shared->more = g_new0(Timer, 1);
    const Actor actor = {.role = ACTOR_OPERATOR, .door = DOOR_TIMER};
    g_autoptr(Work) work = work_new(shared->store, &shared->site, &actor);
    char *which;
    if (!own_address_site_owner(work, &which, error))
        return false;
    /* A list that gets the mail for the people who run the site gets letters about itself. */
    g_autofree char *list_id = which;
    if (list_id)
        log_warn("[site] site_owner is %s, an address of the list %s: letters about that list come back to it, and are "
                 "dropped there; give the site an owner elsewhere", shared->site.site_owner, list_id);
    return true;
}

static void stop(Runner *runner)
{
    ListRunner *shared = runner_data(runner);
    if (shared)
        g_free(shared->more);
    list_runner_stop(runner);
}

static const RunnerSpec spec = {
    .name = "task",
    .longest_wait = RUNNER_WAIT_MAX,
    .start = start,
    .handle = handle,
    .idle = idle,
    .stop = stop,
};

int main(int argc, char **argv)
{
    return runner_main(&spec, argc, argv);
}
