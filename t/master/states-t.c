/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/states.h"
#include "t/suite.h"

#include <glib.h>
#include <stdbool.h>

static void expect(WorkerState state, WorkerEvent event, WorkerState next, WorkerAction action)
{
    StateStep step = states_step(state, event);
    g_assert_cmpint(step.next, ==, next);
    g_assert_cmpint(step.action, ==, action);
}

static void test_life(void)
{
    expect(WORKER_WAITING, EVENT_START, WORKER_WAITING, ACTION_TRY);
    expect(WORKER_WAITING, EVENT_SPAWNED, WORKER_STARTING, ACTION_WATCH);
    expect(WORKER_STARTING, EVENT_READY, WORKER_READY, ACTION_WELCOME);
    expect(WORKER_READY, EVENT_DIED, WORKER_WAITING, ACTION_DELAY);
    expect(WORKER_READY, EVENT_DIED_CONFIG, WORKER_FAILED, ACTION_DELAY_MOST);
    expect(WORKER_FAILED, EVENT_START, WORKER_FAILED, ACTION_TRY);
}

static void test_stop(void)
{
    expect(WORKER_READY, EVENT_STOP, WORKER_STOPPING, ACTION_TERM);
    expect(WORKER_STOPPING, EVENT_OVERDUE, WORKER_ENDING, ACTION_KILL);
    expect(WORKER_STOPPING, EVENT_DIED, WORKER_GONE, ACTION_LEAVE);
    expect(WORKER_ENDING, EVENT_DIED, WORKER_GONE, ACTION_LEAVE);
    /* killed for a stall and now to be stopped: it must not come back */
    expect(WORKER_KILLED, EVENT_STOP, WORKER_ENDING, ACTION_NONE);
    expect(WORKER_KILLED, EVENT_DIED, WORKER_WAITING, ACTION_DELAY);
}

/* No state without a process may be told that its process did something,
 * and nothing ever leads from a state that leaves back to work. */
static void test_shape(void)
{
    static const WorkerState without[] = {WORKER_WAITING, WORKER_ORPHAN, WORKER_FAILED, WORKER_GONE};
    for (size_t i = 0; i < G_N_ELEMENTS(without); i++) {
        expect(without[i], EVENT_READY, without[i], ACTION_IMPOSSIBLE);
        expect(without[i], EVENT_DIED, without[i], ACTION_IMPOSSIBLE);
        expect(without[i], EVENT_STALLED, without[i], ACTION_IMPOSSIBLE);
    }
    static const WorkerState leaving[] = {WORKER_STOPPING, WORKER_ENDING, WORKER_GONE};
    for (size_t i = 0; i < G_N_ELEMENTS(leaving); i++)
        for (int event = 0; event < WORKER_EVENTS; event++) {
            WorkerState next = states_step(leaving[i], event).next;
            g_assert_true(next == WORKER_STOPPING || next == WORKER_ENDING || next == WORKER_GONE);
        }
}

/* A second fork for one worker would be two owners of a slice. */
static void test_one_process(void)
{
    for (int state = 0; state < WORKER_STATES; state++) {
        bool process = state == WORKER_STARTING || state == WORKER_READY || state == WORKER_KILLED ||
                       state == WORKER_STOPPING || state == WORKER_ENDING;
        for (int event = 0; event < WORKER_EVENTS; event++)
            if (process)
                g_assert_cmpint(states_step(state, event).action, !=, ACTION_TRY);
        /* every state can be asked to stop */
        g_assert_cmpint(states_step(state, EVENT_STOP).action, !=, ACTION_IMPOSSIBLE);
        g_assert_nonnull(states_name(state));
    }
}

SUITE("states")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/states/life", test_life);
    g_test_add_func("/states/stop", test_stop);
    g_test_add_func("/states/shape", test_shape);
    g_test_add_func("/states/one-process", test_one_process);
    return g_test_run();
}
