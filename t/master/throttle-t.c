/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/throttle.h"

#include <glib.h>

#include "base/clock.h"
#include "t/suite.h"

static const ThrottleLimits limits = {CLOCK_SECOND, 60 * CLOCK_SECOND, 3600 * CLOCK_SECOND};

static void test_doubles(void)
{
    static const int64_t expected[] = {0, 1, 2, 4, 8, 16, 32, 60, 60, 60};
    Throttle throttle = {0};
    for (size_t i = 0; i < G_N_ELEMENTS(expected); i++)
        g_assert_cmpint(throttle_died(&throttle, &limits, CLOCK_SECOND, DEATH_OTHER), ==, expected[i] * CLOCK_SECOND);
}

static void test_quiet_life(void)
{
    Throttle throttle = {.streak = 5};
    g_assert_cmpint(throttle_died(&throttle, &limits, limits.quiet - 1, DEATH_OTHER), ==, 16 * CLOCK_SECOND);
    g_assert_cmpint(throttle_died(&throttle, &limits, limits.quiet, DEATH_OTHER), ==, 0);
    g_assert_cmpint(throttle_died(&throttle, &limits, 0, DEATH_OTHER), ==, CLOCK_SECOND);
}

/* Check that the charge for an entry keeps nobody waiting for long who comes after it. */
static void test_charged(void)
{
    Throttle throttle = {.streak = 5};
    g_assert_cmpint(throttle_died(&throttle, &limits, 0, DEATH_AT_WORK), ==, 0);
    g_assert_cmpint(throttle_died(&throttle, &limits, 0, DEATH_AT_WORK), ==, 0);
    for (int i = 0; i < 5; i++)
        g_assert_cmpint(throttle_died(&throttle, &limits, 0, DEATH_CHARGED), ==, CLOCK_SECOND);
    g_assert_cmpint(throttle_died(&throttle, &limits, 0, DEATH_OTHER), ==, 2 * CLOCK_SECOND);
    g_assert_cmpint(throttle_died(&throttle, &limits, 0, DEATH_OTHER), ==, 4 * CLOCK_SECOND);
    Throttle fresh = {0};
    g_assert_cmpint(throttle_died(&fresh, &limits, 0, DEATH_CHARGED), ==, 0);
    g_assert_cmpint(throttle_died(&fresh, &limits, 0, DEATH_CHARGED), ==, CLOCK_SECOND);
}

/* A process that wanted to be replaced did not die, unless it wants that at once, again and again. */
static void test_renewal(void)
{
    Throttle throttle = {0};
    for (int i = 0; i < 5; i++)
        g_assert_cmpint(throttle_died(&throttle, &limits, limits.min, DEATH_RENEWAL), ==, 0);
    g_assert_cmpuint(throttle.streak, ==, 0);
    g_assert_cmpint(throttle_died(&throttle, &limits, 0, DEATH_RENEWAL), ==, 0);
    g_assert_cmpint(throttle_died(&throttle, &limits, 0, DEATH_RENEWAL), ==, limits.min);
}

/* The longest streak and limits that do not double evenly. */
static void test_edges(void)
{
    Throttle throttle = {.streak = G_MAXUINT};
    g_assert_cmpint(throttle_died(&throttle, &limits, 0, DEATH_OTHER), ==, limits.max);
    g_assert_cmpuint(throttle.streak, ==, G_MAXUINT);
    const ThrottleLimits flat = {5, 5, 100};
    Throttle other = {.streak = 1};
    g_assert_cmpint(throttle_died(&other, &flat, 0, DEATH_OTHER), ==, 5);
    g_assert_cmpint(throttle_died(&other, &flat, 0, DEATH_OTHER), ==, 5);
}

SUITE("throttle")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/throttle/doubles", test_doubles);
    g_test_add_func("/throttle/quiet-life", test_quiet_life);
    g_test_add_func("/throttle/charged", test_charged);
    g_test_add_func("/throttle/renewal", test_renewal);
    g_test_add_func("/throttle/edges", test_edges);
    return g_test_run();
}
