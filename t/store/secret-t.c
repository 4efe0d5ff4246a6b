/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/secret.h"

#include "base/clock.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define DAY (86400 * CLOCK_SECOND)

static GPtrArray *all(Store *store)
{
    GError *error = NULL;
    GPtrArray *secrets = secret_all(store, &error);
    g_assert_no_error(error);
    g_assert_nonnull(secrets);
    return secrets;
}

static void test_made_once(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_autoptr(GPtrArray) first = all(fixture->store), again = all(fixture->store);
    g_assert_cmpuint(first->len, ==, 1);
    g_assert_cmpuint(g_bytes_get_size(first->pdata[0]), ==, SECRET_OCTETS);
    g_assert_true(g_bytes_equal(first->pdata[0], again->pdata[0]));
    g_autoptr(Store) other = fixture_connect(fixture, &error);
    g_assert_no_error(error);
    g_autoptr(GPtrArray) elsewhere = all(other);
    g_assert_true(g_bytes_equal(first->pdata[0], elsewhere->pdata[0]));
}

/* Inside a transaction that is undone, nothing was promised to anybody. */
static void test_undone(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    assert_ok(store_begin(fixture->store, &error), error);
    g_autoptr(GPtrArray) before = all(fixture->store);
    store_rollback(fixture->store);
    g_autoptr(GPtrArray) after = all(fixture->store);
    g_assert_false(g_bytes_equal(before->pdata[0], after->pdata[0]));
}

/* The first letter of a new site may be written where only people are changed. */
static void test_with_people(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    assert_ok(store_begin_people(fixture->store, NULL, &error), error);
    g_autoptr(GPtrArray) made = all(fixture->store);
    assert_ok(store_commit(fixture->store, &error), error);
    g_autoptr(GPtrArray) again = all(fixture->store);
    g_assert_true(g_bytes_equal(made->pdata[0], again->pdata[0]));
}

static void test_rotate(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_autoptr(GPtrArray) first = all(fixture->store);
    int64_t replaced_at, began = clock_now();
    assert_ok(secret_replaced_at(fixture->store, &replaced_at, &error), error);
    g_assert_cmpint(replaced_at, ==, 0);
    assert_ok(secret_rotate(fixture->store, 30 * DAY, &error), error);
    assert_ok(secret_replaced_at(fixture->store, &replaced_at, &error), error);
    g_assert_true(replaced_at >= began && replaced_at <= clock_now());
    g_autoptr(GPtrArray) second = all(fixture->store);
    g_assert_cmpuint(second->len, ==, 2);
    g_assert_true(g_bytes_equal(second->pdata[1], first->pdata[0]));
    g_assert_false(g_bytes_equal(second->pdata[0], first->pdata[0]));
    assert_ok(secret_rotate(fixture->store, -DAY, &error), error); /* replaced "tomorrow" at the latest */
    g_autoptr(GPtrArray) third = all(fixture->store);
    g_assert_cmpuint(third->len, ==, 1);
    g_assert_false(g_bytes_equal(third->pdata[0], second->pdata[0]));
}

SUITE("secret")
{
    g_test_init(&argc, &argv, NULL);
    TEST("/secret/made-once", test_made_once);
    TEST("/secret/undone", test_undone);
    TEST("/secret/with people", test_with_people);
    TEST("/secret/rotate", test_rotate);
    return g_test_run();
}
