/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Whether a database is there, the one that was opened, and sound; copies of it. */
#include "store/maintain.h"
#include "store/posts/held.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "t/store/fixture.h"
#include "t/suite.h"

/* Check that a file that is there but holds nothing is as good as missing: only a caller who asks for a new database
 * gets one. */
static void test_open_empty(Fixture *fixture, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    struct stat status;
    g_autofree char *path = g_build_filename(fixture->directory, "empty.db", NULL);
    g_assert_true(g_file_set_contents(path, "", 0, NULL));
    g_assert_null(store_open(fixture_driver(), path, false, &error));
    g_assert_nonnull(strstr(error->message, "listrunner store create"));
    assert_failed(FAIL_MISSING, error);
    g_assert_false(store_find("sqlite", path, &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_cmpint(stat(path, &status), ==, 0);
    g_assert_cmpint(status.st_size, ==, 0);
    g_autoptr(Store) store = store_open(fixture_driver(), path, true, &error);
    g_assert_no_error(error);
}

static int64_t size_of(Fixture *fixture)
{
    struct stat status;
    g_assert_cmpint(stat(fixture->path, &status), ==, 0);
    return status.st_size;
}

static void hold_many(Fixture *fixture)
{
    GError *error = NULL;
    g_autofree char *octets = g_malloc0(100000);
    g_autoptr(GBytes) message = g_bytes_new(octets, 100000);
    int64_t numbers[300];
    assert_ok(store_begin(fixture->store, &error), error);
    for (size_t at = 0; at < G_N_ELEMENTS(numbers); at++) {
        Held held = {.list_id = (char *)"test.example.com", .sender = (char *)"eve@example.net", .message = message};
        assert_ok(held_add(fixture->store, &held, &error), error);
        numbers[at] = held.number;
    }
    assert_ok(store_commit(fixture->store, &error), error);
    for (size_t at = 0; at < G_N_ELEMENTS(numbers); at++)
        assert_ok(held_remove(fixture->store, numbers[at], &error), error);
}

static void count_turn(void *data)
{
    ++*(int *)data;
}

/* Check that the space that a flood of mail took is given back, but for a little. */
static void test_give_back(Fixture *fixture, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    int64_t before = size_of(fixture);
    hold_many(fixture);
    g_assert_cmpint(size_of(fixture), >, 25000000);
    int turns = 0;
    assert_ok(store_give_back(fixture->store, count_turn, &turns, &error), error);
    g_assert_cmpint(turns, >, 1);
    g_assert_cmpint(size_of(fixture), <, before + 2000000);
    assert_ok(store_give_back(fixture->store, count_turn, &turns, &error), error);
}

static void test_present(Fixture *fixture, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    g_autofree char *aside = g_build_filename(fixture->directory, "aside.db", NULL);
    assert_ok(store_present(fixture->store, &error), error);
    g_assert_cmpint(rename(fixture->path, aside), ==, 0);
    g_assert_false(store_present(fixture->store, &error));
    assert_failed(FAIL_LATER, error);
    g_assert_true(g_file_set_contents(fixture->path, "another", -1, NULL));
    g_assert_false(store_present(fixture->store, &error));
    assert_failed(FAIL_LATER, error);
    g_assert_cmpint(rename(aside, fixture->path), ==, 0);
    assert_ok(store_present(fixture->store, &error), error);
}

static void test_check(Fixture *fixture, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    g_auto(StoreReport) sound = {0}, damaged = {0};
    for (int i = 0; i < 500; i++) {
        g_autofree char *name = g_strdup_printf("domain%d.example.com", i);
        assert_ok(store_begin(fixture->store, &error), error);
        assert_ok(domain_create(fixture->store, name, NULL, &error), error);
        assert_ok(store_commit(fixture->store, &error), error);
    }
    g_clear_pointer(&fixture->store, store_free); /* the last one out empties the log */
    assert_ok(store_check("sqlite", fixture->path, true, &sound, &error), error);
    g_assert_cmpuint(sound.faults->len, ==, 0);
    g_assert_cmpint(sound.schema, >, 0);
    g_assert_cmpint(sound.schema, ==, sound.newest);

    g_autofree char *octets = NULL;
    size_t length;
    g_assert_true(g_file_get_contents(fixture->path, &octets, &length, NULL));
    memset(octets + length - 4096, 0xa5, 4096);
    g_assert_true(g_file_set_contents(fixture->path, octets, (gssize)length, NULL));
    assert_ok(store_check("sqlite", fixture->path, true, &damaged, &error), error);
    g_assert_cmpuint(damaged.faults->len, >, 0);
}

static void test_backup(Fixture *fixture, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    g_autofree char *path = g_build_filename(fixture->directory, "copy.db", NULL);
    g_autofree char *nowhere = g_build_filename(fixture->directory, "none", "copy.db", NULL);
    assert_ok(domain_create(fixture->store, "example.com", NULL, &error), error);
    assert_ok(store_backup(fixture->store, path, &error), error);
    g_assert_false(store_backup(fixture->store, path, &error));
    assert_failed(FAIL_EXISTS, error);
    g_assert_false(store_backup(fixture->store, nowhere, &error));
    assert_failed(FAIL_LATER, error);
    g_autoptr(Store) copy = store_open(fixture_driver(), path, false, &error);
    g_assert_no_error(error);
    g_autoptr(GPtrArray) domains = domain_all(copy, &error);
    g_assert_cmpuint(domains->len, ==, 1);
}

SUITE("maintain")
{
    g_test_init(&argc, &argv, NULL);
    TEST("/maintain/empty", test_open_empty);
    TEST("/maintain/present", test_present);
    TEST_WITH_LIST("/maintain/room is given back", test_give_back);
    TEST("/maintain/check", test_check);
    TEST("/maintain/backup", test_backup);
    return g_test_run();
}
