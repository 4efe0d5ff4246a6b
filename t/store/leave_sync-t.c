/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

/* A log on a disk that forgets: a sync that fails says so once, and what was to be synced is clean for the kernel. A
 * later one succeeds, and writes none of it. */
static struct {
    ino_t inode; /* of the log; 0: none is looked at */
    bool fails;
    GByteArray *dirty; /* of each octet whether it was written since the last sync */
    GByteArray *disk;
} lossy;

static bool is_log(int fd)
{
    struct stat status;
    return lossy.inode && fstat(fd, &status) == 0 && status.st_ino == lossy.inode;
}

/* In place of the library's, for SQLite too. */
ssize_t pwrite(int fd, const void *data, size_t length, off_t offset)
{
    guint end = (guint)offset + (guint)length;
    if (is_log(fd)) {
        while (lossy.dirty->len < end)
            g_byte_array_append(lossy.dirty, (const uint8_t[]){0}, 1);
        memset(lossy.dirty->data + offset, 1, length);
    }
    return syscall(SYS_pwrite64, fd, data, length, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t length, off_t offset)
{
    return pwrite(fd, data, length, offset);
}

int fdatasync(int fd)
{
    if (!is_log(fd))
        return (int)syscall(SYS_fdatasync, fd);
    uint8_t octet;
    for (guint i = 0; i < lossy.dirty->len; i++) {
        if (i >= lossy.disk->len)
            g_byte_array_append(lossy.disk, (const uint8_t[]){0}, 1);
        if (lossy.dirty->data[i] && !lossy.fails && pread(fd, &octet, 1, (off_t)i) == 1)
            lossy.disk->data[i] = octet;
        lossy.dirty->data[i] = 0;
    }
    errno = EIO;
    return lossy.fails ? -1 : 0;
}

int fsync(int fd)
{
    return is_log(fd) ? fdatasync(fd) : (int)syscall(SYS_fsync, fd);
}

static void look_at_log(ino_t inode)
{
    lossy.inode = inode;
    lossy.dirty = g_byte_array_new();
    lossy.disk = g_byte_array_new();
}

static void look_no_more(void)
{
    lossy.inode = 0;
    g_byte_array_unref(lossy.dirty);
    g_byte_array_unref(lossy.disk);
}

static void copy_file(const char *from, const char *to)
{
    g_autofree char *octets = NULL;
    size_t length;
    g_assert_true(g_file_get_contents(from, &octets, &length, NULL));
    g_assert_true(g_file_set_contents(to, octets, (gssize)length, NULL));
}

/* The sync of a commit failed, and who made it is gone; others have the database open. A commit that the next one finds
 * is on the disk when its own sync succeeded. */
static void test_after_failed_sync(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    int fd = -1;
    struct stat status;
    g_autofree char *copy = g_build_filename(fixture->directory, "copy.db", NULL);
    g_autofree char *copy_log = g_strconcat(copy, "-wal", NULL);
    assert_ok(domain_create(fixture->store, "durable.example.com", NULL, &error), error);
    assert_ok(store_leave_sync(fixture->store, &fd, &error), error);
    g_assert_cmpint(fstat(fd, &status), ==, 0);
    look_at_log(status.st_ino);
    g_byte_array_set_size(lossy.disk, (guint)status.st_size);
    g_assert_cmpint(pread(fd, lossy.disk->data, (size_t)status.st_size, 0), ==, status.st_size);
    copy_file(fixture->path, copy);
    assert_ok(domain_create(fixture->store, "forgotten.example.com", NULL, &error), error);
    lossy.fails = true;
    g_assert_cmpint(fdatasync(fd), ==, -1);
    lossy.fails = false;
    g_autoptr(Store) next = store_open("sqlite", fixture->path, false, &error);
    g_assert_no_error(error);
    assert_ok(store_leave_sync(next, &fd, &error), error);
    g_assert_true(is_domain(next, "forgotten.example.com"));
    assert_ok(domain_create(next, "later.example.com", NULL, &error), error);
    g_assert_cmpint(fdatasync(fd), ==, 0);
    g_assert_true(g_file_set_contents(copy_log, (const char *)lossy.disk->data, lossy.disk->len, NULL));
    look_no_more();
    g_autoptr(Store) restored = store_open("sqlite", copy, false, &error);
    g_assert_no_error(error);
    g_assert_true(is_domain(restored, "durable.example.com"));
    g_assert_true(is_domain(restored, "forgotten.example.com"));
    g_assert_true(is_domain(restored, "later.example.com"));
}

/* Who does not leave the syncs to somebody else, a command, has its commits on the disk when they return. */
static void test_commits_are_synced(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    struct stat status;
    g_autofree char *log = g_strconcat(fixture->path, "-wal", NULL);
    assert_ok(domain_create(fixture->store, "first.example.com", NULL, &error), error);
    g_assert_cmpint(stat(log, &status), ==, 0);
    look_at_log(status.st_ino);
    assert_ok(domain_create(fixture->store, "second.example.com", NULL, &error), error);
    g_assert_cmpuint(lossy.dirty->len, >, 0);
    g_assert_null(memchr(lossy.dirty->data, 1, lossy.dirty->len));
    look_no_more();
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
    copy_file(fixture->path, copy);
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
    TEST("/store/commits are synced", test_commits_are_synced);
    TEST("/store/leave-sync", test_leave_sync);
    TEST("/store/after a failed sync", test_after_failed_sync);
    return g_test_run();
}
