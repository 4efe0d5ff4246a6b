/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/states.h"

/* Three states without a process differ in their timer and their name only. */
#define WITHOUT_PROCESS(state)                                \
    [EVENT_START] = {state, ACTION_TRY},                      \
    [EVENT_SPAWNED] = {WORKER_STARTING, ACTION_WATCH},        \
    [EVENT_BUSY] = {WORKER_ORPHAN, ACTION_LOOK_AGAIN},        \
    [EVENT_NO_FORK] = {WORKER_WAITING, ACTION_DELAY},         \
    [EVENT_STOP] = {WORKER_GONE, ACTION_LEAVE}

#define AT_WORK                                               \
    [EVENT_READY] = {WORKER_READY, ACTION_WELCOME},           \
    [EVENT_DIED] = {WORKER_WAITING, ACTION_DELAY},            \
    [EVENT_DIED_CONFIG] = {WORKER_FAILED, ACTION_DELAY_MOST}, \
    [EVENT_STALLED] = {WORKER_KILLED, ACTION_KILL},           \
    [EVENT_STOP] = {WORKER_STOPPING, ACTION_TERM}

/* On its way out: only death, and for the polite way a time-out, change anything. */
#define LEAVING(state)                                        \
    [EVENT_READY] = {state, ACTION_NONE},                     \
    [EVENT_DIED] = {WORKER_GONE, ACTION_LEAVE},               \
    [EVENT_DIED_CONFIG] = {WORKER_GONE, ACTION_LEAVE},        \
    [EVENT_STALLED] = {state, ACTION_NONE},                   \
    [EVENT_STOP] = {state, ACTION_NONE}

static const StateStep steps[WORKER_STATES][WORKER_EVENTS] = {
    [WORKER_WAITING] = {WITHOUT_PROCESS(WORKER_WAITING)},
    [WORKER_ORPHAN] = {WITHOUT_PROCESS(WORKER_ORPHAN)},
    [WORKER_FAILED] = {WITHOUT_PROCESS(WORKER_FAILED)},
    [WORKER_STARTING] = {AT_WORK},
    [WORKER_READY] = {AT_WORK},
    [WORKER_KILLED] = {[EVENT_READY] = {WORKER_KILLED, ACTION_NONE},
                       [EVENT_DIED] = {WORKER_WAITING, ACTION_DELAY},
                       [EVENT_DIED_CONFIG] = {WORKER_WAITING, ACTION_DELAY},
                       [EVENT_STALLED] = {WORKER_KILLED, ACTION_NONE},
                       [EVENT_STOP] = {WORKER_ENDING, ACTION_NONE}},
    [WORKER_STOPPING] = {LEAVING(WORKER_STOPPING), [EVENT_OVERDUE] = {WORKER_ENDING, ACTION_KILL}},
    [WORKER_ENDING] = {LEAVING(WORKER_ENDING), [EVENT_OVERDUE] = {WORKER_ENDING, ACTION_NONE}},
    [WORKER_GONE] = {[EVENT_STOP] = {WORKER_GONE, ACTION_NONE}},
};

StateStep states_step(WorkerState state, WorkerEvent event)
{
    StateStep step = steps[state][event];
    if (step.action == ACTION_IMPOSSIBLE)
        step.next = state;
    return step;
}

const char *states_name(WorkerState state)
{
    static const char *const names[WORKER_STATES] = {
        [WORKER_WAITING] = "waiting to restart", [WORKER_ORPHAN] = "waiting for orphan",
        [WORKER_FAILED] = "failed config",       [WORKER_STARTING] = "starting",
        [WORKER_READY] = "ready",                [WORKER_KILLED] = "killed",
        [WORKER_STOPPING] = "stopping",          [WORKER_ENDING] = "killed",
        [WORKER_GONE] = "gone",
    };
    return names[state];
}

const char *states_event_name(WorkerEvent event)
{
    static const char *const names[WORKER_EVENTS] = {
        [EVENT_START] = "start",     [EVENT_SPAWNED] = "spawned", [EVENT_BUSY] = "busy",
        [EVENT_NO_FORK] = "no fork", [EVENT_READY] = "ready",     [EVENT_DIED] = "died",
        [EVENT_DIED_CONFIG] = "died: config", [EVENT_STALLED] = "stalled", [EVENT_STOP] = "stop",
        [EVENT_OVERDUE] = "overdue",
    };
    return names[event];
}
