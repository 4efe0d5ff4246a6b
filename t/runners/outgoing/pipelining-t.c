/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* When several transactions go out together, by a clock that is told. */
#include "runners/outgoing/pipelining.h"
#include "t/suite.h"

#include <glib.h>

#define START (1000000 * CLOCK_SECOND)
#define MS (CLOCK_SECOND / 1000)

/* As many answers as a connection gets in so long, each after `took`. */
static int64_t answers(Pipelining *pipelining, int64_t took, int64_t from, int64_t span)
{
    int64_t now = from;
    for (; now < from + span; now += took)
        pipelining_observe(pipelining, took, now);
    return now;
}

static void expect(const Pipelining *pipelining, int64_t now, unsigned most)
{
    g_assert_cmpuint(pipelining_most(pipelining, 0, now), ==, most);
}

static void slow_pays(void)
{
    Pipelining pipelining = {0};
    expect(&pipelining, START, 1);
    int64_t now = answers(&pipelining, 20 * MS, START, PIPELINING_SPAN - 20 * MS);
    expect(&pipelining, now, 1); /* a whole span says so, or nothing does */
    now = answers(&pipelining, 20 * MS, now, PIPELINING_SPAN);
    expect(&pipelining, now, PIPELINING_DEFAULT);
    now = answers(&pipelining, 20 * MS, now, 100 * PIPELINING_SPAN);
    expect(&pipelining, now, PIPELINING_DEFAULT);
}

/* One short answer in a span or the one before it is enough: the others waited for this host. */
static void fast_does_not(void)
{
    Pipelining pipelining = {0};
    int64_t now = answers(&pipelining, PIPELINING_SLOW, START, 10 * PIPELINING_SPAN);
    expect(&pipelining, now, 1);
    now = answers(&pipelining, 40 * MS, now, 3 * PIPELINING_SPAN);
    expect(&pipelining, now, PIPELINING_DEFAULT);
    pipelining_observe(&pipelining, 1 * MS, now);
    expect(&pipelining, now, 1);
    now = answers(&pipelining, 40 * MS, now, PIPELINING_SPAN);
    expect(&pipelining, now, 1);
    now = answers(&pipelining, 40 * MS, now, 2 * PIPELINING_SPAN);
    expect(&pipelining, now, PIPELINING_DEFAULT);
    pipelining_observe(&pipelining, 0, now); /* not to be told from nothing otherwise */
    expect(&pipelining, now, 1);
    for (int i = 0; i < 1000; i++) { /* a busy host, nearly always */
        now = answers(&pipelining, 30 * MS, now, PIPELINING_SPAN / 2);
        pipelining_observe(&pipelining, 2 * MS, now);
        expect(&pipelining, now, 1);
    }
}

/* Check that known answers stay known while nothing is sent, and that a clock that was set back does no harm. */
static void waits(void)
{
    Pipelining pipelining = {0};
    int64_t now = answers(&pipelining, 20 * MS, START, 3 * PIPELINING_SPAN);
    expect(&pipelining, now + 3600 * CLOCK_SECOND, PIPELINING_DEFAULT);
    now = answers(&pipelining, 20 * MS, START - 3600 * CLOCK_SECOND, 3 * PIPELINING_SPAN);
    expect(&pipelining, now, PIPELINING_DEFAULT);
}

static void wanted(void)
{
    Pipelining pipelining = {0};
    g_assert_cmpuint(pipelining_most(&pipelining, 7, START), ==, 7);
    g_assert_cmpuint(pipelining_most(&pipelining, 1, START), ==, 1);
    answers(&pipelining, 20 * MS, START, 3 * PIPELINING_SPAN);
    g_assert_cmpuint(pipelining_most(&pipelining, 1, START), ==, 1);
}

/* One flight, until it is back; then as many as there are connections. */
static void proves_itself(void)
{
    Pipelining pipelining = {0};
    pipelining_begin(&pipelining);
    g_assert_cmpuint(pipelining_most(&pipelining, 7, START), ==, 1);
    pipelining_end(&pipelining, true, START);
    for (int i = 0; i < 20; i++) {
        g_assert_cmpuint(pipelining_most(&pipelining, 7, START), ==, 7);
        pipelining_begin(&pipelining);
    }
    for (int i = 0; i < 20; i++)
        pipelining_end(&pipelining, true, START);
}

static void pauses(void)
{
    Pipelining pipelining = {.proven = true};
    pipelining_begin(&pipelining);
    pipelining_begin(&pipelining);
    pipelining_end(&pipelining, false, START);
    g_assert_cmpuint(pipelining_most(&pipelining, 7, START), ==, 1);
    pipelining_end(&pipelining, true, START + CLOCK_SECOND); /* was out already: one was broken all the same */
    g_assert_cmpuint(pipelining_most(&pipelining, 7, START + PIPELINING_PAUSE - 1), ==, 1);
    g_assert_cmpuint(pipelining_most(&pipelining, 7, START + PIPELINING_PAUSE), ==, 7);
    pipelining_begin(&pipelining);
    g_assert_cmpuint(pipelining_most(&pipelining, 7, START + PIPELINING_PAUSE), ==, 1); /* alone, as the first */
    pipelining_end(&pipelining, true, START + PIPELINING_PAUSE);
    pipelining_begin(&pipelining);
    g_assert_cmpuint(pipelining_most(&pipelining, 7, START + PIPELINING_PAUSE), ==, 7);
}

SUITE("outgoing/pipelining")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/flights/slow pays", slow_pays);
    g_test_add_func("/flights/fast does not", fast_does_not);
    g_test_add_func("/flights/waits", waits);
    g_test_add_func("/flights/wanted", wanted);
    g_test_add_func("/flights/proves itself", proves_itself);
    g_test_add_func("/flights/pauses", pauses);
    return g_test_run();
}
