/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read from the configuration which runners the master is to run: one PlanRunner for each [runner.NAME] with start =
 * yes, and the master's own settings. A plan copies all values, so the Config may be freed.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "master/watch.h"

typedef struct PlanRunner {
    char *name;
    char *command;  /* absolute path */
    char *queue;    /* names its slices */
    unsigned instances;
    unsigned least, most; /* of instances; the same number: it stays */
    char **listen;  /* as configured, in order; never NULL */
    unsigned socket_mode; /* of UNIX sockets among them */
    char *depends;  /* the text of every setting it reads; equal: nothing changed for it */
    char *unconfined; /* the setting for which it is not kept to its files (config_unconfined()); NULL: it is */
} PlanRunner;

typedef struct PlanLimits {
    ThrottleLimits throttle;
    int64_t stall_timeout, stop_timeout, scale_interval; /* us */
} PlanLimits;

typedef struct Plan {
    GPtrArray *runners; /* PlanRunner * */
    GPtrArray *certificates; /* CertificateFile * */
    PlanLimits limits;
    char *spool, *runtime, *user;
    unsigned monitor_mode; /* of the socket that only tells */
} Plan;

/* Read, check and plan the file at path, and apply [site] log and verbose. *text (g_free) is exactly what was checked.
 * FAIL_CONFIG, one fault a line. */
Plan *plan_read(const char *path, char **text, GError **error);

/* Read who is to run from a configuration, whose checks have passed (master/settings.c). */
Plan *plan_new(const Config *config);
void plan_free(Plan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Plan, plan_free)

/* Return the runner of this name, borrowed; NULL: the plan has none. */
PlanRunner *plan_find(const Plan *plan, const char *name);

/* Return whether a runner can have so many instances: a power of two from 1 to 256. */
bool plan_instances_valid(int64_t instances);

PlanRunner *plan_runner_copy(const PlanRunner *runner);
void plan_runner_free(PlanRunner *runner);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PlanRunner, plan_runner_free)

/* Return whether children of `a` can go on under `b`: command, queue, number, sockets and settings are the same. */
bool plan_runner_equal(const PlanRunner *a, const PlanRunner *b);

/* Refuse changes that only a new master can make; FAIL_CONFIG, one line a setting. */
bool plan_can_follow(const Plan *old, const Plan *next, GError **error);
