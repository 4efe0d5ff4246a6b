/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The runner pipeline: section [pipeline]. */
#include <string.h>

#include "base/config_check.h"
#include "base/config_table.h"

/* clang-format off */
static const ConfigKey keys[] = {
    {"copy_to", LIST(NULL),
     .about = "Queues that get a copy of each accepted post, as the members do: for runners of the site's own.",
     .example = "count"},
    {"verp_delivery_interval", INTEGER("0", 0, 1000000, "posts"),
     .about = "Every so many posts of a list, each recipient gets a transaction and an envelope sender of their "
      "own, by which a bounce tells who it was; 1 is every post, 0 none."},
    {"verp_personalized_deliveries", BOOL("yes"),
     .about = "The same for every post whose copies are personal."},
    {"unsubscribe_url", STRING(NULL),
     .about = "For List-Unsubscribe in copies that go out one by one, with one click (RFC 8058): an https URL with "
      "$token, and if wanted $list_id. What answers there gets a token that is good for that member only. Unset: "
      "that of the runner web, where [site] web_url is set.",
     .example = "https://lists.example.com/unsubscribe/$token"},
    {.name = NULL},
};

static const ConfigTable tables[] = {
    {"pipeline", .about = "What becomes of accepted posts, besides their delivery.", .keys = keys, .readers = "in"},
    {.section = NULL},
};

static const ConfigMember members[] = {
    {.section = "runner.pipeline"},
    {.section = NULL},
};
/* clang-format on */

/* Is there a [runner.NAME] that works this queue? */
static bool queue_known(const ConfigCheck *check, const char *queue)
{
    g_autofree const char **sections = config_family_sections(check->config, "runner");
    for (const char **section = sections; *section; section++) {
        const ConfigValue *works = config_usable(check, *section, "queue");
        if (works && g_str_equal(works->text, queue))
            return true;
    }
    return false;
}

/* A link without the token leads nowhere, and mail programs offer one click for https alone (RFC 8058, 3.1). */
static void check_unsubscribe_url(const ConfigCheck *check)
{
    const ConfigValue *url = config_usable(check, "pipeline", "unsubscribe_url");
    if (!url || !*url->text)
        return;
    bool token = strstr(url->text, "$token") || strstr(url->text, "${token}");
    if (g_ascii_strncasecmp(url->text, "https://", strlen("https://")) != 0 || !token)
        config_complain(check, "pipeline", "unsubscribe_url", "found \"%s\"; allowed is an https:// URL with $token, "
                        "as https://lists.example.com/unsubscribe/$token", url->text);
}

static void check(const ConfigCheck *check)
{
    check_unsubscribe_url(check);
    const ConfigValue *copies = config_usable(check, "pipeline", "copy_to");
    for (char **word = copies ? copies->words : NULL; word && *word; word++)
        if (!queue_known(check, *word))
            config_complain(check, "pipeline", "copy_to", "found \"%s\"; allowed are the queues of [runner.NAME] "
                            "sections", *word);
}

const ConfigSettings pipeline_settings = {.tables = tables, .members = members, .check = check};
