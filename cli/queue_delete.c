/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/queue_act.h"
#include "cli/queue_verbs.h"

static const char *const except[] = {"shunt", "corrupt", NULL};

static const QueueVerb verb = {.name = "delete", .past = "deleted", .except = except, .in_place = operate_delete};

static int run_delete(Site *site, int argc, char **argv, GError **error)
{
    return queue_act_run(&verb, site, argc, argv, error);
}

static const GOptionEntry options[] = {
    QUEUE_SELECT_OPTIONS,
    QUEUE_ACT_OPTIONS,
    G_OPTION_ENTRY_NULL,
};

const Command queue_delete = {
    .name = "delete",
    .arguments = "[ENTRY...]",
    .summary = "Delete entries for good; nobody is told",
    .details = "The whole entry goes, also when only one of its recipients fits. When the row is shown it is gone\n"
               "from the disk.",
    .most = -1,
    .options = options,
    .run = run_delete,
};
