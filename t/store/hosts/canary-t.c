/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test the record of the mail that a host sends through its MTA and back. */
#include "store/hosts/canary.h"

#include "t/store/fixture.h"
#include "t/suite.h"

#define HOST "a.example.com"

static void check(Store *store, const char *host, const char *mail, int64_t sent_at, int64_t back_at,
                  int64_t missing_since)
{
    GError *error = NULL;
    g_auto(Canary) canary = {0};
    assert_ok(canary_read(store, host, &canary, &error), error);
    g_assert_cmpstr(canary.mail, ==, mail);
    g_assert_cmpint(canary.sent_at, ==, sent_at);
    g_assert_cmpint(canary.back_at, ==, back_at);
    g_assert_cmpint(canary.missing_since, ==, missing_since);
}

/* A mail is missing from the first one on that did not come back, and no more when a later one did. */
static void test_canary(Fixture *fixture, const void *data)
{
    (void)data;
    GError *error = NULL;
    Store *store = fixture->store;
    check(store, HOST, NULL, 0, 0, 0);
    assert_ok(canary_sent(store, HOST, "1@x", 10, &error), error);
    check(store, HOST, "1@x", 10, 0, 10);
    assert_ok(canary_back(store, HOST, 12, &error), error);
    check(store, HOST, "1@x", 10, 12, 0);
    assert_ok(canary_sent(store, HOST, "2@x", 20, &error) && canary_sent(store, HOST, "3@x", 30, &error), error);
    assert_ok(canary_sent(store, "b.example.com", "4@x", 40, &error), error);
    check(store, HOST, "3@x", 30, 12, 20);
    assert_ok(canary_back(store, HOST, 33, &error), error);
    check(store, HOST, "3@x", 30, 33, 0);
    assert_ok(canary_forget(store, HOST, &error), error);
    check(store, HOST, NULL, 0, 0, 0);
    check(store, "b.example.com", "4@x", 40, 0, 40);
}

SUITE("canary")
{
    g_test_init(&argc, &argv, NULL);
    TEST("/canary/sent, missing, back", test_canary);
    return g_test_run();
}
