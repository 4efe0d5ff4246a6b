/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Declare the jobs of the runner task, which are done at set times, in one table. Each job calls a use case of lists/,
 * or drops what the store need not keep. */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "runners/posts/list_runner.h"

/* The claim of this host on jobs that only one host of the site does at a time. It ends at a time, and job_stops() asks
 * for it anew then. */
typedef struct JobLease {
    int64_t until; /* clock_boot(); INT64_MAX: the job needs no claim */
    bool cut;      /* the job left work undone, because the claim was lost or the process stops */
} JobLease;

/* The place in which a job works; all borrowed. */
typedef struct JobPlace {
    Runner *runner;
    Store *store;
    const WorkSite *site;
    const Config *config;
    int64_t now;
    JobLease *lease;
} JobPlace;

typedef struct TimerJob {
    const char *name;
    int64_t interval; /* us; 0: once a day, at [task] reminder_time */
    const char *unit; /* what it counts, as the log calls it: "posts" */
    /* Do the job, and add to *done how many units were done. When it fails, the work done before stands. */
    bool (*run)(const JobPlace *place, int64_t *done, GError **error);
    bool each_host; /* the job is done on each host, for its own spool or files; else on one host of the site */
} TimerJob;

/* task.c: return true when a job that has more to do must leave it. Then the lease is marked as cut, and the job is due
 * again at once, on the host that holds the claim. Ask between two transactions. */
bool job_stops(const JobPlace *place);

/* All jobs; the table ends with one without name. */
extern const TimerJob timer_jobs[];

/* Return when the job is due again after now; INT64_MAX: never. */
int64_t timer_job_next(const TimerJob *job, const Config *config, int64_t now);
