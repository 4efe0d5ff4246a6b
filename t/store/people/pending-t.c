/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/pending.h"

#include <string.h>

#include "t/store/fixture.h"
#include "t/suite.h"

#define LIST "test.example.com"
#define BORROWED(text) ((char *)(uintptr_t)(text)) /* pending_put() reads only */

static int64_t put(Fixture *fixture, PendingKind kind, const char *address, const char *token, int64_t expires_at)
{
    GError *error = NULL;
    Pending pending = {.kind = kind,
                       .list_id = BORROWED(LIST),
                       .address = mailbox_of(address),
                       .facts = 5,
                       .waits_for = PENDING_PERSON,
                       .made_at = 10,
                       .asked_at = 20,
                       .expires_at = expires_at};
    assert_ok(pending_put(fixture->store, &pending, token, &error), error);
    return pending.number;
}

static void test_tokens(void)
{
    char one[PENDING_TOKEN_CHARS + 1], other[PENDING_TOKEN_CHARS + 1];
    g_assert_true(pending_token_new(one, NULL) && pending_token_new(other, NULL));
    g_assert_cmpstr(one, !=, other);
    g_assert_true(pending_token_is_one(one));
    g_assert_false(pending_token_is_one("") || pending_token_is_one("short") || pending_token_is_one("8f2a"));
    g_assert_false(pending_token_is_one("aaaaaaaaaaaaaaaaaaaaaaaaa1"));
    /* GNU Mailman's. */
    g_assert_true(pending_token_is_one("8f2d369b10be23735c340ac4f396ce645fdf0850"));
    g_assert_true(pending_token_is_one("8F2D369B10BE23735C340AC4F396CE645FDF0850"));
    g_assert_false(pending_token_is_one("8f2d369b10be23735c340ac4f396ce645fdf085"));
    g_assert_false(pending_token_is_one("gf2d369b10be23735c340ac4f396ce645fdf0850"));
}

static void test_one_for_each(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    int64_t first = put(fixture, PENDING_JOIN, "anne@example.org", "one", 100);
    g_assert_cmpint(put(fixture, PENDING_JOIN, "ANNE@example.org", "two", 100), ==, first);
    g_assert_cmpint(put(fixture, PENDING_LEAVE, "anne@example.org", "three", 100), !=, first);
    g_autoptr(Pending) found = pending_find_token(fixture->store, "TWO", 50, &error);
    g_assert_no_error(error);
    g_assert_cmpint(found->number, ==, first);
    g_assert_cmpstr(found->address->text, ==, "ANNE@example.org");
    g_assert_cmpint(found->facts, ==, 5);
    g_assert_null(pending_find_token(fixture->store, "one", 50, &error));
    assert_failed(FAIL_MISSING, error);
    assert_ok(pending_remove(fixture->store, first, TOKEN_USED, &error), error);
    g_assert_cmpint(put(fixture, PENDING_JOIN, "anne@example.org", NULL, 100), >, first + 1); /* never used twice */
}

