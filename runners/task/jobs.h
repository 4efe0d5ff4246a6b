/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* What the timer does: one table. Each job calls a use case of lists/, or drops what the store need not keep. */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "runners/list_runner.h"

/* What a job works with; all borrowed. */
typedef struct JobPlace {
    Runner *runner;
    Store *store;
    const WorkSite *site;
    const Config *config;
    int64_t now;
} JobPlace;

typedef struct TimerJob {
    const char *name;
    int64_t interval; /* us; 0: once a day, at [task] reminder_time */
    const char *unit; /* what it counts, as the log calls it: "posts" */
    /* Adds to *done. What it did before it failed stands. */
    bool (*run)(const JobPlace *place, int64_t *done, GError **error);
} TimerJob;

/* fetch.c: texts of letters that come from a URI. */
bool fetch_templates(const JobPlace *place, int64_t *done, GError **error);

/* Ended by one without name. */
extern const TimerJob timer_jobs[];

/* When the job is due again after now. */
int64_t timer_job_next(const TimerJob *job, const Config *config, int64_t now);
