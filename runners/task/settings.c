/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The runner task, section [task]. */
#include "base/config_table.h"

#include <stdio.h>
#include <string.h>

#include "base/config_check.h"

/* clang-format off */
static const ConfigKey keys[] = {
    {"reminder_time", STRING("08:00"),
     .about = "The time of day, as the clock of this host has it, at which the owners and moderators of each list are "
      "reminded of the posts and requests that wait for them; never: they are not."},
    {"source_directories", LIST(CONFIG_STATE "/lib/listrunner/sources"),
     .about = "Whole paths of directories. Files, SQLite databases and password files of sources (listrunner list "
      "source) lie below one of them, links followed; from another place they are not read.",
     .more = "No other runner can read these directories while [master] confine is yes. Keep in them what sources need "
      "and nothing else: none of them may hold the configuration, or a file or directory of another setting. Files of "
      "certificates that the URL of a source names lie there, too, unless they are in /etc/ssl or /usr.",
     .example = "/var/lib/listrunner/sources, /srv/people", .opens = "task"},
    {.name = NULL},
};

static const ConfigTable tables[] = {
    {"task", .about = "The timer.", .keys = keys},
    {.section = NULL},
};

static const ConfigMember members[] = {
    {"runner.task",
     .about = "Without it nobody is reminded, nothing expires, no digest is sent by time, mail that a change "
       "left after a fault waits for the next start of a runner, and each held post is a mail of its own to the "
       "moderators.", .readers = "*"},
    {.section = NULL},
};
/* clang-format on */

static void check_time(const ConfigCheck *check)
{
    unsigned hour, minute;
    char end;
    const ConfigValue *time = config_usable(check, "task", "reminder_time");
    if (time && !g_str_equal(time->text, "never") &&
        (sscanf(time->text, "%2u:%2u%c", &hour, &minute, &end) != 2 || hour > 23 || minute > 59))
        config_complain(check, "task", "reminder_time", "found \"%s\"; allowed is a time from 00:00 to 23:59, or never",
                        time->text);
}

/* Is path the directory itself, or below it? */
static bool is_within(const char *path, const char *directory)
{
    size_t length = strlen(directory);
    return strncmp(path, directory, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* Tell whether the other runners need the directory. */
static bool belongs_to_system(const char *directory)
{
    static const char *const exactly[] = {"/", "/etc", "/etc/ssl", "/etc/ssl/certs", "/etc/pki", "/var"};
    static const char *const whole[] = {"/usr", "/lib", "/lib64", "/proc", "/sys", "/dev"};
    for (size_t at = 0; at < G_N_ELEMENTS(exactly); at++)
        if (strcmp(directory, exactly[at]) == 0)
            return true;
    for (size_t at = 0; at < G_N_ELEMENTS(whole); at++)
        if (is_within(directory, whole[at]))
            return true;
    return false;
}

/* Complain of each path of another setting that is the directory or in it. */
static void check_apart(const ConfigCheck *check, const char *directory)
{
    g_autofree const char **sections = config_sections(check->config);
    const char *own = config_path(check->config);
    const ConfigTable *table;
    if (own && is_within(own, directory))
        config_complain(check, "task", "source_directories",
                        "%s has the configuration in it; give sources a directory of their own", directory);
    for (unsigned at = 0; (table = config_table(at)); at++)
        for (const char **section = sections; *section; section++)
            for (const ConfigKey *key = config_table_covers(table, *section) ? table->keys : NULL; key && key->name;
                 key++) {
                const ConfigValue *value = key->type == CONFIG_PATH ? config_usable(check, *section, key->name) : NULL;
                if (value && value->text && is_within(value->text, directory))
                    config_complain(check, "task", "source_directories",
                                    "%s has %s in it, the %s of [%s]; give sources a directory of their own", directory,
                                    value->text, key->name, *section);
            }
}

static void check_directories(const ConfigCheck *check)
{
    const ConfigValue *value = config_usable(check, "task", "source_directories");
    g_autofree char *usual = config_default("task", "source_directories"); /* below /usr/local, perhaps */
    for (char **word = value ? value->words : NULL; word && *word; word++) {
        g_autofree char *plain = **word == '/' ? g_canonicalize_filename(*word, "/") : NULL;
        if (!plain)
            config_complain(check, "task", "source_directories",
                            "found \"%s\"; allowed are whole paths of directories, from / on", *word);
        else if (strcmp(plain, usual) != 0 && belongs_to_system(plain))
            config_complain(check, "task", "source_directories",
                            "%s belongs to the system; give sources a directory of their own", *word);
        else
            check_apart(check, plain);
    }
}

static void check(const ConfigCheck *check)
{
    check_time(check);
    check_directories(check);
}

const ConfigSettings task_settings = {.tables = tables, .members = members, .check = check};
