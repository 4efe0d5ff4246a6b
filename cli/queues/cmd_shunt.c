/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner shunt: ls, retry, delete. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/queues/queue_act.h"
#include "cli/queues/queue_files.h"
#include "cli/queues/queue_select.h"
#include "switchboard/fault.h"
#include "switchboard/recover.h"

static gboolean names;

/* Why it is where it is, as far as it knows. */
static char *reason_of(const char *queue, QueueState state, const Entry *entry, const json_t *fault, const GError *why)
{
    const char *reason = meta_string(fault, "reason", NULL);
    if (!entry)
        return g_strdup(why->message);
    if (state == QUEUE_PRESERVED && entry_crashes(entry) >= RECOVER_CRASHES_LIMIT)
        return g_strdup_printf("its runner died %u times while it worked on it", entry_crashes(entry));
    if (reason)
        return g_strdup(reason);
    if (strcmp(queue, SHUNT_QUEUE) == 0)
        return g_strdup("a part of a step that was interrupted, whose origin is gone; the log has its name");
    return g_strdup("it could not be moved to shunt or corrupt; the log has its name");
}

static bool show_target(const QueueTarget *target, Listing *listing, GError **error)
{
    QueueState state = target->file.state;
    const char *queue = queue_name(target->queue);
    bool shunted = strcmp(queue, SHUNT_QUEUE) == 0;
    char name[NAME_SIZE];
    if (!shunted && state != QUEUE_PRESERVED)
        return true;
    g_autoptr(GError) why = NULL;
    g_autoptr(Entry) entry = queue_files_open(target->queue, &target->file, &state, &why);
    if (!entry && g_error_matches(why, FAIL, FAIL_MISSING))
        return true;
    if (!entry && !g_error_matches(why, FAIL, FAIL_NEVER))
        return fail_with(error, &why);
    if (queue_select_list && (!entry || strcmp(entry_list(entry), queue_select_list) != 0))
        return true;
    name_format(&target->file.name, name);
    if (names) {
        puts(name);
        return !ferror(stdout);
    }
    const json_t *fault = entry ? json_object_get(entry_meta(entry), META_FAULT) : NULL;
    g_autofree char *reason = reason_of(queue, state, entry, fault, why);
    json_t *row = json_pack("{ss ss ss}", "queue", queue, "name", name, "state", queue_state_text(state));
    json_object_set_new(row, "from", listing_text(shunted ? meta_string(fault, "queue", NULL) : queue));
    json_object_set_new(row, "runner", listing_text(meta_string(fault, "runner", NULL)));
    json_object_set_new(row, "time", listing_time(meta_integer(fault, "time", 0)));
    json_object_set_new(row, "times", fault ? json_integer(meta_integer(fault, "times", 1)) : json_null());
    json_object_set_new(row, "reason", listing_text(reason));
    if (entry) {
        json_object_set_new(row, "crashes", json_integer(entry_crashes(entry)));
        json_object_set_new(row, "list", listing_text(*entry_list(entry) ? entry_list(entry) : NULL));
        json_object_set_new(row, "trace", listing_text(entry_trace(entry)));
        json_object_set_new(row, "size", json_integer((json_int_t)entry_message_length(entry)));
    }
    listing_row(listing, row);
    return !ferror(stdout);
}

static int run_ls(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {{"name", "NAME", COLUMN_TEXT},     {"from", "FROM", COLUMN_TEXT},
                                     {"time", "SET ASIDE", COLUMN_TEXT}, {"times", "TIMES", COLUMN_NUMBER},
                                     {"runner", "RUNNER", COLUMN_TEXT}, {"crashes", "CRASHES", COLUMN_NUMBER},
                                     {"list", "LIST", COLUMN_TEXT},     {"reason", "REASON", COLUMN_TEXT},
                                     {NULL, NULL, COLUMN_TEXT}};
    queue_select_list_id(&queue_select_list);
    Spool *spool = site_spool(site, error);
    g_auto(GStrv) queues = spool ? spool_queue_names(spool, error) : NULL;
    g_autoptr(GArray) targets = queues ? queue_select_targets(spool, queues, argc, argv, error) : NULL;
    if (!targets)
        return TOOL_LATER;
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    for (guint i = 0; i < targets->len; i++)
        if (!show_target(&g_array_index(targets, QueueTarget, i), listing, error))
            return TOOL_LATER;
    return TOOL_OK;
}

