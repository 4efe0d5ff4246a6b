/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The runner hooks, section [hooks], and the web hooks, sections [hook.NAME]. */
#include "base/config_table.h"

#include "base/config_check.h"
#include "lists/event_type.h"

/* clang-format off */
static const ConfigKey hooks_keys[] = {
    {"timeout", DURATION("10s", SECOND, 5 * MINUTE),
     .about = "How long a web hook may take to answer. Then the event is sent again later."},
    {"give_up", DURATION("3d", MINUTE, 365 * DAY),
     .about = "How long an event is tried, from the first try on. Then it goes to the queue shunt, for a person."},
    {"keep", DURATION("7d", HOUR, 365 * DAY),
     .about = "How long events stay for the event stream of the REST interface, whose readers go on from the last one "
      "that they have seen."},
    {.name = NULL},
};

static const ConfigKey hook_keys[] = {
    {"enabled", BOOL("yes"),
     .about = "Whether it gets events. What waits for a hook that is not enabled any more is dropped."},
    {"url", STRING(NULL),
     .about = "Where events are sent to, by POST: an address that begins with http.",
     .example = "https://example.org/mail-events"},
    {"secret_file", PATH(NULL),
     .about = "The file whose first line is the secret that deliveries are signed with; behind whsec_ it is base64. "
      "Nobody but the user should be able to read it.",
     .example = "/etc/listrunner/hook.secret", .opens = "hooks"},
    {"events", LIST("*"),
     .about = "The events that it gets: types, or words as member.* and *. Types are post.accepted, post.held, "
      "post.rejected, post.discarded, post.decided, member.joined, member.left, member.disabled, request.opened, "
      "request.decided, list.created and list.removed.",
     .example = "post.accepted, member.*"},
    {"lists", LIST(NULL),
     .about = "The List-Ids whose events it gets. Unset: those of all lists.",
     .example = "ant.example.com"},
    {.name = NULL},
};

static const ConfigTable tables[] = {
    {"hooks", .about = "What the runner hooks grants web hooks.", .keys = hooks_keys},
    {"hook.*", .about = "One section a web hook; none is built in.", .keys = hook_keys, .readers = "hooks"},
    {.section = NULL},
};

static const ConfigMember members[] = {
    {"runner.hooks",
     .about = "Tells programs outside what happens on lists, by web hooks and by the event stream of the REST "
      "interface. It is not started unless start = yes, and only then events are noted.",
     .defaults = (const ConfigDefault[]){{"start", "no"}, {NULL, NULL}}},
    {.section = NULL},
};
/* clang-format on */

static void check_hook(const ConfigCheck *check, const char *section)
{
    const ConfigValue *url = config_usable(check, section, "url");
    const ConfigValue *events = config_usable(check, section, "events");
    const ConfigValue *on = config_usable(check, section, "enabled");
    if (on && on->number)
        config_check_secret(check, section, "secret_file");
    if (config_unset(check, section, "url") ||
        (url && !g_str_has_prefix(url->text, "http://") && !g_str_has_prefix(url->text, "https://")))
        config_complain(check, section, "url", "found \"%s\"; allowed is an address that begins with http",
                        url ? url->text : "");
    if (config_unset(check, section, "secret_file"))
        config_complain(check, section, "secret_file", "found no value; allowed is an absolute path, because "
                        "deliveries are signed");
    for (char **word = events ? events->words : NULL; word && *word; word++)
        if (!event_known(*word))
            config_complain(check, section, "events", "found \"%s\"; allowed are types of events, as post.accepted, "
                            "and words as post.* and *", *word);
}

static void check(const ConfigCheck *check)
{
    g_autofree const char **sections = config_family_sections(check->config, "hook");
    for (const char **section = sections; *section; section++)
        check_hook(check, *section);
}

static void doubt(const Config *config, GString *lines)
{
    g_autofree const char **sections = config_family_sections(config, "hook");
    for (const char **section = sections; *section; section++)
        if (config_bool(config, *section, "enabled"))
            config_doubt_file(config, *section, "secret_file", lines);
}

const ConfigSettings hooks_settings = {.tables = tables, .members = members, .check = check, .doubt = doubt};
