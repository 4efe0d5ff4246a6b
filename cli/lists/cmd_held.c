/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner held: ls, show; deciding is in held_decide.c, what is chosen in held_filter.c. */
#include <stdio.h>

#include "base/clock.h"
#include "base/fail.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/lists/decide.h"
#include "cli/lists/held_decide.h"
#include "cli/queues/message_text.h"

static gboolean headers, body, names;

static bool show_held(const Held *held, void *data)
{
    if (names) {
        printf("%" G_GINT64_FORMAT "\n", held->number);
        return true;
    }
    listing_row(data, json_pack("{sI so so so so so so sI}", "number", (json_int_t)held->number, "list",
                                listing_text(held->list_id), "sender", listing_text(held->sender), "subject",
                                listing_text(held->subject), "reason", listing_text(held->reason), "message_id",
                                listing_text(held->message_id), "held_at", listing_time(held->held_at), "age",
                                (json_int_t)((clock_now() - held->held_at) / CLOCK_SECOND)));
    return !ferror(stdout);
}

static int run_ls(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {
        {"number", "NUMBER", COLUMN_NUMBER}, {"list", "LIST", COLUMN_TEXT},     {"age", "AGE", COLUMN_SPAN},
        {"sender", "SENDER", COLUMN_TEXT},   {"reason", "REASON", COLUMN_TEXT}, {"subject", "SUBJECT", COLUMN_TEXT},
        {NULL, NULL, COLUMN_TEXT}};
    HeldFilter filter;
    List *found;
    if (argc > 0 && held_filter_list)
        return command_usage(error, "the list is given twice");
    if (argc > 0)
        held_filter_list = argv[0];
    int code = held_filter_read(site, &filter, &found, error);
    g_autoptr(List) list = found;
    if (code != TOOL_OK)
        return code;
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    return held_select(site_store(site, false, error), &filter, show_held, listing, error) ? TOOL_OK : TOOL_LATER;
}

static int run_show(Site *site, int argc, char **argv, GError **error)
{
    int64_t number;
    if (headers && body)
        return command_usage(error, "--headers and --body exclude each other");
    if (!decide_number(argv[0], "a held post", "listrunner held ls", &number, error))
        return TOOL_USAGE;
    Store *store = site_store(site, false, error);
    g_autoptr(Held) held = store ? held_find(store, number, error) : NULL;
    if (!held)
        return TOOL_LATER;
    if (!headers && !body) {
        listing_show(json_pack("{sI so so so so so so}", "number", (json_int_t)held->number, "list",
                               listing_text(held->list_id), "held_at", listing_time(held->held_at), "sender",
                               listing_text(held->sender), "subject", listing_text(held->subject), "reason",
                               listing_text(held->reason), "message_id", listing_text(held->message_id)),
                     false);
        putchar('\n');
    }
    message_text_write(held->message, !body, !headers);
    return TOOL_OK;
}

static const GOptionEntry ls_options[] = {
    JSON_ROWS_OPTION,
    {"names", 0, 0, G_OPTION_ARG_NONE, &names, "only the numbers", NULL},
    HELD_FILTER_OPTIONS,
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry show_options[] = {
    {"headers", 0, 0, G_OPTION_ARG_NONE, &headers, "only the header of the message", NULL},
    {"body", 0, 0, G_OPTION_ARG_NONE, &body, "only the body of the message", NULL},
    G_OPTION_ENTRY_NULL,
};

static const Command ls = {
    .name = "ls", .arguments = "[LIST]", .summary = "Show the posts that wait for a moderator", .most = 1,
    .options = ls_options, .run = run_ls,
};

static const Command show = {
    .name = "show", .arguments = "NUMBER", .summary = "Show one held post, why it is held and its message",
    .least = 1, .most = 1, .options = show_options, .run = run_show,
};

static const Command *const verbs[] = {&ls, &show, &held_accept, &held_allow, &held_reject,
                                       &held_discard, &held_ban, &held_forward, NULL};

const Command cmd_held = {
    .name = "held", .arguments = "", .summary = "Show held posts, and decide about them", .verbs = verbs,
};
