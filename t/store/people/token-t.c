/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/token.h"

#include "t/store/fixture.h"
#include "t/suite.h"

static const Token first = {.id = "00000001", .digest = (char *)"d1", .name = (char *)"\xc3\xa9 'x' \"y\"",
                            .verbs = (char *)"GET", .lists = (char *)"a.example.com b.example.com",
                            .domains = (char *)"example.com", .metrics = true, .made_at = 20, .expires_at = INT64_MAX,
                            .used_at = 7};
static const Token second = {.id = "00000002", .digest = (char *)"d2", .name = (char *)"", .verbs = (char *)"",
                             .lists = (char *)"", .domains = (char *)"", .made_at = 10};

static void add(Fixture *fixture, const Token *token)
{
    GError *error = NULL;
    assert_ok(token_add(fixture->store, token, &error), error);
}

static void assert_same(const Token *token, const Token *wanted)
{
    g_assert_cmpstr(token->id, ==, wanted->id);
    g_assert_cmpstr(token->digest, ==, wanted->digest);
    g_assert_cmpstr(token->name, ==, wanted->name);
    g_assert_cmpstr(token->verbs, ==, wanted->verbs);
    g_assert_cmpstr(token->lists, ==, wanted->lists);
    g_assert_cmpstr(token->domains, ==, wanted->domains);
    g_assert_cmpint(token->metrics, ==, wanted->metrics);
    g_assert_cmpint(token->made_at, ==, wanted->made_at);
    g_assert_cmpint(token->expires_at, ==, wanted->expires_at);
    g_assert_cmpint(token->used_at, ==, wanted->used_at);
}

/* "00000002 00000001": the tokens in their order. */
static char *listed(Fixture *fixture)
{
    GError *error = NULL;
    GString *text = g_string_new(NULL);
    g_autoptr(GPtrArray) all = token_all(fixture->store, &error);
    g_assert_no_error(error);
    for (guint at = 0; at < all->len; at++)
        g_string_append_printf(text, "%s%s", at > 0 ? " " : "", ((const Token *)all->pdata[at])->id);
    return g_string_free(text, FALSE);
}

static void test_kept(Fixture *fixture, gconstpointer data)
{
    GError *error = NULL;
    g_autofree char *none = listed(fixture);
    g_assert_cmpstr(none, ==, "");
    add(fixture, &first);
    add(fixture, &second);
    g_autoptr(Token) one = token_find(fixture->store, first.id, &error);
    g_autoptr(Token) other = token_find(fixture->store, second.id, &error);
    g_assert_no_error(error);
    assert_same(one, &first);
    assert_same(other, &second);
    Token third = second; /* made at the same time */
    g_strlcpy(third.id, "00000000", sizeof third.id);
    add(fixture, &third);
    g_autofree char *ids = listed(fixture);
    g_assert_cmpstr(ids, ==, "00000000 00000002 00000001");
}

static void test_id_taken(Fixture *fixture, gconstpointer data)
{
    GError *error = NULL;
    Token thief = second;
    g_strlcpy(thief.id, first.id, sizeof thief.id);
    add(fixture, &first);
    g_assert_false(token_add(fixture->store, &thief, &error));
    assert_failed(FAIL_EXISTS, error);
    g_autoptr(Token) kept = token_find(fixture->store, first.id, &error);
    assert_same(kept, &first);
}

static void test_missing(Fixture *fixture, gconstpointer data)
{
    static const char *const ids[] = {"00000002", "", "0000000", "00000001 ", "0000000_", "%", "' OR '1'='1"};
    add(fixture, &first);
    for (size_t at = 0; at < G_N_ELEMENTS(ids); at++) {
        GError *error = NULL;
        g_assert_null(token_find(fixture->store, ids[at], &error));
        assert_failed(FAIL_MISSING, error);
        g_assert_false(token_set_used(fixture->store, ids[at], 9, &error));
        assert_failed(FAIL_MISSING, error);
        g_assert_false(token_remove(fixture->store, ids[at], &error));
        assert_failed(FAIL_MISSING, error);
    }
    g_autofree char *left = listed(fixture);
    g_assert_cmpstr(left, ==, first.id);
}

static void test_used_and_removed(Fixture *fixture, gconstpointer data)
{
    GError *error = NULL;
    add(fixture, &first);
    add(fixture, &second);
    assert_ok(token_set_used(fixture->store, first.id, INT64_C(1763835600000000), &error), error);
    Token wanted = first;
    wanted.used_at = INT64_C(1763835600000000);
    g_autoptr(Token) used = token_find(fixture->store, first.id, &error);
    g_autoptr(Token) other = token_find(fixture->store, second.id, &error);
    assert_same(used, &wanted);
    assert_same(other, &second);
    assert_ok(token_remove(fixture->store, first.id, &error), error);
    g_autofree char *left = listed(fixture);
    g_assert_cmpstr(left, ==, second.id);
}

SUITE("token")
{
    g_test_init(&argc, &argv, NULL);
    TEST("/store/token/kept", test_kept);
    TEST("/store/token/id is taken", test_id_taken);
    TEST("/store/token/missing", test_missing);
    TEST("/store/token/used and removed", test_used_and_removed);
    return g_test_run();
}
