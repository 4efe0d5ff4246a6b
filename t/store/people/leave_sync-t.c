/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "store/outbox.h"
#include "store/store.h"
#include "t/store/fixture.h"
#include "t/suite.h"

/* The log whose writes and syncs are watched; 0: none is. */
static ino_t watched;
static unsigned writes; /* to it */
static bool unsynced;   /* it was written since it was synced */

static bool is_log(int fd)
{
    struct stat status;
    return watched && fstat(fd, &status) == 0 && status.st_ino == watched;
}

/* In place of the library's, for SQLite too. */
ssize_t pwrite(int fd, const void *data, size_t length, off_t offset)
{
    if (is_log(fd)) {
        writes++;
        unsynced = true;
    }
    return syscall(SYS_pwrite64, fd, data, length, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t length, off_t offset)
{
    return pwrite(fd, data, length, offset);
}

int fdatasync(int fd)
{
    unsynced = unsynced && !is_log(fd);
    return (int)syscall(SYS_fdatasync, fd);
}

int fsync(int fd)
{
    unsynced = unsynced && !is_log(fd);
    return (int)syscall(SYS_fsync, fd);
}

static void copy_file(const char *from, const char *to)
{
    g_autofree char *octets = NULL;
    size_t length;
    g_assert_true(g_file_get_contents(from, &octets, &length, NULL));
    g_assert_true(g_file_set_contents(to, octets, (gssize)length, NULL));
}

/* Check that a command, which does not leave the syncs to somebody else, has its commits on the disk when they
 * return. */
static void test_commits_are_synced(Fixture *fixture, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    struct stat status;
    g_autofree char *log = g_strconcat(fixture->path, "-wal", NULL);
    assert_ok(domain_create(fixture->store, "first.example.com", NULL, &error), error);
    g_assert_cmpint(stat(log, &status), ==, 0);
    watched = status.st_ino;
    assert_ok(domain_create(fixture->store, "second.example.com", NULL, &error), error);
    watched = 0;
    g_assert_cmpuint(writes, >, 0);
    g_assert_false(unsynced);
}

/* Check that the file synced for the store is the one that has its commits: the database as it was, with a copy of that
 * file as its log, has them. */
static void test_leave_sync(Fixture *fixture, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    int fd = -1;
    assert_ok(store_leave_sync(fixture->store, &fd, &error), error);
    g_assert_cmpint(fd, >=, 0);
    g_autofree char *copy = g_build_filename(fixture->directory, "copy.db", NULL);
    g_autofree char *copy_log = g_strconcat(copy, "-wal", NULL);
    copy_file(fixture->path, copy);
    assert_ok(domain_create(fixture->store, "later.example.com", NULL, &error), error);
    off_t size = lseek(fd, 0, SEEK_END);
    g_autofree char *log = g_malloc((size_t)size);
    g_assert_cmpint(pread(fd, log, (size_t)size, 0), ==, size);
    g_assert_true(g_file_set_contents(copy_log, log, size, NULL));
    g_autoptr(Store) restored = store_open(fixture_driver(), copy, false, &error);
    g_assert_no_error(error);
    g_assert_true(fixture_has_domain(restored, "later.example.com"));
}

/* A transaction that asks for it is on the disk when its commit returns, also here; the next one is not. */
static void test_durable(Fixture *fixture, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    int fd = -1;
    struct stat status;
    assert_ok(store_leave_sync(fixture->store, &fd, &error), error);
    g_assert_cmpint(fstat(fd, &status), ==, 0);
    watched = status.st_ino;
    assert_ok(domain_create(fixture->store, "unsynced.example.com", NULL, &error), error);
    g_assert_true(unsynced);
    assert_ok(store_begin_durable(fixture->store, &error), error);
    assert_ok(domain_create(fixture->store, "synced.example.com", NULL, &error), error);
    assert_ok(store_commit(fixture->store, &error), error);
    g_assert_false(unsynced);
    assert_ok(store_begin_durable(fixture->store, &error), error);
    store_rollback(fixture->store);
    assert_ok(domain_create(fixture->store, "later.example.com", NULL, &error), error);
    g_assert_true(unsynced);
    bool committed; /* the answer, too, whatever it is */
    for (int again = 0; again < 2; again++) {
        assert_ok(domain_create(fixture->store, again ? "d.example.com" : "e.example.com", NULL, &error), error);
        g_assert_true(unsynced);
        assert_ok(outbox_unit_decide(fixture->store, "", "0123", 1, &committed, &error), error);
        g_assert_false(unsynced);
    }
    watched = 0;
}

SUITE("leave_sync")
{
    g_test_init(&argc, &argv, NULL);
    TEST("/store/commits are synced", test_commits_are_synced);
    TEST("/store/leave-sync", test_leave_sync);
    TEST("/store/durable in spite of it", test_durable);
    return g_test_run();
}
