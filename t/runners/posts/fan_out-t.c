/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* How the recipients of a large post are divided among hosts. */
#include "runners/posts/fan_out.h"
#include "t/suite.h"

static void assert_parts(int64_t count, const double *paces, const int64_t *expected, unsigned hosts)
{
    FanOutPart parts[5] = {0};
    for (unsigned at = 0; at < hosts; at++)
        parts[at].pace = paces[at];
    fan_out_divide(count, parts, hosts);
    for (unsigned at = 0; at < hosts; at++)
        g_assert_cmpint(parts[at].count, ==, expected[at]);
}

static void test_equal_until_known(void)
{
    assert_parts(3001, (const double[]){0, 40, 0}, (const int64_t[]){1000, 1000, 1001}, 3);
}

static void test_as_what_they_get_done(void)
{
    assert_parts(10000, (const double[]){10, 20, 70}, (const int64_t[]){1000, 2000, 7000}, 3);
}

static void test_a_slow_one_gets_some(void)
{
    assert_parts(9000, (const double[]){0.001, 800}, (const int64_t[]){1000, 8000}, 2);
}

static void test_nobody_is_left_out(void)
{
    for (int64_t count = 0; count < 200; count++) {
        FanOutPart parts[] = {{.pace = 3}, {.pace = 1}, {.pace = 4}, {.pace = 1}, {.pace = 5}};
        int64_t sum = 0;
        fan_out_divide(count, parts, G_N_ELEMENTS(parts));
        for (unsigned at = 0; at < G_N_ELEMENTS(parts); at++) {
            g_assert_cmpint(parts[at].count, >=, 0);
            sum += parts[at].count;
        }
        g_assert_cmpint(sum, ==, count);
    }
}

SUITE("fan_out")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/fan-out/equal-until-known", test_equal_until_known);
    g_test_add_func("/fan-out/as-what-they-get-done", test_as_what_they_get_done);
    g_test_add_func("/fan-out/a-slow-one-gets-some", test_a_slow_one_gets_some);
    g_test_add_func("/fan-out/nobody-is-left-out", test_nobody_is_left_out);
    return g_test_run();
}
