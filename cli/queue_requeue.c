/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "cli/queue_act.h"
#include "cli/queue_verbs.h"
#include "runners/keys.h"

static const char *const except[] = {"hold", "shunt", "corrupt", NULL};

/* What out counted and heard is forgotten, so that it is as if it were tried for the first time. */
static Draft *draft(Entry *entry, GError **error)
{
    (void)error;
    const char *from = queue_name(entry_queue(entry));
    bool own = meta_string(entry_meta(entry), KEY_PRIORITY, NULL) != NULL; /* it came by that queue */
    Draft *again = operate_draft_again(entry, strcmp(from, "retry") != 0 ? from : own ? NOTICE_QUEUE : "out");
    json_object_del(draft_meta(again), KEY_ATTEMPTS);
    json_object_del(draft_meta(again), KEY_LAST_REPLY);
    json_object_del(draft_meta(again), KEY_EXPIRE);
    return again;
}

static const QueueVerb verb = {.name = "requeue", .past = "requeued", .except = except, .draft = draft};

static int run_requeue(Site *site, int argc, char **argv, GError **error)
{
    return queue_act_run(&verb, site, argc, argv, error);
}

static const GOptionEntry options[] = {
    QUEUE_SELECT_OPTIONS,
    QUEUE_ACT_OPTIONS,
    G_OPTION_ENTRY_NULL,
};

const Command queue_requeue = {
    .name = "requeue",
    .arguments = "[ENTRY...]",
    .summary = "Begin again with entries: due now, crashes and attempts forgotten",
    .details = "An entry of retry goes back to out, or to notice when it is mail of our own. Posts are not expanded\n"
               "again: who has a copy gets no other. How long delivery is tried still counts from the arrival.",
    .most = -1,
    .options = options,
    .run = run_requeue,
};
