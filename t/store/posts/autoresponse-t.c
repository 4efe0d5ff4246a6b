/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/posts/autoresponse.h"

#include "store/store.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define LIST "test.example.com"

static bool due(Fixture *fixture, const char *kind, const char *address, const char *entry, int64_t now, int64_t grace)
{
    GError *error = NULL;
    bool answer;
    const Autoresponse response = {LIST, kind, address, entry, now, grace};
    assert_ok(autoresponse_record(fixture->store, &response, &answer, &error), error);
    return answer;
}

static void test_grace(Fixture *fixture, const void *data)
{
    g_assert_true(due(fixture, "owner", "anne@example.org", "in:1", 1000, 100));
    g_assert_false(due(fixture, "owner", "Anne@Example.org", "in:2", 1099, 100));
    g_assert_true(due(fixture, "postings", "anne@example.org", "in:3", 1001, 100)); /* each kind for itself */
    g_assert_true(due(fixture, "owner", "bob@example.org", "in:4", 1001, 100));
    g_assert_true(due(fixture, "owner", "anne@example.org", "in:5", 1100, 100)); /* counted from the last answer, */
    g_assert_false(due(fixture, "owner", "anne@example.org", "in:6", 1199, 100)); /* not from the last mail */
    g_assert_true(due(fixture, "owner", "anne@example.org", "in:7", 1200, 0));
    g_assert_true(due(fixture, "owner", "anne@example.org", "in:8", 1200, 0)); /* 0: each mail */
}

/* The same mail comes again only after a crash that lost its answer. */
static void test_again(Fixture *fixture, const void *data)
{
    g_assert_true(due(fixture, "owner", "anne@example.org", "in:1", 1000, 100));
    g_assert_true(due(fixture, "owner", "anne@example.org", "in:1", 1050, 100));
    g_assert_false(due(fixture, "owner", "anne@example.org", "in:2", 1051, 100));
}

static void test_forget(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_assert_true(due(fixture, "owner", "anne@example.org", "in:1", 1000, 100));
    list_free(list_create(fixture->store, "other@example.com", &error));
    assert_ok(autoresponse_forget(fixture->store, LIST, "postings", "anne@example.org", &error), error);
    assert_ok(autoresponse_forget(fixture->store, "other.example.com", "owner", "anne@example.org", &error), error);
    g_assert_false(due(fixture, "owner", "anne@example.org", "in:2", 1001, 100));
    assert_ok(autoresponse_forget(fixture->store, LIST, "owner", "Anne@example.org", &error), error);
    g_assert_true(due(fixture, "owner", "anne@example.org", "in:3", 1002, 100));
}

static void test_expire(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    int64_t removed;
    g_assert_true(due(fixture, "owner", "anne@example.org", "in:1", 1000, 5000));
    g_assert_true(due(fixture, "owner", "bob@example.org", "in:2", 2000, 5000));
    assert_ok(autoresponse_expire(fixture->store, 2000, &removed, &error), error);
    g_assert_cmpint(removed, ==, 1);
    g_assert_true(due(fixture, "owner", "anne@example.org", "in:3", 2001, 5000));
    g_assert_false(due(fixture, "owner", "bob@example.org", "in:4", 2001, 5000));
    bool answer;
    const Autoresponse nowhere = {"none.example.com", "owner", "a@example.org", "in:5", 1, 1};
    g_assert_false(autoresponse_record(fixture->store, &nowhere, &answer, &error));
    g_assert_false(answer);
    assert_failed(FAIL_MISSING, error);
}

SUITE("autoresponse")
{
    g_test_init(&argc, &argv, NULL);
    TEST_WITH_LIST("/autoresponse/grace period", test_grace);
    TEST_WITH_LIST("/autoresponse/the same mail again", test_again);
    TEST_WITH_LIST("/autoresponse/forget", test_forget);
    TEST_WITH_LIST("/autoresponse/expiry", test_expire);
    return g_test_run();
}
