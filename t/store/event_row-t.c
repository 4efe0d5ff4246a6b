/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/event_row.h"

#include "t/store/fixture.h"
#include "t/suite.h"

static void add(Store *store, const char *id, int64_t made_at)
{
    GError *error = NULL;
    EventRow event = {.id = (char *)id, .type = (char *)"list.created", .list_id = (char *)"ant.example.com",
                      .body = (char *)"{}", .made_at = made_at};
    assert_ok(event_row_add(store, &event, &error), error);
}

static void assert_behind(Store *store, int64_t number, const char *expected)
{
    GError *error = NULL;
    g_autoptr(GPtrArray) events = event_row_after(store, number, 10, &error);
    g_assert_no_error(error);
    g_autoptr(GString) ids = g_string_new(NULL);
    for (guint at = 0; at < events->len; at++)
        g_string_append_printf(ids, "%s ", ((EventRow *)events->pdata[at])->id);
    g_assert_cmpstr(ids->str, ==, expected);
}

static void test_order(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    int64_t last;
    add(fixture->store, "b", 30);
    add(fixture->store, "a", 20);
    add(fixture->store, "b", 30); /* told twice */
    assert_behind(fixture->store, 0, "b a ");
    assert_behind(fixture->store, 1, "a ");
    assert_ok(event_row_last(fixture->store, &last, &error), error);
    g_assert_cmpint(last, ==, 2);
}

static void test_old_ones_go(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    int64_t last;
    add(fixture->store, "old", 20);
    add(fixture->store, "new", 30);
    assert_ok(event_row_expire(fixture->store, 30, &error), error);
    assert_behind(fixture->store, 0, "new ");
    assert_ok(event_row_expire(fixture->store, 31, &error), error);
    add(fixture->store, "newer", 40);
    assert_ok(event_row_last(fixture->store, &last, &error), error);
    g_assert_cmpint(last, ==, 3); /* no number is used twice */
    assert_behind(fixture->store, 2, "newer ");
}

#define TEST(path, function) g_test_add(path, Fixture, NULL, fixture_open, function, fixture_close)

SUITE("event_row")
{
    g_test_init(&argc, &argv, NULL);
    TEST("/store/event_row/order, each once", test_order);
    TEST("/store/event_row/old ones go", test_old_ones_go);
    return g_test_run();
}
