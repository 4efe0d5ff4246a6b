/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/queue_act.h"
#include "cli/queue_verbs.h"
#include "runners/keys.h"

static const char *const queues[] = {"out", NOTICE_QUEUE, "retry", NULL};

/* Due now: the next attempt is the last one. */
static Draft *draft(Entry *entry, GError **error)
{
    (void)error;
    Draft *last = operate_draft_again(entry, queue_name(entry_queue(entry)));
    meta_set_bool(draft_meta(last), KEY_EXPIRE, true);
    return last;
}

static const QueueVerb verb = {
    .name = "expire", .past = "expired", .queues = queues, .only = true, .draft = draft};

static int run_expire(Site *site, int argc, char **argv, GError **error)
{
    return queue_act_run(&verb, site, argc, argv, error);
}

static const GOptionEntry options[] = {
    QUEUE_SELECT_OPTIONS,
    QUEUE_ACT_OPTIONS,
    G_OPTION_ENTRY_NULL,
};

const Command queue_expire = {
    .name = "expire",
    .arguments = "[ENTRY...]",
    .summary = "End the lifetime of entries in out, notice and retry: one more attempt, now",
    .details = "Recipients that are refused for now in that attempt are bounced, as at the end of\n"
               "[out] maximal_queue_lifetime. Held entries are released first.",
    .most = -1,
    .options = options,
    .run = run_expire,
};
