/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner task: what the timer does, and doing a job now. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/work_site.h"
#include "lists/timer.h"
#include "store/hosts/task_job.h"

static gboolean names;

static int run_ls(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {
        {"name", "JOB", COLUMN_TEXT},     {"ended_at", "LAST RUN", COLUMN_TEXT},   {"done", "DONE", COLUMN_NUMBER},
        {"due_in", "DUE IN", COLUMN_SPAN}, {"runs", "RUNS", COLUMN_NUMBER}, {"failures", "FAILED", COLUMN_NUMBER},
        {"fault", "FAULT", COLUMN_TEXT},  {NULL, NULL, COLUMN_TEXT}};
    Store *store = site_store(site, false, error);
    g_autoptr(GPtrArray) jobs = store ? task_job_all(store, error) : NULL;
    if (!jobs)
        return TOOL_LATER;
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    for (unsigned at = 0; at < jobs->len; at++) {
        const TaskJob *job = jobs->pdata[at];
        if (names) {
            puts(job->name);
            continue;
        }
        bool never = job->due_at == INT64_MAX; /* reminder_time = never */
        int64_t wait = MAX(job->due_at - clock_now(), 0) / CLOCK_SECOND;
        listing_row(listing,
                    json_pack("{ss so so so so sI sI sI so}", "name", job->name, "started_at",
                              listing_time(job->started_at), "ended_at", listing_time(job->ended_at), "due_at",
                              listing_time(never ? 0 : job->due_at), "due_in", never ? json_null() : json_integer(wait),
                              "done", (json_int_t)job->done, "runs", (json_int_t)job->runs, "failures",
                              (json_int_t)job->failures, "fault", listing_text(job->fault)));
    }
    return TOOL_OK;
}

static bool is_known(Store *store, const char *name, GError **error)
{
    g_autoptr(GPtrArray) jobs = task_job_all(store, error);
    g_autoptr(GString) known = g_string_new(NULL);
    const char *last = "";
    for (unsigned at = 0; jobs && at < jobs->len; at++) {
        const char *job = ((const TaskJob *)jobs->pdata[at])->name;
        size_t length = strcspn(job, "@");
        if (strlen(name) == length && memcmp(job, name, length) == 0)
            return true;
        if (strcspn(last, "@") != length || memcmp(job, last, length) != 0)
            g_string_append_printf(known, "%s%.*s", known->len ? ", " : "", (int)length, job);
        last = job;
    }
    if (jobs && jobs->len == 0)
        fail(error, FAIL_MISSING, "the runner task has not run yet, so no job is known");
    else if (jobs)
        fail(error, FAIL_MISSING, "there is no job \"%s\"; there are: %s", name, known->str);
    return false;
}

/* Some jobs are shown with the name of the host that does them behind an "@", and only its timer knows them. */
static int run_run(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace place;
    g_autoptr(Work) work = work_place_begin_people(&place, site, error);
    for (int at = 0; work && at < argc; at++) {
        const char *host = strchr(argv[at], '@');
        if (host && strcmp(host + 1, config_string(site_config(site, NULL), "site", "hostname")) != 0) {
            fail(error, FAIL_NEVER, "%s is done by the host %s: give the command there", argv[at], host + 1);
            return TOOL_LATER;
        }
        g_autofree char *name = g_strndup(argv[at], strcspn(argv[at], "@"));
        if (!is_known(place.store, name, error))
            return TOOL_LATER;
        timer_ask(work, name);
    }
    return work && work_commit(work, place.spool, error) ? TOOL_OK : TOOL_LATER;
}

static const GOptionEntry ls_options[] = {
    JSON_ROWS_OPTION,
    {"names", 0, 0, G_OPTION_ARG_NONE, &names, "only the names", NULL},
    G_OPTION_ENTRY_NULL,
};

static const Command ls = {
    .name = "ls", .arguments = "", .summary = "Show the jobs of the timer, when each ran and how it went",
    .options = ls_options, .run = run_ls,
};

static const Command run_verb = {
    .name = "run", .arguments = "JOB...", .summary = "Have the timer do jobs now", .least = 1, .most = -1,
    .run = run_run,
};

static const Command *const verbs[] = {&ls, &run_verb, NULL};

const Command cmd_task = {
    .name = "task", .arguments = "", .summary = "Show the jobs of the timer, or run one now", .verbs = verbs,
};
