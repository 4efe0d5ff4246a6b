/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/queue_act.h"
#include "cli/shunt_verbs.h"

static char *to;

static Draft *draft(Entry *entry, GError **error)
{
    return operate_draft_retry(entry, to, error);
}

static const QueueVerb verb = {.name = "retry",
                               .past = "put back",
                               .aside = true,
                               .leaves_shunt = true,
                               .draft = draft,
                               .in_place_preserved = operate_retry_preserved};

static int run_retry(Site *site, int argc, char **argv, GError **error)
{
    if (to && !queue_name_valid(to))
        return command_usage(error, "--to: '%s' is no name of a queue", to);
    return queue_act_run(&verb, site, argc, argv, error);
}

static const GOptionEntry options[] = {
    {"all", 0, 0, G_OPTION_ARG_NONE, &queue_act_all, "all that was set aside", NULL},
    {"to", 0, 0, G_OPTION_ARG_STRING, &to, "put it into this queue instead (from shunt only)", "QUEUE"},
    QUEUE_SELECT_OPTIONS,
    QUEUE_ACT_OPTIONS,
    G_OPTION_ENTRY_NULL,
};

const Command shunt_retry = {
    .name = "retry",
    .arguments = "[ENTRY...]",
    .summary = "Put what was set aside back to where it came from, due now",
    .details = "What was preserved stays in its queue and is tried again there, its crashes forgotten.",
    .most = -1,
    .options = options,
    .run = run_retry,
};
