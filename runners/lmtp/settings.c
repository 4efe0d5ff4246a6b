/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The runner lmtp: section [lmtp]. */
#include "base/config_table.h"

#include <string.h>

#include "base/config_check.h"

/* clang-format off */
static const ConfigKey keys[] = {
    {"max_sessions", INTEGER("200", 1, 65536, "sessions"),
     .about = "Sessions at one time in each instance; further clients are answered 421."},
    {"max_recipients", INTEGER("1000", 1, 1000000, "recipients"),
     .about = "Recipients in one transaction; further ones are answered 452."},
    {"max_message_size", SIZE("32M", 1 * KIB, 2047 * MIB),
     .about = "The largest message; a larger one is answered 552."},
    {"memory_limit", SIZE("256M", 2 * KIB, 1024 * GIB),
     .about = "Memory for messages that are being received, in each instance; at least twice max_message_size. Up "
      "to half of it may hold recipients. Beyond it the answer is 452. The door for other hosts has as much, or twice "
      "the largest entry that they hand over."},
    {"command_timeout", DURATION("5m", SECOND, DAY),
     .about = "How long a client may be silent."},
    {"session_timeout", DURATION("30m", SECOND, 7 * DAY),
     .about = "How long a session may last in all."},
    {"line_length", INTEGER("2048", 512, 65536, "bytes"),
     .about = "The longest command line, its end included."},
    {"in_flow_limit", INTEGER("50000", 100, 10000000, "entries"),
     .about = "When more posts than this wait in the queues in, pipeline and out, and do not get fewer, the reply to "
      "each further one is held for in_flow_delay after it is stored, until three quarters of this are left. So a "
      "burst is taken at the speed of the disk, and a flood is not."},
    {"in_flow_delay", DURATION("1s", 0, MINUTE),
     .about = "How long each reply is held then; 0 never holds one."},
    {"verp_delimiter", STRING("+"),
     .about = "What separates the parts of a bounce address: list-bounces+member=example.org@lists.example.com.",
     .readers = "bounces command digest in mta pipeline"},
    {.name = NULL},
};

static const ConfigTable tables[] = {
    {"lmtp", .about = "What the runner lmtp grants its clients.", .keys = keys, .readers = "door handover"},
    {.section = NULL},
};

static const ConfigMember members[] = {
    {"runner.lmtp", .about = "The door of the mail server.",
     .defaults = (const ConfigDefault[]){{"queue", NULL}, {"listen", "127.0.0.1:8024"}, {NULL, NULL}}},
    {.section = NULL},
};
/* clang-format on */

/* A runner that refused to start for it would come too late: after the reload. */
static void check(const ConfigCheck *check)
{
    const ConfigValue *memory = config_usable(check, "lmtp", "memory_limit");
    const ConfigValue *message = config_usable(check, "lmtp", "max_message_size");
    bool fits = !memory || !message || memory->number / 2 >= message->number;
    if (!fits && memory->line > 0)
        config_complain(check, "lmtp", "memory_limit", "found %s; allowed is at least twice max_message_size = %s",
                        memory->text, message->text);
    else if (!fits)
        config_complain(check, "lmtp", "max_message_size", "found %s; allowed is at most half of memory_limit = %s",
                        message->text, memory->text);
    const ConfigValue *delimiter = config_usable(check, "lmtp", "verp_delimiter");
    if (delimiter && (strlen(delimiter->text) != 1 || !strchr("+-=#%*/", *delimiter->text)))
        config_complain(check, "lmtp", "verp_delimiter", "found \"%s\"; allowed is one of + - = # %% * /",
                        delimiter->text);
}

const ConfigSettings lmtp_settings = {.tables = tables, .members = members, .check = check};
