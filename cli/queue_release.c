/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "base/clock.h"
#include "cli/queue_act.h"
#include "cli/queue_verbs.h"

static const char *const queues[] = {"hold", NULL};

/* A part that waited for others is due now: its set may have come to an end without it, or wait for it alone. */
static Draft *draft(Entry *entry, GError **error)
{
    Draft *draft = operate_draft_release(entry, error);
    if (draft && strcmp(draft_queue(draft), "defragment") == 0)
        draft_set_due(draft, clock_now());
    return draft;
}

static const QueueVerb verb = {
    .name = "release", .past = "released", .nothing = "nothing is held", .queues = queues, .only = true,
    .draft = draft};

static int run_release(Site *site, int argc, char **argv, GError **error)
{
    return queue_act_run(&verb, site, argc, argv, error);
}

static const GOptionEntry options[] = {
    QUEUE_SELECT_OPTIONS,
    QUEUE_ACT_OPTIONS,
    G_OPTION_ENTRY_NULL,
};

const Command queue_release = {
    .name = "release",
    .arguments = "[ENTRY...]",
    .summary = "Put held entries back to where they were, due when they were due",
    .details = "An entry that became due meanwhile is worked at once, and so is a part of a message\n"
               "that waits for others.",
    .most = -1,
    .options = options,
    .run = run_release,
};
