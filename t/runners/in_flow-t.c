/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/lmtp/in_flow.h"
#include "t/suite.h"

#include <glib.h>

/* Looks one after another; returns in how many of them intake was slowed. */
static unsigned slowed(InFlow *flow, const uint64_t *waiting, size_t count)
{
    unsigned slow = 0;
    for (size_t i = 0; i < count; i++) {
        bool before = flow->slow;
        g_assert_true(in_flow_look(flow, waiting[i]) == (flow->slow != before));
        slow += flow->slow;
    }
    return slow;
}

#define SLOWED(flow, ...) \
    slowed(flow, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void test_burst_runs_free(void)
{
    InFlow flow = {.limit = 1000};
    g_assert_cmpuint(SLOWED(&flow, 0, 400, 900, 1000, 1000, 700, 0), ==, 0); /* within the limit, for however long */
    g_assert_cmpuint(SLOWED(&flow, 900, 1500, 1400, 1300, 1200, 900), ==, 0); /* beyond it, and draining */
    g_assert_cmpuint(SLOWED(&flow, 1500, 900, 1500, 900), ==, 0);             /* gone before the second look */
}

static void test_flood_is_slowed(void)
{
    InFlow growing = {.limit = 1000}, standing = {.limit = 1000}, uncounted = {.limit = 1000};
    g_assert_cmpuint(SLOWED(&growing, 500, 1001, 1002), ==, 1);
    g_assert_cmpuint(SLOWED(&standing, 1200, 1200), ==, 1);
    uint64_t most = in_flow_most(&uncounted); /* there may be more, and so more than before */
    g_assert_cmpuint(most, >, 1000);
    g_assert_cmpuint(SLOWED(&uncounted, most, most), ==, 1);
    InFlow turning = {.limit = 1000}; /* it drained, and then more came */
    g_assert_cmpuint(SLOWED(&turning, 1500, 1300, 1301), ==, 1);
}

static void test_ends_well_below(void)
{
    InFlow flow = {.limit = 1000};
    g_assert_cmpuint(SLOWED(&flow, 1100, 1200), ==, 1);
    g_assert_cmpuint(SLOWED(&flow, 1100, 1000, 900, 1000, 751), ==, 5); /* no to and fro at the limit */
    g_assert_cmpuint(SLOWED(&flow, 750, 900, 1000, 1100), ==, 0);
    g_assert_cmpuint(SLOWED(&flow, 1200), ==, 1); /* and again */
}

SUITE("in_flow")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/in_flow/a burst runs free", test_burst_runs_free);
    g_test_add_func("/in_flow/a flood is slowed", test_flood_is_slowed);
    g_test_add_func("/in_flow/it ends well below the limit", test_ends_well_below);
    return g_test_run();
}
