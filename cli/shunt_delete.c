/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/queue_act.h"
#include "cli/shunt_verbs.h"

static const QueueVerb verb = {.name = "delete",
                               .past = "deleted",
                               .aside = true,
                               .in_place = operate_delete,
                               .in_place_preserved = operate_delete_preserved};

static int run_delete(Site *site, int argc, char **argv, GError **error)
{
    return queue_act_run(&verb, site, argc, argv, error);
}

static const GOptionEntry options[] = {
    {"all", 0, 0, G_OPTION_ARG_NONE, &queue_act_all, "all that was set aside", NULL},
    QUEUE_SELECT_OPTIONS,
    QUEUE_ACT_OPTIONS,
    G_OPTION_ENTRY_NULL,
};

const Command shunt_delete = {
    .name = "delete",
    .arguments = "[ENTRY...]",
    .summary = "Delete what was set aside for good; nobody is told",
    .details = "Damaged files that were preserved can be deleted, too.",
    .most = -1,
    .options = options,
    .run = run_delete,
};
