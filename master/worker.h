/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Start, watch and end the process of one instance of a runner, its worker: carry out the actions of states.h. The
 * process has exactly the descriptors, environment and signal state of base/contract.h.
 */
#include <event2/event.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "master/states.h"
#include "master/watch.h"

struct Group;

typedef struct Worker {
    struct Group *group;
    unsigned instance;
    WorkerState state;
    pid_t pid;        /* 0: no process */
    int status_fd;    /* -1: none */
    struct event *status_event;
    struct event *timer; /* stall, stop or restart, by state */
    Watch watch;
    Throttle throttle;
    int64_t started;  /* monotonic, of the process */
    int64_t retry_at; /* monotonic, in a state without process */
    int64_t down;     /* monotonic: not ready since then; 0: ready */
    unsigned starts;
    unsigned renewals; /* ends of processes that wanted a new one in their place: no deaths */
    char *last_exit;  /* NULL: never ended */
    ThrottleDeath death; /* of the last process */
    bool outside;      /* the last process was ended from outside, or nobody saw its end: no entry is to blame */
    unsigned relapses; /* deaths in a row of processes that were ready */
    unsigned kills;    /* in a row, from outside, while this entry was held: */
    char *killed_with; /* NULL: none */
    bool settled;     /* has become ready, or failed, once */
    bool complained;  /* about garbage, an orphan, or standing still: once in each */
} Worker;

/* Make a worker without a process. */
Worker *worker_new(struct Group *group, unsigned instance);
void worker_free(Worker *worker); /* its process must be gone */

/* Tell the worker of an event: carry out the action that states_step() gives for it, and change the state. */
void worker_step(Worker *worker, WorkerEvent event);

/* Note that the worker's process ended, with the status of waitpid(). */
void worker_died(Worker *worker, int status);

/* Return whether nothing is wrong with the worker now. */
bool worker_healthy(const Worker *worker);

/* Return how many processes in a row died after they had been ready, if they are many and the present one is young;
 * else 0. */
unsigned worker_loops(const Worker *worker);

/* Return the name of the state, or "throttled" when repeated deaths delay the next start. */
const char *worker_state_text(const Worker *worker);

/* The child to be started. All is borrowed; the descriptors stay open here. */
typedef struct SpawnOrder {
    const char *command; /* absolute path */
    const char *runner;  /* NAME of [runner.NAME] */
    const char *config;  /* path of the configuration */
    unsigned instance, instances;
    const int *listen; /* descriptors of listening sockets, in the order of the setting */
    unsigned listens;
    int lock;     /* descriptor of slices_take() (master/slices.h) */
    bool outside; /* its predecessor was ended from outside (base/contract.h) */
} SpawnOrder;

/* Start the child, and set *pid, which the caller waits for, and *status, the reading end of its status pipe
 * (non-blocking), which the caller closes. FAIL_LATER: there is no child. A command that cannot be run shows as a child
 * that says "fault ..." and leaves with CHILD_EXIT_CONFIG or CHILD_EXIT_LATER. */
bool worker_spawn(const SpawnOrder *order, pid_t *pid, int *status, GError **error);
