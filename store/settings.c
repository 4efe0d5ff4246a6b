/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The database: section [store]. */
#include "base/config_table.h"
#include "base/config_check.h"

/* clang-format off */
static const ConfigKey store_keys[] = {
    {"driver", CHOICE("sqlite", "sqlite"),
     .about = "The database."},
    {"path", PATH(CONFIG_STATE "/lib/listrunner/listrunner.db"),
     .about = "The database file. Its directory must exist and belong to the user.",
     .more = "It is SQLite in its WAL mode, which the processes of one kernel can share (of a host, or of containers "
      "on it), but never hosts: it must not lie on NFS or another network file system."},
    {"remember", DURATION("30d", DAY, 3650 * DAY),
     .about = "How long the Message-IDs of posts are kept, by which a post that comes again is known, and the "
      "records of work that was done, by which none is done twice."},
    {.name = NULL},
};

static const ConfigTable tables[] = {
    {"store", .about = "The database of lists and members.", .keys = store_keys, .readers = "*"},
    {.section = NULL},
};

/* clang-format on */

static void check(const ConfigCheck *check)
{
    const ConfigValue *path = check->offline ? NULL : config_usable(check, "store", "path");
    g_autofree char *above = path ? g_path_get_dirname(path->text) : NULL;
    if (above)
        config_check_directory(check, "store", "path", above);
}

const ConfigSettings store_settings = {.tables = tables, .check = check};
