/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* A file system that has shut down syncs nothing more, and each sync must say so. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"
#include "base/fs.h"

#define GOING_DOWN _IOR('X', 125, uint32_t) /* XFS_IOC_GOINGDOWN, of ext4 too */
#define WITHOUT_LOG 2
#define IMAGE_OCTETS (300 << 20) /* mkfs.xfs makes none that is smaller */

static int down_fd = -1; /* of a directory whose fsync() succeeds, though its file system has shut down */

/* In place of the library's. */
int fstat(int fd, struct stat *status)
{
    if (fd != down_fd)
        return (int)syscall(SYS_newfstatat, fd, "", status, AT_EMPTY_PATH);
    errno = EIO;
    return -1;
}

static void assert_down(int dir)
{
    g_autoptr(GError) error = NULL;
    g_assert_false(fs_sync_dir(dir, &error));
    g_assert_error(error, FAIL, FAIL_LATER);
    g_assert_nonnull(strstr(error->message, g_strerror(EIO)));
}

/* Each member tells for itself. */
static void assert_down_in_group(int dir, int other)
{
    FsSync group[] = {{.fd = other, .directory = true}, {.fd = dir, .directory = true}};
    g_assert_false(fs_sync_group(group, G_N_ELEMENTS(group), NULL));
    g_assert_cmpint(group[0].result, ==, 0);
    g_assert_cmpint(group[1].result, ==, EIO);
}

static void test_told_by_fstat(void)
{
    auto_fd dir = open(g_get_tmp_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    auto_fd other = open(g_get_tmp_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    g_assert_true(fs_sync_dir(dir, NULL));
    down_fd = dir;
    assert_down(dir);
    assert_down_in_group(dir, other);
    down_fd = -1;
}

static bool run(const char *program, const char *first, const char *second, const char *third)
{
    const char *const words[] = {program, first, second, third, NULL};
    int status = 1;
    return g_spawn_sync(NULL, (char **)words, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL |
                        G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, NULL, &status, NULL) && status == 0;
}

/* A file system of that kind, at path and in path.image; false: there cannot be one here. */
static bool mount_one(const char *kind, const char *path, const char *image)
{
    g_autofree char *make = g_strconcat("mkfs.", kind, NULL);
    auto_fd fd = open(image, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    return getuid() == 0 && ftruncate(fd, IMAGE_OCTETS) == 0 && run(make, "-q", image, NULL) &&
           run("mount", "-oloop", image, path);
}

static void test_real(gconstpointer kind)
{
    g_autofree char *path = g_dir_make_tmp("shutdown-XXXXXX", NULL), *image = g_strconcat(path, ".image", NULL);
    bool mounted = mount_one(kind, path, image);
    unlink(image);
    if (mounted) {
        auto_fd dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        auto_fd other = open(g_get_tmp_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        auto_fd file = fs_create(dir, "file", NULL);
        g_assert_cmpint(umount2(path, MNT_DETACH), ==, 0); /* it ends with what is open */
        g_assert_true(fs_sync_dir(dir, NULL));
        g_assert_cmpint(ioctl(dir, GOING_DOWN, &(uint32_t){WITHOUT_LOG}), ==, 0);
        assert_down(dir);
        assert_down_in_group(dir, other);
        g_assert_false(fs_sync_file(file, NULL));
    } else {
        g_test_skip("no such file system can be mounted here");
    }
    g_assert_cmpint(rmdir(path), ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/fs-shutdown/told by fstat", test_told_by_fstat);
    g_test_add_data_func("/fs-shutdown/xfs", "xfs", test_real);
    g_test_add_data_func("/fs-shutdown/ext4", "ext4", test_real);
    return g_test_run();
}
