/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Look up what each event does in each state of a child: the table of master/README.md. The functions only look into
 * the table; worker.c carries out the actions.
 */

typedef enum WorkerState {
    WORKER_WAITING,
    WORKER_ORPHAN,
    WORKER_FAILED,
    WORKER_STARTING,
    WORKER_READY,
    WORKER_KILLED,
    WORKER_STOPPING,
    WORKER_ENDING,
    WORKER_GONE,
    WORKER_STATES,
} WorkerState;

typedef enum WorkerEvent {
    EVENT_START,
    EVENT_SPAWNED,
    EVENT_BUSY,
    EVENT_NO_FORK,
    EVENT_READY,
    EVENT_DIED,
    EVENT_DIED_CONFIG,
    EVENT_STALLED,
    EVENT_STOP,
    EVENT_OVERDUE,
    WORKER_EVENTS,
} WorkerEvent;

typedef enum WorkerAction {
    ACTION_IMPOSSIBLE, /* an empty cell of the table */
    ACTION_NONE,
    ACTION_TRY,         /* take the slice and fork */
    ACTION_WATCH,       /* wait for the stall watch */
    ACTION_LOOK_AGAIN,  /* somebody else has the slice: try again soon */
    ACTION_DELAY,       /* start again after the throttle's delay */
    ACTION_DELAY_MOST,  /* start again after the longest delay */
    ACTION_WELCOME,     /* it is ready */
    ACTION_TERM,
    ACTION_KILL,
    ACTION_LEAVE,
} WorkerAction;

typedef struct StateStep {
    WorkerState next;
    WorkerAction action;
} StateStep;

/* Return the next state and the action for an event. An empty cell of the table gives {state, ACTION_IMPOSSIBLE}. */
StateStep states_step(WorkerState state, WorkerEvent event);

/* Return the name of a state, or of an event, for the log and for `status`; static. */
const char *states_name(WorkerState state);
const char *states_event_name(WorkerEvent event);
