/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/delivery.h"

#include <glib.h>

#include "base/clock.h"
#include "t/suite.h"

static const Backoff standard = {300 * CLOCK_SECOND, 4000 * CLOCK_SECOND, 5 * 86400 * CLOCK_SECOND, 0, NULL, 0};

/* The ages at which delivery is tried, without jitter: 0 300 600 1200 ... */
static void ladder(void)
{
    static const int64_t first[] = {0, 300, 600, 1200, 2400, 4800, 8800, 12800};
    int64_t age = 0;
    unsigned attempts = 0;
    for (;; attempts++) {
        if (attempts < G_N_ELEMENTS(first))
            g_assert_cmpint(age, ==, first[attempts] * CLOCK_SECOND);
        if (backoff_expired(&standard, age))
            break;
        age += backoff_delay(&standard, age, 0.5);
    }
    g_assert_cmpuint(attempts + 1, ==, 113);
    g_assert_cmpint(age, ==, 432800 * CLOCK_SECOND);
}

static void limits(void)
{
    g_assert_cmpint(backoff_delay(&standard, -5, 0.9), ==, 300 * CLOCK_SECOND);
    g_assert_cmpint(backoff_delay(&standard, 299 * CLOCK_SECOND, 0.9), ==, 300 * CLOCK_SECOND);
    g_assert_cmpint(backoff_delay(&standard, 301 * CLOCK_SECOND, 0.9), ==, 301 * CLOCK_SECOND);
    g_assert_cmpint(backoff_delay(&standard, 9999 * CLOCK_SECOND, 0.9), ==, 4000 * CLOCK_SECOND);
    g_assert_false(backoff_expired(&standard, 432000 * CLOCK_SECOND - 1));
    g_assert_true(backoff_expired(&standard, 432000 * CLOCK_SECOND));
    Backoff odd = {500 * CLOCK_SECOND, 100 * CLOCK_SECOND, 0, 0, NULL, 0}; /* a site's slip: the minimum wins */
    g_assert_cmpint(backoff_delay(&odd, 0, 0.5), ==, 500 * CLOCK_SECOND);
}

static void jitter(void)
{
    Backoff tenth = standard;
    tenth.jitter = 10;
    g_assert_cmpint(backoff_delay(&tenth, 0, 0), ==, 300 * CLOCK_SECOND); /* a greylist of 300 s lets it in */
    g_assert_cmpint(backoff_delay(&tenth, 1000 * CLOCK_SECOND, 0), ==, 1000 * CLOCK_SECOND);
    g_assert_cmpint(backoff_delay(&tenth, 1000 * CLOCK_SECOND, 0.5), ==, 1050 * CLOCK_SECOND);
    g_assert_cmpint(backoff_delay(&tenth, 1000 * CLOCK_SECOND, 0.999999), <=, 1100 * CLOCK_SECOND);
    g_assert_cmpint(backoff_delay(&tenth, 1000 * CLOCK_SECOND, 0.999999), >, 1099 * CLOCK_SECOND);
}

/* 60 s, 10 min, 2 h, then every 6 h; whatever chance does to the waits, each step is made once. */
static void schedule(void)
{
    static const int64_t steps[] = {60 * CLOCK_SECOND, 600 * CLOCK_SECOND, 7200 * CLOCK_SECOND, 21600 * CLOCK_SECOND};
    static const double chances[] = {0, 0.25, 0.5, 0.75, 0.999999};
    Backoff backoff = standard;
    backoff.steps = steps;
    backoff.count = G_N_ELEMENTS(steps);
    for (backoff.jitter = 0; backoff.jitter <= 20; backoff.jitter += 10)
        for (size_t i = 0; i < G_N_ELEMENTS(chances); i++) {
            int64_t age = 0;
            for (unsigned attempt = 0; attempt < 10; attempt++) {
                int64_t step = steps[MIN(attempt, 3)];
                int64_t off = step * backoff.jitter / 100;
                int64_t wait = backoff_delay(&backoff, age, chances[i]);
                g_assert_cmpint(wait, >=, step);
                g_assert_cmpint(wait, <=, step + off);
                age += wait;
            }
        }
    g_assert_cmpint(backoff_delay(&backoff, -CLOCK_SECOND, 0), ==, steps[0]); /* the clock was set back */
    backoff.count = 1;
    backoff.jitter = 0;
    g_assert_cmpint(backoff_delay(&backoff, 86400 * CLOCK_SECOND, 0.5), ==, steps[0]);
}

SUITE("outgoing/delivery")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/backoff/ladder", ladder);
    g_test_add_func("/backoff/limits", limits);
    g_test_add_func("/backoff/jitter", jitter);
    g_test_add_func("/backoff/schedule", schedule);
    return g_test_run();
}
