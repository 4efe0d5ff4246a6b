/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The queues: section [spool]. */
#include "base/config_table.h"

#include <sys/stat.h>

#include "base/config_check.h"

/* clang-format off */
static const ConfigKey spool_keys[] = {
    {"directory", PATH(CONFIG_STATE "/spool/listrunner"),
     .about = "The directory of all queues. It must exist, belong to the user, and be one file system with a "
      "journal.",
     .more = "It wants a journaled file system on a local disk: ext4 or xfs, or btrfs mounted with notreelog. With a "
      "btrfs without it, mail may be delivered twice after a power cut, and a file system that hosts share (NFS, CIFS) "
      "does not keep what is promised here; the master says so when it starts, and \"listrunner config check\" as "
      "well.", .writes = "*"},
    {"min_free", SIZE("100M", 0, 0),
     .about = "With less free space than this in the spool, LMTP answers 452 and takes no mail."},
    {"sync", CHOICE("fsync", "fsync|syncfs"),
     .about = "How a batch is made durable: one fsync a file, or one syncfs for all, which pays only where the "
      "spool has a file system of its own."},
    {"wakeup", CHOICE("inotify", "inotify|poll"),
     .about = "How runners learn of new entries. Where inotify is refused they poll in any case."},
    {"poll_interval", DURATION("1s", SECOND / 100, HOUR),
     .about = "How often a runner that polls looks."},
    {"tmp_lifetime", DURATION("36h", HOUR, 365 * DAY),
     .about = "When a file that its writer never finished is removed."},
    {"batch_limit", INTEGER("256", 1, 65536, "entries"),
     .about = "The most entries that a runner takes at once and makes durable together. It never waits for a batch "
      "to fill. One that uses the database ends a batch sooner, so that others need not wait: at 16 MiB of "
      "messages, or after a second."},
    {.name = NULL},
};

static const ConfigTable tables[] = {
    {"spool", .about = "Where the queues are.", .keys = spool_keys, .readers = "*"},
    {.section = NULL},
};

/* clang-format on */

static void check(const ConfigCheck *check)
{
    const ConfigValue *spool = config_usable(check, "spool", "directory");
    if (check->offline || !spool || !config_check_directory(check, "spool", "directory", spool->text))
        return;
    struct stat top;
    g_autoptr(GDir) directory = g_dir_open(spool->text, 0, NULL);
    if (!directory || stat(spool->text, &top) != 0)
        return; /* not ours to read; the runners say so when they open it */
    for (const char *name; (name = g_dir_read_name(directory));) {
        struct stat status;
        g_autofree char *path = g_build_filename(spool->text, name, NULL);
        if (stat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_dev != top.st_dev)
            config_complain(check, "spool", "directory", "found %s on another file system; allowed is one file system "
                            "for all queues", path);
    }
}

const ConfigSettings spool_settings = {.tables = tables, .check = check};
