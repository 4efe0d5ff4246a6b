/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/queue_act.h"
#include "cli/queue_verbs.h"

static const char *const except[] = {"hold", "shunt", "corrupt", NULL};

static Draft *draft(Entry *entry, GError **error)
{
    (void)error;
    return operate_draft_hold(entry);
}

static const QueueVerb verb = {.name = "hold", .past = "held", .except = except, .draft = draft};

static int run_hold(Site *site, int argc, char **argv, GError **error)
{
    return queue_act_run(&verb, site, argc, argv, error);
}

static const GOptionEntry options[] = {
    QUEUE_SELECT_OPTIONS,
    QUEUE_ACT_OPTIONS,
    G_OPTION_ENTRY_NULL,
};

const Command queue_hold = {
    .name = "hold",
    .arguments = "[ENTRY...]",
    .summary = "Freeze entries: move them to the queue hold, where nothing is tried and nothing expires",
    .details = "The whole entry is held, also when only one of its recipients fits. Where it was and when it was due\n"
               "is kept, for queue release.",
    .most = -1,
    .options = options,
    .run = run_hold,
};
