/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The runner mta, and the files of addresses for an MTA: section [mta]. */
#include "base/config_table.h"

#include "base/config_check.h"

/* clang-format off */
static const ConfigKey keys[] = {
    {"max_sessions", INTEGER("1000", 1, 65536, "connections"),
     .about = "Connections at one time in each instance; further clients wait until there is room."},
    {"command_timeout", DURATION("10m", SECOND, DAY),
     .about = "How long a client may be silent."},
    {"session_timeout", DURATION("1d", SECOND, 7 * DAY),
     .about = "How long a connection may last in all."},
    {"transport", STRING("lmtp:[127.0.0.1]:8024"),
     .about = "How Postfix is to send the mail of the lists' domains: the value of the map transport.",
     .readers = "task"},
    {"maps_directory", PATH(NULL),
     .about = "The directory of files with the addresses of all lists, for an MTA that cannot ask the runner mta. The "
      "runner task writes them anew whenever a list or a domain changes. Unset: there are none.",
     .example = "/var/lib/listrunner/mta", .readers = "task rest", .writes = "task"},
    {"maps_format", CHOICE("postfix", "postfix|exim"),
     .about = "For which MTA these files are.", .readers = "task"},
    {"maps_command", STRING(NULL),
     .about = "A program that is run when they were written, with its arguments and the names of the files behind "
      "them; no shell is involved.",
     .example = "/usr/sbin/postmap", .readers = "task"},
    {.name = NULL},
};

static const ConfigTable tables[] = {
    {"mta", .about = "What the MTA in front is told about the lists.", .keys = keys},
    {.section = NULL},
};

static const ConfigMember members[] = {
    {"runner.mta",
     .about = "Answers Postfix, which asks which addresses there are (socketmap). It is not started unless "
      "start = yes.",
     .defaults = (const ConfigDefault[]){
         {"start", "no"}, {"queue", NULL}, {"listen", "127.0.0.1:8026"}, {NULL, NULL}}},
    {.section = NULL},
};
/* clang-format on */

static void check(const ConfigCheck *check)
{
    const ConfigValue *command = config_usable(check, "mta", "maps_command");
    g_auto(GStrv) words = NULL;
    if (command && (!g_shell_parse_argv(command->text, NULL, &words, NULL) || *words[0] != '/'))
        config_complain(check, "mta", "maps_command", "found \"%s\"; allowed is the absolute path of a program and "
                        "its arguments", command->text);
    if (!check->offline)
        config_check_no_file(check, "mta", "maps_directory");
}

static char *program(const Config *config, const char *runner)
{
    bool runs = config_string(config, "mta", "maps_directory") && config_string(config, "mta", "maps_command");
    return runs && g_str_equal(runner, "task") ? g_strdup("[mta] maps_command") : NULL;
}

const ConfigSettings mta_settings = {.program = program, .tables = tables, .members = members, .check = check};
