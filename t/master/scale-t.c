/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/scale.h"
#include "t/suite.h"

#define SECOND G_USEC_PER_SEC
#define LOOK (10 * SECOND)
#define PROCESSORS 8

/* A site that is simulated: so much arrives, and so much one process does, until the machine can do no more. */
typedef struct World {
    Scale scale;
    unsigned instances, least, most;
    double arrives, each, limit; /* entries a second */
    double load;                 /* of a processor, of a process at full work */
    double backlog, done, processor;
    int64_t now;
    unsigned changes;
} World;

static World world(unsigned least, unsigned most)
{
    return (World){.instances = least, .least = least, .most = most, .each = 10, .limit = 1e9, .load = 0.5,
                   .now = SECOND};
}

static void look(World *world)
{
    const char *why = NULL;
    const double seconds = (double)LOOK / SECOND;
    double can = MIN(world->each * world->instances, world->limit) * seconds;
    double does = MIN(can, world->backlog + world->arrives * seconds);
    world->backlog += world->arrives * seconds - does;
    world->done += does;
    world->processor += world->load * does / world->each;
    world->now += LOOK;
    const ScaleLook seen = {.instances = world->instances,
                            .least = world->least,
                            .most = world->most,
                            .now = world->now,
                            .age = (int64_t)(world->backlog / MAX(can / seconds, 1) * SECOND),
                            .done = (uint64_t)world->done,
                            .processor = (int64_t)(world->processor * SECOND),
                            .processors = PROCESSORS,
                            .steady = true};
    unsigned wanted = scale_decide(&world->scale, &seen, &why);
    g_assert_true((wanted != world->instances) == (why != NULL));
    if (wanted == world->instances)
        return;
    g_assert_true(wanted == world->instances * 2 || wanted * 2 == world->instances);
    world->instances = wanted;
    world->changes++;
    world->done = world->processor = 0; /* new processes */
}

static void looks(World *world, unsigned count)
{
    for (unsigned at = 0; at < count; at++)
        look(world);
}

static void test_quiet(void)
{
    World quiet = world(2, 16);
    quiet.arrives = 15;
    looks(&quiet, 1000);
    g_assert_cmpuint(quiet.changes, ==, 0);
}

static void test_grows_and_shrinks(void)
{
    World busy = world(1, 8);
    busy.arrives = 35;
    looks(&busy, 5);
    g_assert_cmpuint(busy.instances, ==, 2);
    looks(&busy, 95);
    g_assert_cmpuint(busy.instances, >=, 4);
    busy.arrives = 1000;
    looks(&busy, 200);
    g_assert_cmpuint(busy.instances, ==, 8); /* the most */
    busy.arrives = 1;
    busy.backlog = 0;
    looks(&busy, 3 * (SCALE_SHRINK + 2));
    g_assert_cmpuint(busy.instances, ==, 1);
    looks(&busy, 1000);
    g_assert_cmpuint(busy.changes, ==, 6);
}

/* Check that more processes are not quicker where the work waits for a disk. */
static void test_no_gain(void)
{
    World slow = world(2, 16);
    slow.arrives = 100;
    slow.limit = 20;
    looks(&slow, 200);
    g_assert_cmpuint(slow.instances, ==, 2);
    g_assert_cmpuint(slow.changes, ==, 2);
    looks(&slow, 8640); /* a day; each try waits twice as long as the one before */
    g_assert_cmpuint(slow.changes, <=, 12);
    slow.limit = 1e9; /* another disk */
    looks(&slow, SCALE_PATIENCE_MAX + 100);
    g_assert_cmpuint(slow.instances, ==, 16);
}

static void test_processors(void)
{
    World hot = world(8, 64);
    hot.arrives = 1000;
    hot.load = 1;
    looks(&hot, 1000);
    g_assert_cmpuint(hot.changes, ==, 0);
}

/* Nothing waits, but half of them could not do it. */
static void test_needed(void)
{
    World needed = world(1, 8);
    needed.load = 1;
    needed.arrives = 25;
    looks(&needed, 1000);
    g_assert_cmpuint(needed.instances, ==, 4); /* also if it was 8 while the backlog was worked off */
    const unsigned changes = needed.changes;
    looks(&needed, 1000);
    g_assert_cmpuint(needed.changes, ==, changes);
}

static void test_unsteady(void)
{
    Scale scale = {0};
    ScaleLook seen = {.instances = 1, .least = 1, .most = 8, .age = 1000 * SECOND, .processors = PROCESSORS};
    for (unsigned at = 0; at < 100; at++) {
        const char *why = NULL;
        seen.now += LOOK;
        seen.done += 10;
        seen.steady = at % 2 == 0 && at < 4;
        g_assert_cmpuint(scale_decide(&scale, &seen, &why), ==, 1);
        g_assert_null(why);
    }
}

SUITE("scale")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/scale/quiet", test_quiet);
    g_test_add_func("/scale/grows and shrinks", test_grows_and_shrinks);
    g_test_add_func("/scale/no gain", test_no_gain);
    g_test_add_func("/scale/processors", test_processors);
    g_test_add_func("/scale/needed by load", test_needed);
    g_test_add_func("/scale/unsteady", test_unsteady);
    return g_test_run();
}
