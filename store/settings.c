/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The database: section [store]. */
#include "base/config_table.h"
#include "base/config_check.h"

#include <string.h>

/* clang-format off */
static const ConfigKey store_keys[] = {
    {"driver", CHOICE("sqlite", "sqlite|postgresql"),
     .about = "The database: a file of SQLite for one host, or a PostgreSQL server for any number."},
    {"path", PATH(CONFIG_STATE "/lib/listrunner/listrunner.db"),
     .about = "The database file of SQLite. Its directory must exist and belong to the user.",
     .more = "It is SQLite in its WAL mode, which the processes of one kernel can share (of a host, or of containers "
      "on it), but never hosts: it must not lie on NFS or another network file system."},
    {"url", STRING(NULL),
     .about = "Where PostgreSQL is, as libpq reads it, without a password: "
      "postgresql://listrunner@db1,db2/listrunner?sslmode=verify-full.",
     .more = "The database has the encoding UTF8. The first schema of the role's search_path is made when it is "
      "missing and belongs to Listrunner alone; the role needs no other rights. Of several hosts the one that takes "
      "writes is used (target_session_attrs).",
     .example = "postgresql://listrunner@db.example.com/listrunner"},
    {"password_file", PATH(NULL),
     .about = "A file whose first line is the password for PostgreSQL. Without it, libpq looks into .pgpass.",
     .more = "Nobody but root and the user of [site] may read it.",
     .example = "/etc/listrunner/database.password", .opens = "*"},
    {"remember", DURATION("30d", DAY, 3650 * DAY),
     .about = "How long the Message-IDs of posts are kept, by which a post that comes again is known, and the "
      "records of work that was done, by which none is done twice. It is at least a day longer than [out] "
      "maximal_queue_lifetime, whatever is set here."},
    {.name = NULL},
};

static const ConfigTable tables[] = {
    {"store", .about = "The database of lists and members.", .keys = store_keys, .readers = "*"},
    {.section = NULL},
};

/* clang-format on */

/* Refuse a password in the address: whoever may read the configuration could read it, too. */
static void check_url(const ConfigCheck *check)
{
    const ConfigValue *url = config_usable(check, "store", "url");
    if (config_unset(check, "store", "url"))
        config_complain(check, "store", "driver", "found postgresql without url; allowed is postgresql with it");
    else if (url && (strstr(url->text, "password=") || g_regex_match_simple("://[^/?@]*:[^/?]*@", url->text, 0, 0)))
        config_complain(check, "store", "url", "found a password in it; write it into a file, and name that in "
                        "password_file");
    config_check_secret(check, "store", "password_file");
}

static void check(const ConfigCheck *check)
{
    const ConfigValue *driver = config_usable(check, "store", "driver");
    if (!driver)
        return;
    if (strcmp(driver->text, "postgresql") == 0) {
        check_url(check);
        return;
    }
    const ConfigValue *path = check->offline ? NULL : config_usable(check, "store", "path");
    g_autofree char *above = path ? g_path_get_dirname(path->text) : NULL;
    if (above)
        config_check_directory(check, "store", "path", above);
}

/* Settings for PostgreSQL of a site that uses SQLite all the same. */
static void doubt(const Config *config, GString *lines)
{
    if (config_string(config, "store", "url") && strcmp(config_string(config, "store", "driver"), "sqlite") == 0)
        g_string_append_printf(lines,
                               "%s[store] url: it counts only with driver = postgresql, and driver is sqlite: the "
                               "database is the file %s",
                               lines->len ? "\n" : "", config_string(config, "store", "path"));
}

const ConfigSettings store_settings = {.tables = tables, .check = check, .doubt = doubt};
