/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/moving/copy.h"

#include <string.h>

#include "store/store_internal.h"
#include "t/store/fixture.h"
#include "t/suite.h"

static Store *open_new(const char *driver, const char *where)
{
    GError *error = NULL;
    Store *store = store_open(driver, where, true, &error);
    g_assert_no_error(error);
    return store;
}

static Store *open_other(const Fixture *fixture, const char *name)
{
    g_autofree char *where = fixture_where(fixture->directory, name);
    return open_new(fixture_driver(), where);
}

static void count_tables(void *data, const char *table, int64_t rows, bool compared)
{
    (void)table, (void)rows;
    ((int *)data)[compared]++;
}

static bool copy(Store *from, Store *to, GError **error)
{
    int tables[2] = {0};
    bool done = store_copy(from, to, count_tables, tables, error);
    for (int i = 0; done && i < 2; i++)
        g_assert_cmpint(tables[i], ==, (int)g_strv_length((char **)store_copy_tables));
    return done;
}

/* Two lists, a user with two addresses, more members than one fetch brings, a blob, text that is no UTF-8. */
static void fill(Store *store)
{
    GError *error = NULL;
    assert_ok(domain_create(store, "example.com", "Grüße \xf0\x9f\x93\xae", &error), error);
    g_autoptr(List) one = list_create(store, "one@example.com", &error),
                    two = list_create(store, "two@example.com", &error);
    g_assert_no_error(error);
    assert_ok(store_begin(store, &error), error);
    for (int i = 0; i < 1200; i++) {
        g_autofree char *address = g_strdup_printf("Member%d@example.org", i);
        assert_ok(member_add(store, i % 3 ? one->list_id : two->list_id, ROLE_MEMBER, mailbox_of(address),
                             i % 7 ? NULL : "N \xff", NULL, &error),
                  error);
    }
    assert_ok(store_commit(store, &error), error);
    assert_ok(query_run(store, &error, NULL,
                        "INSERT INTO secret (key, octets, replaced_at) VALUES (5, $1, 0), (6, $2, 0)",
                        BLOB("\0\1\xff", 3), BLOB("", 0)),
              error);
}

static int64_t members(Store *store, const char *list)
{
    GError *error = NULL;
    int64_t count = 0;
    g_autoptr(RecipientCursor) cursor = recipient_cursor_open(store, list, NULL, NULL, &error);
    while (cursor && recipient_cursor_next(cursor, &error))
        count++;
    g_assert_no_error(error);
    return count;
}

/* To a file of SQLite and back, which is to the other driver and back where the tests run with another. */
static void test_copy(Fixture *fixture, const void *data)
{
    (void)data;
    GError *error = NULL;
    fill(fixture->store);
    g_autofree char *file = g_build_filename(fixture->directory, "file.db", NULL);
    g_autoptr(Store) between = open_new("sqlite", file), to = open_other(fixture, "back");
    assert_ok(copy(fixture->store, between, &error), error);
    assert_ok(copy(between, to, &error), error);
    g_assert_cmpint(members(to, "one.example.com"), ==, 800);
    g_assert_cmpint(members(to, "two.example.com"), ==, 400);
    /* Keys go on above those of the original. */
    assert_ok(store_begin(fixture->store, &error), error);
    int64_t original = store_key_new(fixture->store, &error) >> 11;
    store_rollback(fixture->store);
    assert_ok(store_begin(to, &error), error);
    g_assert_cmpint(store_key_new(to, &error) >> 11, >, original);
    store_rollback(to);
    assert_ok(member_add(to, "one.example.com", ROLE_MEMBER, mailbox_of("new@example.org"), NULL, NULL, &error), error);
}

static void test_refused(Fixture *fixture, const void *data)
{
    (void)data;
    GError *error = NULL;
    fill(fixture->store);
    g_autoptr(Store) to = open_other(fixture, "to");
    assert_ok(domain_create(to, "example.net", NULL, &error), error);
    g_assert_false(copy(fixture->store, to, &error));
    g_assert_nonnull(strstr(error->message, "domain"));
    assert_failed(FAIL_EXISTS, error);
    g_autoptr(GPtrArray) domains = domain_all(to, &error);
    g_assert_cmpuint(domains->len, ==, 1);
    /* Both can be written to again. */
    assert_ok(domain_create(to, "example.info", NULL, &error), error);
    assert_ok(domain_create(fixture->store, "example.info", NULL, &error), error);
}

/* Every table that the schema makes is copied, but the two that a driver keeps for itself. */
static void test_tables(Fixture *fixture, const void *data)
{
    (void)data;
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    g_autoptr(Query)
        query = query_start(fixture->store, &error,
                            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' "
                            "AND name NOT IN ('schema_migration', 'schema_least', 'last_key')",
                            NULL, 0);
    g_auto(GStrv) there = query_texts(query, &error);
    g_assert_no_error(error);
    for (char **table = there; *table; table++)
        if (!g_strv_contains(store_copy_tables, *table))
            g_error("store_copy() leaves out the table %s", *table);
    g_assert_cmpuint(g_strv_length(there), ==, g_strv_length((char **)store_copy_tables));
}

SUITE("copy")
{
    g_test_init(&argc, &argv, NULL);
    TEST("/copy/whole", test_copy);
    TEST("/copy/refused", test_refused);
    TEST("/copy/tables", test_tables);
    return g_test_run();
}
