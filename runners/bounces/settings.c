/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The runner bounces: section [bounces]. */
#include "base/config_table.h"

/* clang-format off */
static const ConfigKey keys[] = {
    {"probes", BOOL("yes"),
     .about = "Whether a member whose bounce score reaches the list's threshold gets a probe first, and no more "
      "mail only when that comes back; else it gets no more mail at once."},
    {"check_interval", DURATION("1m", SECOND / 10, DAY),
     .about = "How often members are looked for who are to be warned or removed, or whose score is too old to count."},
    {"remember", DURATION("90d", DAY, 3650 * DAY),
     .about = "How long it is kept who bounced on which day and why."},
    {"max_owner_notices_per_day", INTEGER("50", 0, 1000000, "mails"),
     .about = "The most mails about bounces that the owners of a list get on a day; 0 is no limit."},
    {"max_unsigned_per_day", INTEGER("10000", 0, 1000000000, "mails"),
     .about = "The most mails to the plain -bounces address of a list that are looked at on a day, because anybody "
      "can send them; further ones are discarded. Reports about copies with a signed sender do not count. 0 is no "
      "limit."},
    {"max_unsigned_recipients", INTEGER("100", 0, 1000000, "recipients"),
     .about = "The most failed recipients of one such mail that cost members points; the log tells how many more it "
      "names. 0 is no limit."},
    {.name = NULL},
};

static const ConfigTable tables[] = {
    {"bounces", .about = "What the runner bounces does about members whose mail comes back.", .keys = keys},
    {.section = NULL},
};

static const ConfigMember members[] = {
    {.section = "runner.bounces"},
    {.section = NULL},
};
/* clang-format on */

const ConfigSettings bounces_settings = {.tables = tables, .members = members};
