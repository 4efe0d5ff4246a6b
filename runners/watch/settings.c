/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The runner watch: section [watch]. */
#include "base/config_table.h"

#include <string.h>

#include "base/config_check.h"

/* clang-format off */
static const ConfigKey keys[] = {
    {"canary", STRING(NULL),
     .about = "A mail domain of the site. Mails go through the mail server to a list of this domain and back, one "
      "after the other, and one that does not come back is a fault.",
     .more = "The lists listrunner-canary and listrunner-canary-return are made for it.",
     .example = "lists.example.com"},
    {"interval", DURATION("5m", SECOND, DAY),
     .about = "How often such a mail is sent, when the one before is back. One that cannot be delivered for three "
      "times as long, and for patience, is dropped: the next ones tell more.",
     .readers = "out"},
    {"patience", DURATION("10m", SECOND, DAY), .about = "After how long it is missing.",
     .readers = "out rest"},
    {"command", STRING(NULL),
     .about = "A program, with its arguments, that is run once for each fault and once when it is gone. It gets two "
      "more arguments, \"fault\" or \"gone\" and a name of the fault, and what there is to say on standard input.",
     .example = "/usr/local/sbin/call-the-operator"},
    {"url", STRING(NULL),
     .about = "An address that begins with http, to which the same is sent as JSON, by POST.",
     .example = "https://alarms.example.org/listrunner"},
    {"look", DURATION("1m", SECOND, HOUR), .about = "How often watch looks for faults."},
    {"after", DURATION("2m", 0, DAY), .about = "How long a fault must last before it is told."},
    {.name = NULL},
};

static const ConfigTable tables[] = {
    {"watch", .about = "How the operator is told of faults, by a way that does not need this server's mail, and how "
      "the way of the mail is watched.", .keys = keys},
    {.section = NULL},
};

static const ConfigMember members[] = {
    {"runner.watch",
     .about = "Tells the operator of faults. It is started where [watch] canary is set, or by start = yes.",
     .defaults = (const ConfigDefault[]){{"start", "{watch.canary?}"}, {"queue", NULL}, {NULL, NULL}}},
    {.section = NULL},
};
/* clang-format on */

static void check(const ConfigCheck *check)
{
    const ConfigValue *instances = config_usable(check, "runner.watch", "instances");
    const ConfigValue *start = config_usable(check, "runner.watch", "start");
    const ConfigValue *url = config_usable(check, "watch", "url");
    const ConfigValue *canary = config_usable(check, "watch", "canary");
    bool tells = !config_unset(check, "watch", "url") || !config_unset(check, "watch", "command");
    if (instances && !g_str_equal(instances->text, "1"))
        config_complain(check, "runner.watch", "instances", "found %s; allowed is 1", instances->text);
    if (canary && canary->text && strpbrk(canary->text, "@:/ \t"))
        config_complain(check, "watch", "canary",
                        "found \"%s\"; allowed is a mail domain of the site, such as example.com", canary->text);
    if (url && !g_str_has_prefix(url->text, "http://") && !g_str_has_prefix(url->text, "https://"))
        config_complain(check, "watch", "url", "found \"%s\"; allowed is an address that begins with http", url->text);
    if (tells && start && start->line == 0 && !start->number)
        config_complain(check, "runner.watch", "start",
                        "found no value; nobody would be told of faults: set start = yes, or [watch] canary");
}

static char *program(const Config *config, const char *runner)
{
    bool runs = config_string(config, "watch", "command") != NULL;
    return runs && g_str_equal(runner, "watch") ? g_strdup("[watch] command") : NULL;
}

const ConfigSettings watch_settings = {.tables = tables, .members = members, .check = check, .program = program};
