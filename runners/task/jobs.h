/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* The jobs of the timer: one table. Each job calls a use case of lists/, or drops what the store need not keep. */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "runners/list_runner.h"

/* The right of this host to do what one host does at a time. It is asked for anew whenever it ends, for the lease of
 * the host goes on. */
typedef struct JobLease {
    int64_t until; /* clock_boot(); INT64_MAX: the job needs no claim */
    bool cut;      /* the job left work undone, since the claim was lost or the process stops */
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
    /* Adds to *done. What it did before it failed stands. */
    bool (*run)(const JobPlace *place, int64_t *done, GError **error);
    bool each_host; /* is done on each host, for its own spool or files; others on one of them */
} TimerJob;

/* task.c: Whether a job that has more to do must leave it: then the lease is marked as cut, and the job is due again at
 * once, on whichever host holds the claim. To be asked between two transactions. */
bool job_stops(const JobPlace *place);

/* fetch.c: texts of letters that come from a URI. */
bool fetch_templates(const JobPlace *place, int64_t *done, GError **error);

/* sources.c: members that come from outside. */
bool refresh_sources(const JobPlace *place, int64_t *done, GError **error);

/* Ended by one without name. */
extern const TimerJob timer_jobs[];

/* When the job is due again after now. */
int64_t timer_job_next(const TimerJob *job, const Config *config, int64_t now);
