/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/fs.h"
#include "t/suite.h"

#include <glib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char mountinfo[] =
    "21 1 0:19 / / rw,relatime shared:1 - ext4 /dev/vda rw,errors=remount-ro\n"
    "36 21 0:32 /spool /srv/mail\\040spool rw,noatime shared:7 master:1 - btrfs /dev/vdb rw,space_cache=v2,subvolid=9\n"
    "37 21 0:33 / /srv/safe rw,noatime - btrfs /dev/vdc rw,notreelog,space_cache=v2\n"
    "38 21 0:34 / /srv/odd rw,notreelog - btrfs /dev/vdd rw,notreelogs,xnotreelog\n"
    "136 21 0:35 / /srv/xfs rw - xfs /dev/vde rw,btrfs\n"
    "140 21 0:37 / /srv/net rw - nfs4 server:/x rw\n"
    "141 21 0:38 / /srv/win rw shared:3 - cifs //server/x rw\n"
    "137 21 0:36 / /srv/cut rw - btrfs";

static void test_mountinfo(void)
{
    static const struct {
        uint64_t mount;
        const char *fault; /* a word of it */
    } cases[] = {{21, NULL},  {36, "notreelog"}, {37, NULL}, {38, "notreelog"}, {136, NULL},
                 {137, NULL}, {3, NULL},         {99, NULL}, {140, "nfs4"},     {141, "cifs"}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *said = mount_fault_in(mountinfo, cases[i].mount, "/spool", false);
        g_test_message("%u: %s", (unsigned)cases[i].mount, said ? said : "nothing");
        g_assert_true((said != NULL) == (cases[i].fault != NULL));
        g_assert_true(!said || (strstr(said, "/spool") && strstr(said, cases[i].fault)));
    }
}

static void test_nothing_known(void)
{
    g_autofree char *said = mount_fault("/proc");
    g_assert_null(said);
    g_assert_null(mount_fault("/nonexistent/directory"));
}

#define IMAGE_OCTETS (120 << 20)

/* A real btrfs, both ways. */
static void test_real(void)
{
    g_autofree char *place = g_dir_make_tmp("mount-XXXXXX", NULL);
    g_autofree char *make = g_strdup_printf("cd %s && truncate -s %d image && mkdir mnt && "
                                            "PATH=$PATH:/sbin:/usr/sbin && mkfs.btrfs -q image && "
                                            "mount -o loop image mnt",
                                            place, IMAGE_OCTETS);
    g_autofree char *again = g_strdup_printf("cd %s && umount mnt && mount -o loop,notreelog image mnt", place);
    g_autofree char *end = g_strdup_printf("cd %s && umount mnt; rm -r %s", place, place);
    g_autofree char *path = g_build_filename(place, "mnt", NULL);
    if (geteuid() != 0 || system(make) != 0) {
        g_test_skip("needs root, mkfs.btrfs and a loop device");
    } else {
        g_autofree char *fault = mount_fault(path);
        int remounted = system(again);
        g_autofree char *none = mount_fault(path);
        g_assert_cmpint(system(end), ==, 0);
        g_assert_nonnull(fault);
        g_assert_cmpint(remounted, ==, 0);
        g_assert_null(none);
        return;
    }
    g_assert_cmpint(system(end), >=, 0);
}

SUITE("mount")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mount/mountinfo", test_mountinfo);
    g_test_add_func("/mount/nothing known", test_nothing_known);
    g_test_add_func("/mount/real", test_real);
    return g_test_run();
}