static void test_expiry(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    int64_t number = put(fixture, PENDING_JOIN, "anne@example.org", "one", 100), removed;
    Pending *found;
    g_assert_null(pending_find(fixture->store, number, 100, &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_null(pending_find_token(fixture->store, "one", 100, &error));
    assert_failed(FAIL_MISSING, error);
    Pending like = {.kind = PENDING_JOIN, .list_id = BORROWED(LIST), .address = mailbox_of("anne@example.org")};
    assert_ok(pending_find_like(fixture->store, &like, 100, &found, &error), error);
    g_assert_null(found);
    assert_ok(pending_expire(fixture->store, 99, &removed, &error), error);
    g_assert_cmpint(removed, ==, 0);
    assert_ok(pending_expire(fixture->store, 100, &removed, &error), error);
    g_assert_cmpint(removed, ==, 1);
}

static void assert_fate(Fixture *fixture, const char *token, TokenFate expected)
{
    TokenFate fate;
    GError *error = NULL;
    assert_ok(pending_token_fate(fixture->store, token, 50, &fate, &error), error);
    g_assert_cmpint(fate, ==, expected);
}

/* Check that a person who brings a token too late is told why. */
static void test_fates(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    put(fixture, PENDING_JOIN, "anne@example.org", "first", 100);
    int64_t number = put(fixture, PENDING_JOIN, "anne@example.org", "second", 100);
    put(fixture, PENDING_LEAVE, "anne@example.org", "old", 40);
    int64_t other = put(fixture, PENDING_JOIN, "bob@example.org", "withdrawn", 100);
    assert_fate(fixture, "FIRST", TOKEN_REPLACED);
    assert_fate(fixture, "never", TOKEN_UNKNOWN);
    assert_fate(fixture, "old", TOKEN_EXPIRED);
    assert_ok(pending_remove(fixture->store, number, TOKEN_USED, &error), error);
    assert_ok(pending_remove(fixture->store, other, TOKEN_EXPIRED, &error), error);
    assert_fate(fixture, "second", TOKEN_USED);
    assert_fate(fixture, "withdrawn", TOKEN_EXPIRED);
    assert_ok(pending_expire(fixture->store, 50, NULL, &error), error);
    assert_fate(fixture, "old", TOKEN_EXPIRED);
    put(fixture, PENDING_SET, "anne@example.org", "confirmed", 100);
    put(fixture, PENDING_SET, "anne@example.org", NULL, 100); /* a moderator is asked next */
    assert_fate(fixture, "confirmed", TOKEN_USED);
    assert_ok(pending_expire(fixture->store, clock_now() + TOKEN_FATE_KEPT + CLOCK_SECOND, NULL, &error), error);
    assert_fate(fixture, "second", TOKEN_UNKNOWN);
}

/* Check that requests that a person has to confirm are not counted as a moderator's matter. */
static void test_count(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    int64_t count, oldest;
    assert_ok(pending_count(fixture->store, 50, &count, &oldest, &error), error);
    g_assert_cmpint(count, ==, 0);
    g_assert_cmpint(oldest, ==, 0);
    put(fixture, PENDING_JOIN, "anne@example.org", "one", 100);
    for (int64_t at = 0; at < 2; at++) {
        g_autofree char *address = g_strdup_printf("bob%d@example.org", (int)at);
        Pending pending = {.kind = PENDING_LEAVE,
                           .list_id = BORROWED(LIST),
                           .address = mailbox_of(address),
                           .waits_for = PENDING_MODERATOR,
                           .made_at = 20 + at,
                           .expires_at = 100 + 100 * at};
        assert_ok(pending_put(fixture->store, &pending, NULL, &error), error);
    }
    assert_ok(pending_count(fixture->store, 50, &count, &oldest, &error), error);
    g_assert_cmpint(count, ==, 2);
    g_assert_cmpint(oldest, ==, 20);
    assert_ok(pending_count(fixture->store, 100, &count, &oldest, &error), error);
    g_assert_cmpint(count, ==, 1);
}

/* Check that a reader of the database cannot use what he finds there. */
static void test_token_is_not_kept(Fixture *fixture, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    static const char token[] = "abcdefghijklmnopqrstuvwx23";
    static const char *const suffixes[] = {"", "-wal"};
    put(fixture, PENDING_JOIN, "anne@example.org", token, 100);
    for (size_t at = 0; at < G_N_ELEMENTS(suffixes); at++) {
        g_autofree char *path = g_strconcat(fixture->path, suffixes[at], NULL), *octets = NULL;
        size_t length;
        g_assert_true(g_file_get_contents(path, &octets, &length, NULL));
        g_assert_null(memmem(octets, length, token, strlen(token)));
    }
}

static void test_goes_with_the_list(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    int64_t number = put(fixture, PENDING_JOIN, "anne@example.org", "one", 100);
    assert_ok(list_remove(fixture->store, LIST, &error), error);
    g_assert_null(pending_find(fixture->store, number, 50, &error));
    assert_failed(FAIL_MISSING, error);
}

SUITE("pending")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pending/tokens", test_tokens);
    TEST_WITH_LIST("/pending/one for each", test_one_for_each);
    TEST_WITH_LIST("/pending/expiry", test_expiry);
    TEST_WITH_LIST("/pending/fates of tokens", test_fates);
    TEST_WITH_LIST("/pending/count", test_count);
    TEST_WITH_LIST("/pending/the token is not kept", test_token_is_not_kept);
    TEST_WITH_LIST("/pending/goes with the list", test_goes_with_the_list);
    return g_test_run();
}
