/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/posts/pace.h"

#include "base/clock.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define HOUR (3600 * CLOCK_SECOND)
#define DAY (24 * HOUR)
#define LIST "test.example.com"

static void post(Fixture *fixture, const char *address, int64_t now, int times)
{
    g_autoptr(GError) error = NULL;
    for (int at = 0; at < times; at++)
        assert_ok(pace_count(fixture->store, LIST, address, now, &error), error);
}

static void assert_pace(Fixture *fixture, const char *address, int64_t now, int64_t posts, int64_t past)
{
    g_autoptr(GError) error = NULL;
    Pace pace;
    assert_ok(pace_find(fixture->store, LIST, address, now, &pace, &error), error);
    g_assert_cmpint(pace.posts, ==, posts);
    g_assert_cmpint(pace.past, ==, past);
}

static void test_hours(Fixture *fixture, gconstpointer data)
{
    const int64_t now = clock_now();
    assert_pace(fixture, "anne@example.org", now, 0, 0);
    post(fixture, "Anne@example.org", now, 4);
    post(fixture, "anne@example.org", now + HOUR - 1, 2);
    post(fixture, NULL, now, 1);
    assert_pace(fixture, "anne@EXAMPLE.org", now + HOUR - 1, 6, 0);
    assert_pace(fixture, "bart@example.org", now, 0, 0);
    assert_pace(fixture, NULL, now, 1, 0);
    assert_pace(fixture, "anne@example.org", now + HOUR, 0, 6); /* only read, not ended */
    post(fixture, "anne@example.org", now + 3 * HOUR, 2);       /* a quieter hour does not count */
    assert_pace(fixture, "anne@example.org", now + 5 * HOUR, 0, 6);
    assert_pace(fixture, "anne@example.org", now + 30 * DAY + 3 * HOUR, 0, 3);
    post(fixture, "anne@example.org", now + HOUR, 1); /* the clock was set back */
    assert_pace(fixture, "anne@example.org", now + HOUR, 1, 6);
}

static void test_first(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    const int64_t now = clock_now();
    Pace pace;
    post(fixture, NULL, now, 1);
    post(fixture, NULL, now + 8 * DAY, 1);
    assert_ok(pace_find(fixture->store, LIST, NULL, now + 9 * DAY, &pace, &error), error);
    g_assert_cmpint(pace.first_at, ==, now);
    g_assert_false(pace_find(fixture->store, "none.example.com", NULL, now, &pace, &error));
    g_assert_error(error, FAIL, FAIL_MISSING);
}

static void test_expires(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    post(fixture, "old@example.org", clock_now() - PACE_KEPT - DAY, 5);
    post(fixture, "new@example.org", clock_now() - PACE_KEPT + DAY, 8);
    assert_ok(store_expire(fixture->store, DAY, &error), error);
    assert_pace(fixture, "old@example.org", clock_now(), 0, 0);
    assert_pace(fixture, "new@example.org", clock_now(), 0, 1);
}

SUITE("pace")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/store/pace/hours", Fixture, NULL, fixture_open_list, test_hours, fixture_close);
    g_test_add("/store/pace/first", Fixture, NULL, fixture_open_list, test_first, fixture_close);
    g_test_add("/store/pace/expires", Fixture, NULL, fixture_open_list, test_expires, fixture_close);
    return g_test_run();
}