static const GOptionEntry ls_options[] = {
    {"list", 0, 0, G_OPTION_ARG_STRING, &queue_select_list, "only entries of this list (its List-Id or address)",
     "LIST"},
    JSON_ROWS_OPTION,
    {"names", 0, 0, G_OPTION_ARG_NONE, &names, "only the names of the entries", NULL},
    G_OPTION_ENTRY_NULL,
};

static const Command shunt_ls = {
    .name = "ls",
    .arguments = "[ENTRY...]",
    .summary = "Show what was set aside and why: the queue shunt, and preserved entries in any queue",
    .details = "TIMES is how often the entry was set aside, CRASHES how often a runner died while it worked on it.",
    .most = -1,
    .options = ls_options,
    .run = run_ls,
};

/* ---- retry ---- */

static char *to;

static Draft *draft(Entry *entry, GError **error)
{
    return operate_draft_retry(entry, to, error);
}

static const QueueVerb retry = {.name = "retry",
                               .past = "put back",
                               .aside = true,
                               .leaves_shunt = true,
                               .draft = draft,
                               .in_place_preserved = operate_retry_preserved};

static int run_retry(Site *site, int argc, char **argv, GError **error)
{
    if (to && !queue_name_valid(to))
        return command_usage(error, "--to: '%s' is no name of a queue", to);
    return queue_act_run(&retry, site, argc, argv, error);
}

static const GOptionEntry retry_options[] = {
    {"all", 0, 0, G_OPTION_ARG_NONE, &queue_act_all, "all that was set aside", NULL},
    {"to", 0, 0, G_OPTION_ARG_STRING, &to, "put it into this queue instead (from shunt only)", "QUEUE"},
    QUEUE_SELECT_OPTIONS,
    QUEUE_ACT_OPTIONS,
    G_OPTION_ENTRY_NULL,
};

static const Command shunt_retry = {
    .name = "retry",
    .arguments = "[ENTRY...]",
    .summary = "Put what was set aside back to where it came from, due now",
    .details = "What was preserved stays in its queue and is tried again there, its crashes forgotten.",
    .most = -1,
    .options = retry_options,
    .run = run_retry,
};

/* ---- delete ---- */

static const QueueVerb delete = {.name = "delete",
                               .past = "deleted",
                               .aside = true,
                               .in_place = operate_delete,
                               .in_place_preserved = operate_delete_preserved};

static int run_delete(Site *site, int argc, char **argv, GError **error)
{
    return queue_act_run(&delete, site, argc, argv, error);
}

static const GOptionEntry delete_options[] = {
    {"all", 0, 0, G_OPTION_ARG_NONE, &queue_act_all, "all that was set aside", NULL},
    QUEUE_SELECT_OPTIONS,
    QUEUE_ACT_OPTIONS,
    G_OPTION_ENTRY_NULL,
};

static const Command shunt_delete = {
    .name = "delete",
    .arguments = "[ENTRY...]",
    .summary = "Delete what was set aside for good; nobody is told",
    .details = "Damaged files that were preserved can be deleted, too.",
    .most = -1,
    .options = delete_options,
    .run = run_delete,
};

static const Command *const verbs[] = {&shunt_ls, &shunt_retry, &shunt_delete, NULL};

const Command cmd_shunt = {
    .name = "shunt",
    .arguments = "",
    .summary = "Look at what was set aside for a person, try it again or delete it",
    .verbs = verbs,
};
