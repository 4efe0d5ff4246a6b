/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The runner host: section [host]. */
#include "base/config_table.h"

#include "base/config_check.h"

/* clang-format off */
static const ConfigKey keys[] = {
    {"lease", DURATION("15s", 10 * SECOND, 10 * MINUTE),
     .about = "How long the other hosts take this one for living when they hear nothing of it. It says that it lives "
      "three times as often.",
     .more = "What only one host does at a time (jobs of the timer) is taken over by another after that time."},
    {.name = NULL},
};

static const ConfigTable tables[] = {
    {"host", .about = "This host among several that share a database of PostgreSQL. Its name is hostname in [site].",
     .keys = keys},
    {.section = NULL},
};

static const ConfigMember members[] = {
    {"runner.host",
     .about = "Tells the other hosts that this one lives. It is started where [store] driver is postgresql.",
     .defaults = (const ConfigDefault[]){{"start", "{store.driver=postgresql}"}, {"queue", NULL}, {NULL, NULL}},
     .readers = "*"},
    {.section = NULL},
};
/* clang-format on */

static void check(const ConfigCheck *check)
{
    const ConfigValue *instances = config_usable(check, "runner.host", "instances");
    if (instances && !g_str_equal(instances->text, "1"))
        config_complain(check, "runner.host", "instances", "found %s; allowed is 1", instances->text);
}

const ConfigSettings host_settings = {.tables = tables, .members = members, .check = check};
