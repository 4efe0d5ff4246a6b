/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* When several transactions go out together, by a clock that is told. */
#include "runners/out/flights.h"

#include <glib.h>

#define START (1000000 * CLOCK_SECOND)
#define MS (CLOCK_SECOND / 1000)

/* As many answers as a connection gets in so long, each after `took`. */
static int64_t answers(Flights *flights, int64_t took, int64_t from, int64_t span)
{
    int64_t now = from;
    for (; now < from + span; now += took)
        flights_observe(flights, took, now);
    return now;
}

static void expect(const Flights *flights, int64_t now, unsigned most)
{
    g_assert_cmpuint(flights_most(flights, 0, now), ==, most);
}

static void slow_pays(void)
{
    Flights flights = {0};
    expect(&flights, START, 1);
    int64_t now = answers(&flights, 20 * MS, START, FLIGHTS_SPAN - 20 * MS);
    expect(&flights, now, 1); /* a whole span says so, or nothing does */
    now = answers(&flights, 20 * MS, now, FLIGHTS_SPAN);
    expect(&flights, now, FLIGHTS_DEFAULT);
    now = answers(&flights, 20 * MS, now, 100 * FLIGHTS_SPAN);
    expect(&flights, now, FLIGHTS_DEFAULT);
}

/* One short answer in a span or the one before it is enough: the others waited for this host. */
static void fast_does_not(void)
{
    Flights flights = {0};
    int64_t now = answers(&flights, FLIGHTS_SLOW, START, 10 * FLIGHTS_SPAN);
    expect(&flights, now, 1);
    now = answers(&flights, 40 * MS, now, 3 * FLIGHTS_SPAN);
    expect(&flights, now, FLIGHTS_DEFAULT);
    flights_observe(&flights, 1 * MS, now);
    expect(&flights, now, 1);
    now = answers(&flights, 40 * MS, now, FLIGHTS_SPAN);
    expect(&flights, now, 1);
    now = answers(&flights, 40 * MS, now, 2 * FLIGHTS_SPAN);
    expect(&flights, now, FLIGHTS_DEFAULT);
    flights_observe(&flights, 0, now); /* not to be told from nothing otherwise */
    expect(&flights, now, 1);
    for (int i = 0; i < 1000; i++) { /* a busy host, nearly always */
        now = answers(&flights, 30 * MS, now, FLIGHTS_SPAN / 2);
        flights_observe(&flights, 2 * MS, now);
        expect(&flights, now, 1);
    }
}

/* What is known stays known while nothing is sent, and a clock that was set back does no harm. */
static void waits(void)
{
    Flights flights = {0};
    int64_t now = answers(&flights, 20 * MS, START, 3 * FLIGHTS_SPAN);
    expect(&flights, now + 3600 * CLOCK_SECOND, FLIGHTS_DEFAULT);
    now = answers(&flights, 20 * MS, START - 3600 * CLOCK_SECOND, 3 * FLIGHTS_SPAN);
    expect(&flights, now, FLIGHTS_DEFAULT);
}

static void wanted(void)
{
    Flights flights = {0};
    g_assert_cmpuint(flights_most(&flights, 7, START), ==, 7);
    g_assert_cmpuint(flights_most(&flights, 1, START), ==, 1);
    answers(&flights, 20 * MS, START, 3 * FLIGHTS_SPAN);
    g_assert_cmpuint(flights_most(&flights, 1, START), ==, 1);
}

/* One flight, until it is back; then as many as there are connections. */
static void proves_itself(void)
{
    Flights flights = {0};
    flights_begin(&flights);
    g_assert_cmpuint(flights_most(&flights, 7, START), ==, 1);
    flights_end(&flights, true, START);
    for (int i = 0; i < 20; i++) {
        g_assert_cmpuint(flights_most(&flights, 7, START), ==, 7);
        flights_begin(&flights);
    }
    for (int i = 0; i < 20; i++)
        flights_end(&flights, true, START);
}

static void pauses(void)
{
    Flights flights = {.proven = true};
    flights_begin(&flights);
    flights_begin(&flights);
    flights_end(&flights, false, START);
    g_assert_cmpuint(flights_most(&flights, 7, START), ==, 1);
    flights_end(&flights, true, START + CLOCK_SECOND); /* was out already: one was broken all the same */
    g_assert_cmpuint(flights_most(&flights, 7, START + FLIGHTS_PAUSE - 1), ==, 1);
    g_assert_cmpuint(flights_most(&flights, 7, START + FLIGHTS_PAUSE), ==, 7);
    flights_begin(&flights);
    g_assert_cmpuint(flights_most(&flights, 7, START + FLIGHTS_PAUSE), ==, 1); /* alone, as the first */
    flights_end(&flights, true, START + FLIGHTS_PAUSE);
    flights_begin(&flights);
    g_assert_cmpuint(flights_most(&flights, 7, START + FLIGHTS_PAUSE), ==, 7);
}

int main(int argc, char **argv)
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
