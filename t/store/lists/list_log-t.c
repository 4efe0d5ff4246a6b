/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/lists/list_log.h"

#include "t/store/fixture.h"
#include "t/suite.h"

#define ANT "ant.example.com"
#define BEE "bee.example.com"

static int64_t add(Fixture *fixture, const char *list_id, const char *kind, const char *name, int64_t made_at)
{
    GError *error = NULL;
    ListLogRow row = {.made_at = made_at,
                      .door = (char[]){"page"},
                      .by = (char[]){"olga@example.org"},
                      .kind = (char *)(uintptr_t)kind,
                      .name = (char *)(uintptr_t)name,
                      .after = (char[]){"new"}};
    assert_ok(list_log_add(fixture->store, list_id, &row, &error), error);
    return row.key;
}

static void make_lists(Fixture *fixture)
{
    GError *error = NULL;
    assert_ok(domain_create(fixture->store, "example.com", NULL, &error), error);
    g_autoptr(List) ant = list_create(fixture->store, "ant@example.com", &error);
    g_autoptr(List) bee = list_create(fixture->store, "bee@example.com", &error);
    g_assert_no_error(error);
}

/* The names of rows, in order. */
static void assert_names(GPtrArray *rows, const char *expected)
{
    g_autoptr(GPtrArray) all = rows;
    g_autoptr(GString) names = g_string_new(NULL);
    g_assert_nonnull(all);
    for (guint at = 0; at < all->len; at++)
        g_string_append_printf(names, "%s ", ((ListLogRow *)all->pdata[at])->name);
    g_assert_cmpstr(names->str, ==, expected);
}

static void test_pages(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    make_lists(fixture);
    add(fixture, ANT, LOG_SETTING, "one", 10);
    int64_t two = add(fixture, ANT, LOG_SETTING, "two", 10), foreign = add(fixture, BEE, LOG_SETTING, "other", 10);
    int64_t three = add(fixture, ANT, LOG_BAN, "two", 20);
    assert_names(list_log_page(fixture->store, ANT, NULL, 0, 2, &error), "two two ");
    assert_names(list_log_page(fixture->store, ANT, NULL, two, 2, &error), "one ");
    assert_names(list_log_page(fixture->store, ANT, LOG_SETTING, 0, 9, &error), "two one ");
    assert_names(list_log_page(fixture->store, ANT, LOG_SETTING, two, 9, &error), "one ");
    assert_names(list_log_page(fixture->store, ANT, LOG_TEMPLATE, 0, 9, &error), "");
    assert_names(list_log_named(fixture->store, ANT, LOG_SETTING, "two", 9, &error), "two ");
    assert_names(list_log_named(fixture->store, BEE, LOG_SETTING, "two", 9, &error), "");
    g_autoptr(ListLogRow) row = list_log_find(fixture->store, ANT, three, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(row->kind, ==, LOG_BAN);
    g_assert_cmpstr(row->by, ==, "olga@example.org");
    g_assert_null(row->before);
    g_assert_cmpstr(row->after, ==, "new");
    g_assert_null(list_log_find(fixture->store, ANT, foreign, &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_null(list_log_page(fixture->store, "no.example.com", NULL, 0, 2, &error));
    assert_failed(FAIL_MISSING, error);
}

static void test_goes(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    make_lists(fixture);
    add(fixture, ANT, LOG_POST, "anne@example.org", 10);
    add(fixture, ANT, LOG_POST, "bart@example.org", 20);
    add(fixture, BEE, LOG_POST, "anne@example.org", 30);
    assert_ok(list_log_expire(fixture->store, 20, &error), error);
    assert_names(list_log_page(fixture->store, ANT, NULL, 0, 9, &error), "bart@example.org ");
    /* With the address. */
    assert_ok(address_add(fixture->store, mailbox_of("Anne@example.org"), NULL, &error), error);
    assert_ok(address_remove(fixture->store, mailbox_of("anne@example.org"), &error), error);
    assert_names(list_log_page(fixture->store, BEE, NULL, 0, 9, &error), "");
    /* With the list: who gets its name next does not get its log. */
    assert_ok(list_remove(fixture->store, ANT, &error), error);
    g_autoptr(List) ant = list_create(fixture->store, "ant@example.com", &error);
    g_assert_no_error(error);
    assert_names(list_log_page(fixture->store, ANT, NULL, 0, 9, &error), "");
}

SUITE("list_log")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/list_log/pages", Fixture, NULL, fixture_open, test_pages, fixture_close);
    g_test_add("/list_log/goes", Fixture, NULL, fixture_open, test_goes, fixture_close);
    return g_test_run();
}
