/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Start, watch and stop the runners with these objects of the master. A Master owns Groups, one for each runner; a
 * Group owns Workers, one for each instance (child process) of the runner. There is one thread and one libevent loop.
 * Groups and Workers are freed only in the sweep (supervisor_sweep_soon()), never in their own callbacks.
 */
#include <event2/event.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "master/listen.h"
#include "master/plan.h"
#include "master/watch.h"

typedef struct Master {
    struct event_base *base;
    char *config_path;  /* the site's file */
    char *config_copy;  /* the configuration in force, what children read */
    char *config_text;  /* the same, for when that file is gone */
    Plan *plan;         /* the runners' part may be outdated by rescale */
    GPtrArray *groups;  /* Group * */
    Listen *listen;
    int state_dir;      /* SPOOL/.master */
    int64_t since;      /* wall clock */
    ClockBack clock;    /* has it been set back? */
    bool stopping;
    bool announced;     /* READY=1 was said */
    char *reload_fault; /* why the last reload was refused */
    struct event *sweep;
    struct Sampler *sampler; /* NULL: not started yet */
    struct Scaler *scaler;   /* the same */
    struct Pause *pause;     /* NULL: children may run */
} Master;

/* Make the master; nothing is started. config_path is absolute and copied. *plan is taken and set to NULL. base and
 * state_dir stay the caller's. */
Master *supervisor_new(struct event_base *base, const char *config_path, Plan **plan, int state_dir);
void supervisor_free(Master *master);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Master, supervisor_free)

/* Start every group of the plan. */
void supervisor_start(Master *master);

/* Ask every child to end. The event loop is left when the last one is gone. */
void supervisor_stop(Master *master);

/* Schedule the sweep for after the callback that runs now. Call it when a child ended or became ready. The sweep goes
 * on with the changes of groups, frees the groups that have ended, and tells systemd when all children have been ready
 * or have failed. */
void supervisor_sweep_soon(Master *master);

/* Tell the worker of this process that the child ended, with the status of waitpid(). Other processes are ignored. */
void supervisor_died(Master *master, pid_t pid, int status);

/* Close the listening sockets that no group's plan, present or next, names. */
void supervisor_close_unwanted(Master *master);

struct Group *supervisor_find(const Master *master, const char *runner); /* NULL: no group runs it */
