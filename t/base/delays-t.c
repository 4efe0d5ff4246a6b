/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* How long mail took: which column a time is counted in, the words of a beat, and what is taken from the columns. */
#include "base/delays.h"

#include "base/clock.h"
#include "t/suite.h"

#define COUNTS(delays) (delays).counts[DELAY_UNTIL_TRIED]

static void test_columns(void)
{
    static const struct {
        double seconds;
        int column;
    } cases[] = {{-5, 0}, {0, 0}, {0.0625, 0}, {0.063, 1}, {0.125, 1}, {1, 4}, {1.01, 5}, {60, 10}, {1e9, 23}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        Delays delays = {0};
        delays_add(&delays, DELAY_UNTIL_TRIED, (int64_t)(cases[i].seconds * CLOCK_SECOND), 7);
        g_assert_cmpuint(COUNTS(delays)[cases[i].column], ==, 7);
        g_assert_cmpuint(delays.counts[DELAY_UNTIL_SETTLED][cases[i].column], ==, 0);
    }
}

static void test_words(void)
{
    static const char *const wrong[] = {"1,", ",1",  "x",
                                        "-1", "1 2", "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1"};
    Delays delays = {0};
    uint64_t counts[DELAYS_COLUMNS] = {9, 9};
    g_autoptr(GString) text = g_string_new(NULL);
    delays_print(&delays, DELAY_UNTIL_TRIED, text);
    g_assert_cmpstr(text->str, ==, "");
    g_assert_true(delays_parse(text->str, counts));
    g_assert_cmpuint(counts[0] + counts[1], ==, 0);
    COUNTS(delays)[0] = 3;
    COUNTS(delays)[2] = 1000000;
    delays_print(&delays, DELAY_UNTIL_TRIED, text);
    g_assert_cmpstr(text->str, ==, "3,0,1000000");
    g_assert_true(delays_parse(text->str, counts));
    g_assert_cmpmem(counts, sizeof counts, COUNTS(delays), sizeof counts);
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++)
        g_assert_false(delays_parse(wrong[i], counts));
}

static void test_within(void)
{
    Delays delays = {0};
    g_assert_cmpfloat(delays_within(COUNTS(delays), 0.5), ==, -1);
    delays_add(&delays, DELAY_UNTIL_TRIED, CLOCK_SECOND, 98);     /* above 0.5 s, up to 1 s */
    delays_add(&delays, DELAY_UNTIL_TRIED, 60 * CLOCK_SECOND, 2); /* above 32 s, up to 64 s */
    double half = delays_within(COUNTS(delays), 0.5), most = delays_within(COUNTS(delays), 0.99);
    g_assert_true(half > 0.5 && half < 1);
    g_assert_cmpfloat(most, ==, 48);
    delays_add(&delays, DELAY_UNTIL_TRIED, INT64_C(9000000) * CLOCK_SECOND, 1000);
    g_assert_cmpfloat(delays_within(COUNTS(delays), 0.99), ==, 262144);
}

SUITE("delays")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/delays/columns", test_columns);
    g_test_add_func("/delays/words", test_words);
    g_test_add_func("/delays/within", test_within);
    return g_test_run();
}
