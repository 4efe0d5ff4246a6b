/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* What people may do with lists, and the letters about it: settings in section [site]. */
#include "base/config_table.h"

#include "base/config_check.h"

/* clang-format off */
static const ConfigKey keys[] = {
    {"template_directory", PATH(CONFIG_DATA "/templates"),
     .about = "Where the texts of notices are found, one directory a language."},
    {"template_refresh", DURATION("1d", MINUTE, 365 * DAY),
     .about = "How often texts of notices that come from a URL are fetched again. One that was just set is fetched at "
      "once; where it cannot be fetched, the text that was there before stays, and it is tried again within minutes."},
    {"max_autoresponses_per_day", INTEGER("10", 0, 1000000, "mails"),
     .about = "The most notices (your post is held, was rejected) that one address gets on a day, because senders "
      "can be forged; 0 is no limit."},
    {"pending_request_life", DURATION("3d", DAY, 365 * DAY),
     .about = "How long somebody who asked to join or leave a list may take to confirm it."},
    {"moderator_request_life", DURATION("180d", DAY, 3650 * DAY),
     .about = "How long a request to join or leave waits for a moderator before it is dropped."},
    {"held_notice_interval", DURATION("5m", 0, DAY),
     .about = "The moderators of a list get at most one notice of held posts in this time; what is held meanwhile is "
      "told in one mail, when it has passed."},
    {.name = NULL},
};

static const ConfigTable tables[] = {
    {"site", .keys = keys, .readers = "*"},
    {.section = NULL},
};
/* clang-format on */

static void check(const ConfigCheck *check)
{
    const ConfigValue *texts = check->offline ? NULL : config_usable(check, "site", "template_directory");
    if (texts && texts->line > 0)
        config_check_directory(check, "site", "template_directory", texts->text);
}

const ConfigSettings lists_settings = {.tables = tables, .check = check};
