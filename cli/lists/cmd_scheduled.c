/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner scheduled: posts that wait for the time at which they are to be sent. */
#include <stdio.h>

#include "base/clock.h"
#include "base/fail.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/lists/decide.h"
#include "cli/queues/message_text.h"
#include "lists/posts/scheduled_post.h"
#include "mail/date.h"

#define LISTER "listrunner scheduled ls"

static gboolean headers, body, names;
static char *at_given;

static json_t *row_of(const Scheduled *post)
{
    g_autofree char *fault = scheduled_post_fault(post, clock_now());
    return json_pack("{sI so so so so so so so sI so}", "number", (json_int_t)post->number, "list",
                     listing_text(post->list_id), "due_at", listing_time(post->due_at), "made_at",
                     listing_time(post->made_at), "sender", listing_text(post->sender), "author",
                     listing_text(post->author), "subject", listing_text(post->subject), "message_id",
                     listing_text(post->message_id), "size", (json_int_t)post->size, "fault", listing_text(fault));
}

static bool show_post(const Scheduled *post, void *data)
{
    if (names)
        printf("%" G_GINT64_FORMAT "\n", post->number);
    else
        listing_row(data, row_of(post));
    return !ferror(stdout);
}

static int run_ls(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {{"number", "NUMBER", COLUMN_NUMBER},
                                     {"due_at", "DUE", COLUMN_TEXT},
                                     {"list", "LIST", COLUMN_TEXT},
                                     {"sender", "SENDER", COLUMN_TEXT},
                                     {"subject", "SUBJECT", COLUMN_TEXT},
                                     {"fault", "FAULT", COLUMN_TEXT},
                                     {NULL, NULL, COLUMN_TEXT}};
    Store *store = site_store(site, false, error);
    g_autoptr(List) list = store && argc > 0 ? site_list_find(store, argv[0], error) : NULL;
    if (!store || (argc > 0 && !list))
        return TOOL_LATER;
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    return scheduled_each(store, list ? list->list_id : NULL, show_post, listing, error) ? TOOL_OK : TOOL_LATER;
}

static int run_show(Site *site, int argc, char **argv, GError **error)
{
    int64_t number;
    if (headers && body)
        return command_usage(error, "--headers and --body exclude each other");
    if (!decide_number(argv[0], "a scheduled post", LISTER, &number, error))
        return TOOL_USAGE;
    Store *store = site_store(site, false, error);
    g_autoptr(Scheduled) post = store ? scheduled_find(store, number, error) : NULL;
    if (!post)
        return TOOL_LATER;
    if (!headers && !body) {
        listing_show(row_of(post), false);
        putchar('\n');
    }
    message_text_write(post->message, !body, !headers);
    return TOOL_OK;
}

/* ---- changing ---- */

typedef struct ScheduledChange {
    bool (*change)(Work *work, int64_t number, GError **error); /* NULL: the post gets the time of --at */
    const char *past;
} ScheduledChange;

static int64_t due; /* as --at has it; 0: at once */

static char *change_one(Work *work, int64_t number, void *data, GError **error)
{
    const ScheduledChange *kind = data;
    if (kind->change)
        return kind->change(work, number, error) ? g_strdup("") : NULL;
    if (!scheduled_post_move(work, number, due, error))
        return NULL;
    g_autofree char *time = clock_text(due);
    return due == 0 ? g_strdup(" to now, and so sent") : g_strdup_printf(" to %s", time);
}

static int run_change(Site *site, const void *kind, char **argv, GError **error)
{
    const ScheduledChange *change = kind;
    WorkPlace place;
    g_autoptr(GError) wrong = NULL;
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(int64_t));
    if (!change->change && !at_given)
        return command_usage(error, "--at is missing: the time at which the posts are to be sent");
    if (!change->change && !send_at_read_ahead(at_given, clock_now(), &due, &wrong))
        return command_usage(error, "--at: %s", wrong->message);
    for (; *argv; argv++) {
        int64_t number;
        if (!decide_number(*argv, "a scheduled post", LISTER, &number, error))
            return TOOL_USAGE;
        g_array_append_val(numbers, number);
    }
    if (!work_place_open(&place, site, error))
        return TOOL_LATER;
    return decide_each(&place, numbers, "scheduled", change->past, change_one, (void *)(uintptr_t)change);
}

static const GOptionEntry ls_options[] = {
    JSON_ROWS_OPTION,
    {"names", 0, 0, G_OPTION_ARG_NONE, &names, "only the numbers", NULL},
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry show_options[] = {
    {"headers", 0, 0, G_OPTION_ARG_NONE, &headers, "only the header of the message", NULL},
    {"body", 0, 0, G_OPTION_ARG_NONE, &body, "only the body of the message", NULL},
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry move_options[] = {
    {"at", 0, 0, G_OPTION_ARG_STRING, &at_given, "the new time, with its zone", "TIME"},
    G_OPTION_ENTRY_NULL,
};

static const Command ls = {
    .name = "ls",
    .arguments = "[LIST]",
    .summary = "Show the posts that wait for their time, the next one first",
    .most = 1,
    .options = ls_options,
    .run = run_ls,
};

static const Command show = {
    .name = "show",
    .arguments = "NUMBER",
    .summary = "Show one of them, when it is due and its message",
    .least = 1,
    .most = 1,
    .options = show_options,
    .run = run_show,
};

static const Command send_now = {
    .name = "send",
    .arguments = "NUMBER...",
    .summary = "Send posts at once",
    .least = 1,
    .most = -1,
    .run_kind = run_change,
    .kind = &(const ScheduledChange){scheduled_post_send, "sent"},
};

static const Command move = {
    .name = "move",
    .arguments = "NUMBER...",
    .summary = "Give posts another time",
    .least = 1,
    .most = -1,
    .options = move_options,
    .run_kind = run_change,
    .kind = &(const ScheduledChange){NULL, "moved"},
};

static const Command drop = {
    .name = "drop",
    .arguments = "NUMBER...",
    .summary = "Forget posts: they go to nobody",
    .least = 1,
    .most = -1,
    .run_kind = run_change,
    .kind = &(const ScheduledChange){scheduled_post_drop, "dropped"},
};

static const Command *const verbs[] = {&ls, &show, &send_now, &move, &drop, NULL};

const Command cmd_scheduled = {
    .name = "scheduled",
    .arguments = "",
    .summary = "Show posts that are sent at a time, and change that",
    .verbs = verbs,
};
