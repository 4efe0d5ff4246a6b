/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/lists/header_match.h"

#include "store/lists/list_setting.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define LIST "test.example.com"

/* Its strings are borrowed. */
static bool add(Fixture *fixture, const char *list_id, int64_t position, const HeaderMatch *row, GError **error)
{
    g_autoptr(HeaderMatch) match = g_new0(HeaderMatch, 1);
    *match = (HeaderMatch){.list_id = g_strdup(list_id), .position = position, .header = g_strdup(row->header),
                           .pattern = g_strdup(row->pattern), .target = g_strdup(row->target),
                           .tag = g_strdup(row->tag)};
    return header_match_add(fixture->store, match, error);
}

#define ROW(field, text, where, word) \
    &(const HeaderMatch){.header = (char *)(uintptr_t)(field), .pattern = (char *)(uintptr_t)(text), \
                         .target = (char *)(uintptr_t)(where), .tag = (char *)(uintptr_t)(word)}

static void assert_rows(Fixture *fixture, const char *list_id, const char *expected)
{
    GError *error = NULL;
    g_autoptr(GPtrArray) all = header_match_all(fixture->store, list_id, &error);
    g_assert_no_error(error);
    g_autoptr(GString) text = g_string_new(NULL);
    for (unsigned at = 0; at < all->len; at++) {
        const HeaderMatch *match = all->pdata[at];
        g_assert_cmpint(match->position, ==, at);
        g_string_append_printf(text, "%s%s=%s", at ? " " : "", match->header, match->pattern);
    }
    g_assert_cmpstr(text->str, ==, expected);
}

static void test_order(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    assert_ok(add(fixture, LIST, -1, ROW("X-Spam", "a", "hold", "x"), &error), error);
    assert_ok(add(fixture, LIST, -1, ROW("Subject", "b", NULL, NULL), &error), error);
    assert_ok(add(fixture, LIST, 0, ROW("From", "c", "Discard", "x"), &error), error);
    g_autoptr(HeaderMatch) first = header_match_find(fixture->store, LIST, 0, &error);
    g_assert_cmpstr(first->target, ==, "discard");
    assert_ok(add(fixture, LIST, 99, ROW("To", "d", "accept", NULL), &error), error);
    assert_rows(fixture, LIST, "from=c x-spam=a subject=b to=d");
    assert_rows(fixture, NULL, "");
    g_autoptr(HeaderMatch) match = header_match_find(fixture->store, LIST, 3, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(match->target, ==, "accept");
    g_assert_null(match->tag);
    match->position = 1;
    assert_ok(header_match_change(fixture->store, 3, match, &error), error);
    assert_rows(fixture, LIST, "from=c to=d x-spam=a subject=b");
    assert_ok(header_match_remove(fixture->store, LIST, 1, &error), error);
    assert_rows(fixture, LIST, "from=c x-spam=a subject=b");
    int64_t removed;
    assert_ok(header_match_clear(fixture->store, LIST, "x", &removed, &error), error);
    g_assert_cmpint(removed, ==, 2);
    assert_rows(fixture, LIST, "subject=b");
    assert_ok(header_match_clear(fixture->store, LIST, NULL, &removed, &error), error);
    g_assert_cmpint(removed, ==, 1);
}

static void test_refused(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    static const struct {
        const char *header, *pattern, *target;
    } never[] = {{"", "a", NULL},  {"X Spam", "a", NULL}, {"X:", "a", NULL},   {"\303\274", "a", NULL},
                 {"X", "(", NULL}, {"X", "\xff", NULL},   {"X", "a", "Ho ld"}, {"X", "a", ""},
                 {"X", "a", "unset"}};
    for (size_t at = 0; at < G_N_ELEMENTS(never); at++) {
        g_assert_false(add(fixture, LIST, -1, ROW(never[at].header, never[at].pattern, never[at].target, NULL),
                           &error));
        assert_failed(FAIL_NEVER, error);
    }
    assert_ok(add(fixture, LIST, -1, ROW("X", "a", NULL, NULL), &error), error);
    g_assert_false(add(fixture, LIST, -1, ROW("x", "a", "hold", NULL), &error));
    assert_failed(FAIL_EXISTS, error);
    assert_ok(add(fixture, NULL, -1, ROW("x", "a", NULL, NULL), &error), error);
    g_assert_false(add(fixture, "nothing.example.com", -1, ROW("x", "a", NULL, NULL), &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_false(header_match_remove(fixture->store, LIST, 1, &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_null(header_match_find(fixture->store, LIST, 1, &error));
    assert_failed(FAIL_MISSING, error);
    assert_rows(fixture, LIST, "x=a");
}

/* The site's do not count as the list's. One may be changed when there are as many as may be. */
static void test_bound(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    assert_ok(add(fixture, NULL, -1, ROW("x", "of the site", NULL, NULL), &error), error);
    for (int at = 0; at < LIST_PATTERNS_MAX; at++) {
        g_autofree char *pattern = g_strdup_printf("x%d", at);
        assert_ok(add(fixture, LIST, -1, ROW("x", pattern, NULL, NULL), &error), error);
    }
    g_assert_false(add(fixture, LIST, -1, ROW("x", "more", NULL, NULL), &error));
    assert_failed(FAIL_NEVER, error);
    g_autoptr(HeaderMatch) last = header_match_find(fixture->store, LIST, LIST_PATTERNS_MAX - 1, &error);
    g_assert_no_error(error);
    assert_ok(header_match_change(fixture->store, LIST_PATTERNS_MAX - 1, last, &error), error);
    assert_ok(add(fixture, NULL, -1, ROW("x", "more", NULL, NULL), &error), error);
    assert_ok(header_match_remove(fixture->store, LIST, 0, &error), error);
    assert_ok(add(fixture, LIST, -1, ROW("x", "more", NULL, NULL), &error), error);
}

SUITE("header_match")
{
    g_test_init(&argc, &argv, NULL);
    TEST_WITH_LIST("/header match/order", test_order);
    TEST_WITH_LIST("/header match/refused", test_refused);
    TEST_WITH_LIST("/header match/bound", test_bound);
    return g_test_run();
}
