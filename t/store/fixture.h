/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A store in a temporary directory, for each test its own.
 */
#include <glib.h>
#include <glib/gstdio.h>

#include "base/fail.h"
#include "store/store.h"

typedef struct Fixture {
    char *directory, *path;
    Store *store;
} Fixture;

#define assert_failed(code, error) \
    do { \
        g_assert_error(error, FAIL, code); \
        g_clear_error(&(error)); \
    } while (0)

#define assert_ok(call, error) \
    do { \
        bool done_ = (call); \
        g_assert_no_error(error); \
        g_assert_true(done_); \
    } while (0)

static inline void fixture_open(Fixture *fixture, const void *data)
{
    (void)data;
    GError *error = NULL;
    fixture->directory = g_dir_make_tmp("store-XXXXXX", &error);
    g_assert_no_error(error);
    fixture->path = g_build_filename(fixture->directory, "t.db", NULL);
    fixture->store = store_open("sqlite", fixture->path, true, &error);
    g_assert_no_error(error);
    g_assert_nonnull(fixture->store);
}

/* With the domain example.com and the list test@example.com. */
static inline void fixture_open_list(Fixture *fixture, const void *data)
{
    fixture_open(fixture, data);
    GError *error = NULL;
    assert_ok(domain_create(fixture->store, "example.com", NULL, &error), error);
    g_autoptr(List) list = list_create(fixture->store, "test@example.com", "discussion", &error);
    g_assert_no_error(error);
}

static inline void fixture_close(Fixture *fixture, const void *data)
{
    (void)data;
    store_free(fixture->store);
    g_autoptr(GDir) directory = g_dir_open(fixture->directory, 0, NULL);
    for (const char *name; (name = g_dir_read_name(directory));) {
        g_autofree char *path = g_build_filename(fixture->directory, name, NULL);
        g_remove(path);
    }
    g_rmdir(fixture->directory);
    g_free(fixture->path);
    g_free(fixture->directory);
}

#define TEST(path, function) g_test_add(path, Fixture, NULL, fixture_open, function, fixture_close)
#define TEST_WITH_LIST(path, function) g_test_add(path, Fixture, NULL, fixture_open_list, function, fixture_close)
