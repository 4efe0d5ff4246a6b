/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The kernel tells of data that it could not write once, to whoever waits for it first: here that is the call before
 * the sync. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/fs.h"
#include "t/suite.h"

enum { COUNT = 5, LOST = 3 };

static int lost_fd = -1;
static int answer; /* what waiting for it fails with */
static unsigned told;

typedef int SyncRange(int fd, off64_t offset, off64_t length, unsigned flags);

/* In place of the kernel's. */
int sync_file_range(int fd, off64_t offset, off64_t length, unsigned flags)
{
    void *symbol = dlsym(RTLD_NEXT, "sync_file_range");
    SyncRange *real;
    memcpy(&real, &symbol, sizeof real);
    int result = real(fd, offset, length, flags);
    if (fd != lost_fd || !(flags & SYNC_FILE_RANGE_WAIT_AFTER))
        return result;
    told++;
    errno = answer;
    return -1;
}

static void make_files(FsSync *group)
{
    g_autoptr(GError) error = NULL;
    for (int i = 0; i < COUNT; i++) {
        g_autofree char *path = g_dir_make_tmp("lost-XXXXXX", &error);
        g_assert_no_error(error);
        int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        group[i] = (FsSync){.fd = fs_create(dir, "file", &error), .result = -1};
        g_assert_true(fs_write(group[i].fd, "x", 1, &error));
        g_assert_true(fs_unlink(dir, "file", &error));
        close(dir);
        g_assert_cmpint(rmdir(path), ==, 0);
    }
}

static void test_lost(void)
{
    FsSync group[COUNT];
    make_files(group);
    lost_fd = group[LOST].fd;
    answer = EIO;
    told = 0;
    g_autoptr(GError) error = NULL;
    g_assert_false(fs_sync_group(group, COUNT, &error));
    lost_fd = -1;
    g_assert_cmpuint(told, ==, 1);
    g_assert_error(error, FAIL, FAIL_LATER);
    for (int i = 0; i < COUNT; i++)
        g_assert_cmpint(group[i].result, ==, i == LOST ? EIO : 0);
    /* A failure that was told once is not told again, by either way. */
    g_assert_true(fs_sync_group(group, COUNT, NULL));
    g_assert_true(fs_sync_end(fs_sync_begin(group, COUNT), NULL, NULL));
    for (int i = 0; i < COUNT; i++) {
        g_assert_cmpint(group[i].result, ==, 0);
        close(group[i].fd);
    }
}

/* The sync alone decides where this call is not to be had. */
static void test_not_offered(void)
{
    FsSync group[COUNT];
    make_files(group);
    const int answers[] = {ENOSYS, EPERM, ESPIPE};
    for (size_t i = 0; i < G_N_ELEMENTS(answers); i++) {
        lost_fd = group[LOST].fd;
        answer = answers[i];
        told = 0;
        g_assert_true(fs_sync_group(group, COUNT, NULL));
        g_assert_cmpuint(told, ==, 1);
    }
    lost_fd = -1;
    for (int i = 0; i < COUNT; i++)
        close(group[i].fd);
}

SUITE("fs_lost")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/fs-lost/lost", test_lost);
    g_test_add_func("/fs-lost/not-offered", test_not_offered);
    return g_test_run();
}
