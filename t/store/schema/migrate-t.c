/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Steps of the schema. This program is one of a later version: beside the steps of today it knows that of
 * t/store/002-later.sql. What a program of today knows is known_today[]. */
#include "store/schema/migrate.h"

#include <string.h>

#include "store/maintain.h"
#include "store/store_internal.h"
#include "t/store/fixture.h"

static Migration known_today[2]; /* ended by number 0 */

static int64_t schema_of(const char *where)
{
    GError *error = NULL;
    g_auto(StoreReport) report = {0};
    assert_ok(store_check(fixture_driver(), where, false, &report, &error), error);
    return report.schema;
}

/* Open a database as a program of today does. */
static Store *open_today(const char *where, bool create, GError **error)
{
    return store_open_by(store_driver_find(fixture_driver(), NULL), where, create, known_today, error);
}

/* Return the place of a database that a program of today made, with a list in it; g_free(). */
static char *made_today(Fixture *fixture)
{
    GError *error = NULL;
    char *where = fixture_where(fixture->directory, "today");
    g_autoptr(Store) store = open_today(where, true, &error);
    g_assert_no_error(error);
    assert_ok(domain_create(store, "example.com", NULL, &error), error);
    list_free(list_create(store, "test@example.com", &error));
    g_assert_no_error(error);
    return where;
}

static int64_t number_of(Store *store, const char *sql)
{
    GError *error = NULL;
    g_autoptr(Query) query = query_start(store, &error, sql, NULL, 0);
    g_assert_no_error(error);
    g_assert_cmpint(query_step(query, &error), ==, STEP_ROW);
    return query_integer(query, 0);
}

/* A database of an older program is refused to those who would use it, and not changed; it can be opened for a copy,
 * and is brought up to date for who asks for that, with all that is in it. */
static void test_older(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_autofree char *where = made_today(fixture);
    for (int times = 0; times < 2; times++) {
        g_assert_null(store_open(fixture_driver(), where, false, &error));
        g_assert_nonnull(strstr(error->message, "has schema 1, and this program wants 2"));
        assert_failed(FAIL_CONFIG, error);
        store_free(store_open_older(fixture_driver(), where, false, &error));
        g_assert_no_error(error);
        g_assert_cmpint(schema_of(where), ==, 1);
    }
    store_free(store_open_older(fixture_driver(), where, true, &error));
    g_assert_no_error(error);
    g_assert_cmpint(schema_of(where), ==, 2);
    g_autoptr(Store) usual = store_open(fixture_driver(), where, false, &error);
    g_assert_no_error(error);
    g_assert_true(fixture_has_domain(usual, "example.com"));
    g_assert_cmpint(number_of(usual, "SELECT posts FROM later"), ==, 1); /* the next one's number */
}

/* So it is with who asks for a new database where an older one is. */
static void test_older_created(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_autofree char *where = made_today(fixture);
    g_autoptr(Store) store = store_open(fixture_driver(), where, true, &error);
    g_assert_no_error(error);
    g_assert_true(fixture_has_domain(store, "example.com"));
    g_assert_cmpint(schema_of(where), ==, 2);
}

/* A program of today works on the later schema, which says that it may, and refuses it when it says nothing. */
static void test_later(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_autoptr(Store) today = open_today(fixture->path, false, &error);
    g_assert_no_error(error);
    assert_ok(domain_create(today, "example.com", NULL, &error), error);
    list_free(list_create(today, "test@example.com", &error));
    g_assert_no_error(error);
    g_assert_cmpint(schema_of(fixture->path), ==, 2);
    assert_ok(store_script(today, "DELETE FROM schema_least", &error), error);
    g_assert_null(open_today(fixture->path, false, &error));
    g_assert_nonnull(strstr(error->message, "has schema 2, but this program knows only up to 1"));
    assert_failed(FAIL_CONFIG, error);
}

static const Migration step_one[] = {
    {1, "one", "CREATE TABLE one (x @integer@) @table@;"},
    {0, NULL, NULL},
};
static const Migration broken[] = {
    {1, "one", "CREATE TABLE one (x @integer@) @table@;"},
    {2, "two", "INSERT INTO one (x) VALUES (1); INSERT INTO nowhere (x) VALUES (1);"},
    {0, NULL, NULL},
};
static const Migration mended[] = {
    {1, "one", "this is never run again"},
    {2, "two", "INSERT INTO one (x) VALUES (2);"},
    {3, "three", "CREATE TABLE three (x @text@ NOT NULL PRIMARY KEY) @clustered@;"},
    {0, NULL, NULL},
};

/* A step that fails leaves nothing half done. An empty database gets all steps or none, one in use each that works. */
static void test_step_fails(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    const StoreDriver *driver = store_driver_find(fixture_driver(), NULL);
    g_autofree char *where = fixture_where(fixture->directory, "steps");
    for (unsigned in_use = 0; in_use <= 1; in_use++) {
        g_assert_null(store_open_by(driver, where, true, broken, &error));
        g_assert_nonnull(strstr(error->message, "002-two"));
        g_clear_error(&error);
        store_free(store_open_by(driver, where, true, step_one, &error));
        g_assert_no_error(error);
    }
    store_free(store_open_by(driver, where, true, mended, &error));
    g_assert_no_error(error);
    g_autoptr(Store) store = store_open_by(driver, where, true, mended, &error);
    g_assert_no_error(error);
    g_assert_cmpint(number_of(store, "SELECT 10 * count(x) + max(x) FROM one"), ==, 12);
}

int main(int argc, char **argv)
{
    known_today[0] = migrations[0];
    g_assert_cmpint(migrations[0].number, ==, 1);
    g_assert_cmpint(migrations[1].number, ==, 2);
    g_assert_cmpint(migrations[2].number, ==, 0);
    g_test_init(&argc, &argv, NULL);
    TEST("/migrate/older", test_older);
    TEST("/migrate/older-created", test_older_created);
    TEST("/migrate/later", test_later);
    TEST("/migrate/step-fails", test_step_fails);
    return g_test_run();
}
