/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/child.h"

#include <glib/gstdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"
#include "base/fs.h"

/* A file that may not grow is a fault like a full disk, not the end: the entry would be blamed for the deaths. */
static void test_file_size(void)
{
    g_autoptr(GError) error = NULL;
    g_assert_nonnull(child_init("test", &error));
    g_assert_no_error(error);
    g_autofree char *path = NULL;
    auto_fd fd = g_file_open_tmp("child-XXXXXX", &path, &error);
    g_assert_no_error(error);
    struct rlimit before;
    g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &before), ==, 0);
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &(struct rlimit){4, before.rlim_max}), ==, 0);
    bool written = fs_write(fd, "12345678", 8, &error);
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &before), ==, 0);
    g_assert_false(written);
    g_assert_error(error, FAIL, FAIL_LATER);
    g_assert_cmpint(g_unlink(path), ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/child/file-size", test_file_size);
    return g_test_run();
}
