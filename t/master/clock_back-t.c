/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/clock_back.h"
#include "t/suite.h"

#include <glib.h>

#define HOUR (3600 * CLOCK_SECOND)
#define START (1000000 * HOUR)

static void test_back(void)
{
    ClockBack back = {0};
    g_assert_cmpint(clock_back_look(&back, START, HOUR), ==, 0);
    g_assert_cmpint(clock_back_look(&back, START + HOUR, 2 * HOUR), ==, 0);
    g_assert_cmpint(clock_back_look(&back, START + HOUR - CLOCK_SECOND, 2 * HOUR), ==, 0); /* too little */
    g_assert_cmpint(clock_back_look(&back, START - HOUR, 2 * HOUR), ==, 2 * HOUR);
    g_assert_cmpint(clock_back_look(&back, START, 3 * HOUR), ==, 2 * HOUR);
    g_assert_cmpint(clock_back_look(&back, START + HOUR, 4 * HOUR), ==, 0); /* made up for */
    g_assert_cmpint(clock_back_look(&back, START + HOUR, 4 * HOUR), ==, 0);
}

/* It was wrong for a while, and is as before. */
static void test_mended(void)
{
    ClockBack back = {0};
    clock_back_look(&back, START, HOUR);
    g_assert_cmpint(clock_back_look(&back, START - HOUR, HOUR), ==, HOUR);
    g_assert_cmpint(clock_back_look(&back, START, HOUR), ==, 0);
    g_assert_cmpint(clock_back_look(&back, START + 3 * HOUR, HOUR), ==, 0);
    g_assert_cmpint(clock_back_look(&back, START, HOUR), ==, 3 * HOUR);
}

SUITE("clock_back")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/clock back/made up for", test_back);
    g_test_add_func("/clock back/mended", test_mended);
    return g_test_run();
}
