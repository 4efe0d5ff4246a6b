/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test that the cost of strangers is counted within an hour or a day, each kind and each of them apart. */
#include "base/clock.h"
#include "store/people/account.h"
#include "store/store.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define HOUR (3600 * CLOCK_SECOND)
#define DAY (24 * HOUR)
#define NOW (20000 * DAY + 5 * HOUR)

static int64_t add(Fixture *fixture, AccountKind kind, const char *who, int64_t now)
{
    GError *error = NULL;
    int64_t total, read;
    assert_ok(account_add(fixture->store, kind, who, now, &total, &error), error);
    assert_ok(account_count(fixture->store, kind, who, now, &read, &error), error);
    g_assert_cmpint(read, ==, total);
    return total;
}

static int64_t counted(Fixture *fixture, AccountKind kind, int64_t now)
{
    GError *error = NULL;
    AccountSum sum;
    assert_ok(account_sum(fixture->store, kind, now, &sum, &error), error);
    g_assert_cmpint(sum.greatest, <=, sum.total);
    return sum.counted * 10000 + sum.total * 100 + sum.greatest;
}

static int64_t count(Fixture *fixture, AccountKind kind, const char *who, int64_t now)
{
    GError *error = NULL;
    int64_t total;
    assert_ok(account_count(fixture->store, kind, who, now, &total, &error), error);
    return total;
}

static void test_apart(Fixture *fixture, const void *data)
{
    g_assert_cmpint(add(fixture, ACCOUNT_ANSWERS, "anne@example.org", NOW), ==, 1);
    g_assert_cmpint(add(fixture, ACCOUNT_ANSWERS, "anne@example.org", NOW + HOUR), ==, 2);
    g_assert_cmpint(add(fixture, ACCOUNT_ANSWERS, "bob@example.org", NOW), ==, 1);
    g_assert_cmpint(add(fixture, ACCOUNT_SIGN_IN, "anne@example.org", NOW), ==, 1);
    g_assert_cmpint(add(fixture, ACCOUNT_ANSWERS, "anne@example.org", NOW + DAY), ==, 1);
    g_assert_cmpint(add(fixture, ACCOUNT_SIGN_IN, "anne@example.org", NOW + HOUR - 1), ==, 2);
    g_assert_cmpint(add(fixture, ACCOUNT_SIGN_IN, "anne@example.org", NOW + HOUR), ==, 1);
}

/* Check that a person who had too many has none when the hour or the day is over, whether or not anything is counted
 * then. */
static void test_over(Fixture *fixture, const void *data)
{
    const char *anne = "anne@example.org";
    add(fixture, ACCOUNT_SIGN_IN, anne, NOW);
    add(fixture, ACCOUNT_ANSWERS, anne, NOW);
    g_assert_cmpint(count(fixture, ACCOUNT_SIGN_IN, anne, NOW + HOUR - 1), ==, 1);
    g_assert_cmpint(count(fixture, ACCOUNT_SIGN_IN, anne, NOW + HOUR), ==, 0);
    g_assert_cmpint(count(fixture, ACCOUNT_ANSWERS, anne, NOW + HOUR), ==, 1);
    g_assert_cmpint(count(fixture, ACCOUNT_ANSWERS, anne, NOW + DAY), ==, 0);
    g_assert_cmpint(count(fixture, ACCOUNT_ANSWERS, "bob@example.org", NOW), ==, 0);
}

static void test_sums(Fixture *fixture, const void *data)
{
    for (int at = 0; at < 3; at++)
        add(fixture, ACCOUNT_PASSWORDS, "192.0.2.1", NOW);
    add(fixture, ACCOUNT_PASSWORDS, "192.0.2.2", NOW);
    add(fixture, ACCOUNT_SIGN_IN, "192.0.2.2", NOW);
    g_assert_cmpint(counted(fixture, ACCOUNT_PASSWORDS, NOW), ==, 20403);
    g_assert_cmpint(counted(fixture, ACCOUNT_SIGN_IN, NOW), ==, 10101);
    g_assert_cmpint(counted(fixture, ACCOUNT_ANSWERS, NOW), ==, 0);
    g_assert_cmpint(counted(fixture, ACCOUNT_PASSWORDS, NOW + HOUR), ==, 0);
}

/* Only what is over goes. */
static void test_expiry(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    for (int at = 0; at < 3000; at++) {
        g_autofree char *who = g_strdup_printf("%d@example.org", at);
        int64_t total;
        assert_ok(account_add(fixture->store, ACCOUNT_SIGN_IN, who, NOW, &total, &error), error);
    }
    add(fixture, ACCOUNT_ANSWERS, "anne@example.org", NOW);
    assert_ok(account_expire(fixture->store, NOW + HOUR - 1, &error), error);
    g_assert_cmpint(counted(fixture, ACCOUNT_SIGN_IN, NOW), ==, 3000 * 10000 + 3000 * 100 + 1);
    assert_ok(account_expire(fixture->store, NOW + HOUR, &error), error);
    g_assert_cmpint(counted(fixture, ACCOUNT_SIGN_IN, NOW), ==, 0);
    g_assert_cmpint(counted(fixture, ACCOUNT_ANSWERS, NOW), ==, 10101);
    assert_ok(account_expire(fixture->store, NOW + DAY, &error), error);
    g_assert_cmpint(counted(fixture, ACCOUNT_ANSWERS, NOW), ==, 0);
}

/* All kinds for one go, and nobody else's: an address may have signs that a pattern would read as others. */
static void test_forgotten(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    for (AccountKind kind = 0; kind < ACCOUNT_KINDS; kind++) {
        add(fixture, kind, "a_b@example.org", NOW);
        add(fixture, kind, "axb@example.org", NOW);
        add(fixture, kind, "list.example.com join axb@example.org -", NOW);
    }
    assert_ok(account_forget(fixture->store, "a_b@example.org", &error), error);
    for (AccountKind kind = 0; kind < ACCOUNT_KINDS; kind++) {
        g_assert_cmpint(counted(fixture, kind, NOW), ==, 20201);
        g_assert_cmpint(add(fixture, kind, "a_b@example.org", NOW), ==, 1);
    }
}

SUITE("account")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/account/apart", Fixture, NULL, fixture_open, test_apart, fixture_close);
    g_test_add("/account/over", Fixture, NULL, fixture_open, test_over, fixture_close);
    g_test_add("/account/sums", Fixture, NULL, fixture_open, test_sums, fixture_close);
    g_test_add("/account/expiry", Fixture, NULL, fixture_open, test_expiry, fixture_close);
    g_test_add("/account/forgotten", Fixture, NULL, fixture_open, test_forgotten, fixture_close);
    return g_test_run();
}
