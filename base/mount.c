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

/* Whether the file system of this line is btrfs that keeps a log tree. */
static bool has_tree_log(char *const *fields)
{
    while (*fields && !g_str_equal(*fields, "-"))
        fields++;
    if (g_strv_length((char **)fields) < 4 || !g_str_equal(fields[1], "btrfs"))
        return false;
    g_auto(GStrv) options = g_strsplit(fields[3], ",", -1);
    return !g_strv_contains((const char *const *)options, "notreelog");
}

char *mount_fault_in(const char *mountinfo, uint64_t mount, const char *path)
{
    g_auto(GStrv) lines = g_strsplit(mountinfo, "\n", -1);
    for (char **line = lines; *line; line++) {
        g_auto(GStrv) fields = g_strsplit(*line, " ", -1);
        if (g_strv_length(fields) > FIXED_FIELDS && strtoull(fields[0], NULL, 10) == mount)
            return has_tree_log(fields + FIXED_FIELDS)
                       ? g_strdup_printf("%s is on btrfs that is mounted without notreelog: after a power cut, mail "
                                         "may be delivered twice; mount it with notreelog, or use ext4 or xfs", path)
                       : NULL;
    }
    return NULL;
}

char *mount_fault(const char *path)
{
    struct statx status;
    g_autofree char *mountinfo = NULL;
    if (statx(AT_FDCWD, path, 0, STATX_MNT_ID, &status) != 0 || !(status.stx_mask & STATX_MNT_ID) ||
        !g_file_get_contents("/proc/self/mountinfo", &mountinfo, NULL, NULL))
        return NULL;
    return mount_fault_in(mountinfo, status.stx_mnt_id, path);
}
