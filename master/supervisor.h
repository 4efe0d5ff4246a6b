/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The master's objects: one Master owns Groups (a runner each), a Group owns
 * Workers (an instance each). One thread, one libevent loop; each may be
 * freed only from the sweep (supervisor_sweep_soon), never from its own callback.
 */
#include <event2/event.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "master/clock_back.h"
#include "master/listen.h"
#include "master/plan.h"

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

/* config_path is absolute. The plan is consumed. */
Master *supervisor_new(struct event_base *base, const char *config_path, Plan **plan, int state_dir);
void supervisor_free(Master *master);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Master, supervisor_free)

/* Start every group of the plan. */
void supervisor_start(Master *master);

/* End every child; the loop is left when the last one is gone. */
void supervisor_stop(Master *master);

/* Something ended or became ready: look at the whole when this callback has returned. */
void supervisor_sweep_soon(Master *master);

/* A child of ours ended. */
void supervisor_died(Master *master, pid_t pid, int status);

/* Close the sockets that no group has or will have. */
void supervisor_close_unwanted(Master *master);

struct Group *supervisor_find(const Master *master, const char *runner);
