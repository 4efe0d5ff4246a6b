/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test that each entry is counted once in the figures of its runner: with two runners, two processes of one, and a
 * process that was started anew. */
#include "master/sampler.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include "master/group.h"
#include "master/worker.h"
#include "t/master/timers.h"
#include "t/suite.h"

typedef struct Fixture {
    char *directory;
    PlanRunner plans[2];
    Worker workers[2][2];
    Group groups[2];
    Master master;
    Sampler *sampler;
} Fixture;

static void set_up(Fixture *fixture, const void *data)
{
    (void)data;
    *fixture = (Fixture){.plans = {{.name = (char *)"in"}, {.name = (char *)"out"}}};
    fixture->directory = g_dir_make_tmp("sampler-XXXXXX", NULL);
    fixture->master.base = event_base_new();
    fixture->master.state_dir = open(fixture->directory, O_RDONLY | O_DIRECTORY);
    fixture->master.groups = g_ptr_array_new();
    for (unsigned at = 0; at < 2; at++) {
        Group *group = &fixture->groups[at];
        *group = (Group){.master = &fixture->master, .plan = &fixture->plans[at], .workers = g_ptr_array_new()};
        for (unsigned instance = 0; instance < 2; instance++) {
            fixture->workers[at][instance] = (Worker){.group = group, .instance = instance, .starts = 1};
            g_ptr_array_add(group->workers, &fixture->workers[at][instance]);
        }
        g_ptr_array_add(fixture->master.groups, group);
    }
    fixture->sampler = sampler_new(&fixture->master);
}

static void tear_down(Fixture *fixture, const void *data)
{
    (void)data;
    sampler_free(fixture->sampler);
    event_base_free(fixture->master.base);
    g_ptr_array_unref(fixture->master.groups);
    for (unsigned at = 0; at < 2; at++)
        g_ptr_array_unref(fixture->groups[at].workers);
    close(fixture->master.state_dir);
    g_autofree char *path = g_build_filename(fixture->directory, "history", NULL);
    g_unlink(path);
    g_rmdir(fixture->directory);
    g_free(fixture->directory);
}

/* Have the processes of a runner say how much each has done since its start. */
static void have_done(Fixture *fixture, unsigned runner, uint64_t first, uint64_t second)
{
    fixture->workers[runner][0].watch.beat.done = first;
    fixture->workers[runner][1].watch.beat.done = second;
}

/* The entries of a runner in the last hour. */
static void expect(const Fixture *fixture, const char *runner, json_int_t wanted)
{
    json_auto_t *all = sampler_json(fixture->sampler, "hour");
    const json_t *array = json_object_get(json_object_get(json_object_get(all, "runners"), runner), "done"), *one;
    json_int_t sum = 0;
    size_t at;
    json_array_foreach(array, at, one)
        sum += json_integer_value(one);
    g_assert_cmpint(sum, ==, wanted);
}

static void test_once(Fixture *fixture, const void *data)
{
    (void)data;
    have_done(fixture, 0, 5, 10);
    timers_run_out(fixture->master.base, 1);
    expect(fixture, "in", 15);
    expect(fixture, "out", 0);
    timers_run_out(fixture->master.base, 1); /* nothing was done meanwhile */
    expect(fixture, "in", 15);
    have_done(fixture, 0, 7, 10);
    have_done(fixture, 1, 1, 1);
    timers_run_out(fixture->master.base, 1);
    expect(fixture, "in", 17);
    expect(fixture, "out", 2);
    /* A new process counts from its own start, and one that tells less than before has done nothing. */
    fixture->workers[0][0].starts++;
    have_done(fixture, 0, 4, 9);
    timers_run_out(fixture->master.base, 1);
    expect(fixture, "in", 21);
    expect(fixture, "out", 2);
}

SUITE("sampler")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/sampler/each entry is counted once", Fixture, NULL, set_up, test_once, tear_down);
    return g_test_run();
}
