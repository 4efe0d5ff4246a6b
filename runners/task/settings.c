/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The runner task, section [task]. */
#include "base/config_table.h"

#include <stdio.h>

#include "base/config_check.h"

/* clang-format off */
static const ConfigKey keys[] = {
    {"reminder_time", STRING("08:00"),
     .about = "The time of day, as the clock of this host has it, at which the owners and moderators of each list are "
      "reminded of the posts and requests that wait for them; never: they are not."},
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

static void check(const ConfigCheck *check)
{
    unsigned hour, minute;
    char end;
    const ConfigValue *time = config_usable(check, "task", "reminder_time");
    if (time && !g_str_equal(time->text, "never") &&
        (sscanf(time->text, "%2u:%2u%c", &hour, &minute, &end) != 2 || hour > 23 || minute > 59))
        config_complain(check, "task", "reminder_time", "found \"%s\"; allowed is a time from 00:00 to 23:59, or never",
                        time->text);
}

const ConfigSettings task_settings = {.tables = tables, .members = members, .check = check};
