/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>
#include <unistd.h>

#include "store/store.h"
#include "t/store/fixture.h"

static bool is_domain(Store *store, const char *name)
{
    GError *error = NULL;
    g_autoptr(GPtrArray) domains = domain_all(store, &error);
    g_assert_no_error(error);
    for (unsigned i = 0; i < domains->len; i++)
        if (strcmp(((Domain *)domains->pdata[i])->mail_host, name) == 0)
            return true;
    return false;
}

/* What is synced for the store is where its commits are: the database as it was,
 * with a copy of that file as its log, has them. */
static void test_leave_sync(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    int fd = -1;
    assert_ok(store_leave_sync(fixture->store, &fd, &error), error);
    g_assert_cmpint(fd, >=, 0);
    g_autofree char *copy = g_build_filename(fixture->directory, "copy.db", NULL);
    g_autofree char *copy_log = g_strconcat(copy, "-wal", NULL);
    g_autofree char *octets = NULL;
    size_t length;
    g_assert_true(g_file_get_contents(fixture->path, &octets, &length, NULL));
    g_assert_true(g_file_set_contents(copy, octets, (gssize)length, NULL));
    assert_ok(domain_create(fixture->store, "later.example.com", NULL, &error), error);
    off_t size = lseek(fd, 0, SEEK_END);
    g_autofree char *log = g_malloc((size_t)size);
    g_assert_cmpint(pread(fd, log, (size_t)size, 0), ==, size);
    g_assert_true(g_file_set_contents(copy_log, log, size, NULL));
    g_autoptr(Store) restored = store_open("sqlite", copy, false, &error);
    g_assert_no_error(error);
    g_assert_true(is_domain(restored, "later.example.com"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    TEST("/store/leave-sync", test_leave_sync);
    return g_test_run();
}
