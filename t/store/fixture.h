/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Give each test an empty store. By default it is a file of SQLite in a temporary directory. LISTRUNNER_STORE names
 * another driver, and LISTRUNNER_STORE_WHERE its database for store_open(), in which "@" stands for a name that is new
 * for each test.
 */
#include <glib.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include "base/fail.h"
#include "store/hosts/host.h"
#include "store/lists/domain.h"
#include "store/lists/list.h"
#include "store/people/user.h"
#include "store/store.h"
#include "t/mailbox.h"

typedef struct Fixture {
    char *directory;
    char *path; /* where the database is, for store_open() */
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

static inline const char *fixture_driver(void)
{
    const char *driver = g_getenv("LISTRUNNER_STORE");
    return driver ? driver : "sqlite";
}

/* Return whether the driver is SQLite; else skip the test. It is for tests that look into SQLite's files or break them.
 */
static inline bool fixture_is_sqlite(void)
{
    bool sqlite = g_str_equal(fixture_driver(), "sqlite");
    if (!sqlite)
        g_test_skip("it is about SQLite");
    return sqlite;
}

/* Return the place, for store_open(), of a database of this test with this name; g_free(). */
static inline char *fixture_where(const char *directory, const char *name)
{
    const char *where = g_getenv("LISTRUNNER_STORE_WHERE");
    g_autofree char *base = g_path_get_basename(directory), *own = g_strdup_printf("%s-%s", base, name);
    g_autofree char *file = g_strconcat(name, ".db", NULL);
    g_auto(GStrv) parts = g_strsplit(where ? where : "", "@", -1);
    return where ? g_strjoinv(own, parts) : g_build_filename(directory, file, NULL);
}

/* Open one more connection to the test's database; store_free(). NULL: it failed, with *error set. */
static inline Store *fixture_connect(const Fixture *fixture, GError **error)
{
    return store_open(fixture_driver(), fixture->path, false, error);
}

/* Put an empty database of SQLite at the path. It is made once in a process and copied: to make one takes as long as a
 * test or longer. */
static inline void fixture_fill(const char *path)
{
    static char *octets;
    static gsize size;
    GError *error = NULL;
    if (!octets) {
        g_autofree char *first = g_strconcat(path, ".first", NULL);
        store_free(store_open("sqlite", first, true, &error));
        g_assert_no_error(error);
        g_assert_true(g_file_get_contents(first, &octets, &size, &error));
        g_unlink(first);
    }
    g_assert_true(g_file_set_contents(path, octets, (gssize)size, &error));
}

static inline void fixture_open(Fixture *fixture, const void *data)
{
    (void)data;
    static unsigned number;
    GError *error = NULL;
    /* A database of a server has the directory's name and outlives its test. GLib takes names from the microsecond, and
     * would take one of an earlier test again once in some dozen runs. */
    g_autofree char *template = g_strdup_printf("store-%ld-%u-XXXXXX", (long)getpid(), number++);
    fixture->directory = g_dir_make_tmp(template, &error);
    g_assert_no_error(error);
    fixture->path = fixture_where(fixture->directory, "t");
    if (g_str_equal(fixture_driver(), "sqlite"))
        fixture_fill(fixture->path);
    fixture->store = store_open(fixture_driver(), fixture->path, true, &error);
    g_assert_no_error(error);
    g_assert_nonnull(fixture->store);
}

/* Open a store as fixture_open() does, and make the domain example.com and the list test@example.com in it. */
static inline void fixture_open_list(Fixture *fixture, const void *data)
{
    fixture_open(fixture, data);
    GError *error = NULL;
    assert_ok(domain_create(fixture->store, "example.com", NULL, &error), error);
    g_autoptr(List) list = list_create(fixture->store, "test@example.com", &error);
    g_assert_no_error(error);
}

static inline bool fixture_has_domain(Store *store, const char *name)
{
    GError *error = NULL;
    g_autoptr(GPtrArray) domains = domain_all(store, &error);
    g_assert_no_error(error);
    for (unsigned i = 0; i < domains->len; i++)
        if (g_str_equal(((Domain *)domains->pdata[i])->mail_host, name))
            return true;
    return false;
}

/* Note that a host works here, with a lease; host_free(). */
static inline Host *fixture_host(Store *store, const char *name, const char *state, int64_t lease)
{
    GError *error = NULL;
    Host *host = g_new0(Host, 1);
    *host = (Host){.name = g_strdup(name),
                   .spool = g_strconcat("spool-", name, NULL),
                   .boot = g_strdup("boot"),
                   .version = g_strdup("1"),
                   .state = g_strdup(state)};
    assert_ok(host_next_epoch(store, &host->epoch, &error) && host_begin(store, host, lease, &error), error);
    return host;
}
/* Return the time at which the address was shown to be the person's own; 0: never, or it is not known. */
static inline int64_t fixture_verified_at(Store *store, const char *address)
{
    GError *error = NULL;
    g_autoptr(KnownAddress) known = NULL;
    assert_ok(address_look_up(store, mailbox_of(address), &known, &error), error);
    return known ? known->verified_at : 0;
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
