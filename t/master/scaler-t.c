/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test when the master changes the number of a runner's processes by its load: not while a change is under way, and not
 * while a backup has its processes stand still. */
#include "master/scale.h"

#include "base/clock.h"
#include "master/supervisor.h"
#include "master/worker.h"
#include "t/master/timers.h"

#define MANY 20 /* looks, of which SCALE_GROW in a row on an old backlog lead to a change */

typedef struct Fixture {
    Plan plan;
    PlanRunner plans[2];
    Worker workers[2];
    Group groups[2];
    Master master;
    Scaler *scaler;
} Fixture;

static unsigned changes[2]; /* of each group */

/* Takes the place of the function by which the scaler changes a group. */
void __wrap_supervisor_change(Group *group, const PlanRunner *next);
void __wrap_supervisor_change(Group *group, const PlanRunner *next)
{
    g_assert_cmpuint(next->instances, ==, 2 * group->plan->instances);
    changes[group == group->master->groups->pdata[1]]++;
}

/* Two runners with one process each. An entry has waited for an hour for both. */
static void set_up(Fixture *fixture, const void *data)
{
    (void)data;
    *fixture = (Fixture){.plan.limits.scale_interval = 3600 * CLOCK_SECOND};
    fixture->master.plan = &fixture->plan;
    fixture->master.base = event_base_new();
    fixture->master.groups = g_ptr_array_new();
    for (unsigned at = 0; at < 2; at++) {
        PlanRunner *plan = &fixture->plans[at];
        Group *group = &fixture->groups[at];
        *plan = (PlanRunner){.name = (char *)(at ? "out" : "in"), .instances = 1, .least = 1, .most = 4};
        fixture->workers[at] = (Worker){.group = group, .state = WORKER_READY, .starts = 1};
        fixture->workers[at].watch.beaten = 1;
        fixture->workers[at].watch.beat = (Beat){.backlog = 5, .oldest = clock_now() - 3600 * CLOCK_SECOND};
        *group = (Group){.master = &fixture->master, .plan = plan, .workers = g_ptr_array_new()};
        g_ptr_array_add(group->workers, &fixture->workers[at]);
        g_ptr_array_add(fixture->master.groups, group);
        changes[at] = 0;
    }
    fixture->scaler = scale_new(&fixture->master);
}

static void tear_down(Fixture *fixture, const void *data)
{
    (void)data;
    scale_free(fixture->scaler);
    event_base_free(fixture->master.base);
    g_ptr_array_unref(fixture->master.groups);
    for (unsigned at = 0; at < 2; at++) {
        g_ptr_array_unref(fixture->groups[at].workers);
        g_free(fixture->groups[at].scaled_why);
    }
}

static void test_changing(Fixture *fixture, const void *data)
{
    (void)data;
    fixture->groups[0].changing = true;
    fixture->groups[0].next = &fixture->plans[0];
    timers_run_out(fixture->master.base, MANY);
    g_assert_cmpuint(changes[0], ==, 0);
    g_assert_cmpuint(changes[1], >, 0);
    fixture->groups[0].changing = false;
    timers_run_out(fixture->master.base, MANY);
    g_assert_cmpuint(changes[0], >, 0);
}

static void test_paused(Fixture *fixture, const void *data)
{
    (void)data;
    int any;
    fixture->master.pause = (struct Pause *)&any;
    timers_run_out(fixture->master.base, MANY);
    g_assert_true(changes[0] == 0 && changes[1] == 0);
    fixture->master.pause = NULL;
    timers_run_out(fixture->master.base, MANY);
    g_assert_true(changes[0] > 0 && changes[1] > 0);
}

static void test_stopping(Fixture *fixture, const void *data)
{
    (void)data;
    fixture->master.stopping = true;
    timers_run_out(fixture->master.base, MANY);
    g_assert_true(changes[0] == 0 && changes[1] == 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/scaler/not while a change is under way", Fixture, NULL, set_up, test_changing, tear_down);
    g_test_add("/scaler/not while a backup pauses", Fixture, NULL, set_up, test_paused, tear_down);
    g_test_add("/scaler/not at the end", Fixture, NULL, set_up, test_stopping, tear_down);
    return g_test_run();
}
