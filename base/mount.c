/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/mount.h"

#include <fcntl.h>
#include <glib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>

/* A line: identity, parent, device, root, mount point, options, optional fields, "-", type, source, options of
 * the file system. Fields hold no spaces (those of paths are \040). */
#define FIXED_FIELDS 6

/* The fields behind the "-", of which there are at least three: type, source, options; NULL: it is no such line. */
static char *const *file_system(char *const *fields)
{
    while (*fields && !g_str_equal(*fields, "-"))
        fields++;
    return *fields && g_strv_length((char **)fields) >= 4 ? fields + 1 : NULL;
}

static bool has_tree_log(char *const *system)
{
    g_auto(GStrv) options = g_strsplit(system[2], ",", -1);
    return g_str_equal(system[0], "btrfs") && !g_strv_contains((const char *const *)options, "notreelog");
}

static char *network_fault(char *const *system, const char *path)
{
    static const char *const network[] = {"nfs",        "nfs4",           "cifs",      "smb3", "9p",    "afs", "ceph",
                                          "fuse.sshfs", "fuse.glusterfs", "glusterfs", "gfs2", "ocfs2", NULL};
    if (!g_strv_contains(network, system[0]))
        return NULL;
    return g_strdup_printf("%s is on %s, which hosts share: what is said to be on the disk there may be lost, and one "
                           "host does not see what another does; use ext4 or xfs on a disk of this host",
                           path, system[0]);
}

static char *tree_log_fault(char *const *system, const char *path)
{
    if (!has_tree_log(system))
        return NULL;
    return g_strdup_printf("%s is on btrfs that is mounted without notreelog: after a power cut, mail may be delivered "
                           "twice; mount it with notreelog, or use ext4 or xfs", path);
}

char *mount_fault_in(const char *mountinfo, uint64_t mount, const char *path, bool network_only)
{
    g_auto(GStrv) lines = g_strsplit(mountinfo, "\n", -1);
    for (char **line = lines; *line; line++) {
        g_auto(GStrv) fields = g_strsplit(*line, " ", -1);
        if (g_strv_length(fields) <= FIXED_FIELDS || strtoull(fields[0], NULL, 10) != mount)
            continue;
        char *const *system = file_system(fields + FIXED_FIELDS);
        char *fault = system ? network_fault(system, path) : NULL;
        return fault || !system || network_only ? fault : tree_log_fault(system, path);
    }
    return NULL;
}

static char *look(const char *path, bool network_only)
{
    struct statx status;
    g_autofree char *mountinfo = NULL;
    if (statx(AT_FDCWD, path, 0, STATX_MNT_ID, &status) != 0 || !(status.stx_mask & STATX_MNT_ID) ||
        !g_file_get_contents("/proc/self/mountinfo", &mountinfo, NULL, NULL))
        return NULL;
    return mount_fault_in(mountinfo, status.stx_mnt_id, path, network_only);
}

char *mount_fault(const char *path)
{
    return look(path, false);
}

char *mount_network_fault(const char *path)
{
    return look(path, true);
}
