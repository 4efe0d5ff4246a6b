/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner held: ls, show, accept, allow, reject, discard, ban, forward. */
#include <stdio.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/fail.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/lists/decide.h"
#include "cli/queues/message_text.h"
#include "lists/posts/held_post.h"
#include "store/posts/held.h"

static char *reason;
static gboolean headers, body, names;

/* ---- which posts a verb means ---- */

static char *only_list, *only_sender, *only_older, *only_newer;

#define FILTER_OPTIONS \
    {"list", 0, 0, G_OPTION_ARG_STRING, &only_list, "those of a list", "LIST"}, \
    {"sender", 0, 0, G_OPTION_ARG_STRING, &only_sender, "those of a sender", "ADDRESS"}, \
    {"older", 0, 0, G_OPTION_ARG_STRING, &only_older, "those held longer than this (3d, 12h)", "AGE"}, \
    {"newer", 0, 0, G_OPTION_ARG_STRING, &only_newer, "those held no longer than this", "AGE"}

static bool read_age(const char *option, const char *text, int64_t *time, GError **error)
{
    int64_t age;
    if (!text)
        return true;
    if (!config_duration_parse(text, &age)) {
        command_usage(error, "--%s: '%s' is no age; 3d, 12h and 30m are", option, text);
        return false;
    }
    *time = clock_now() - age;
    return true;
}

/* Fill *filter by the options. *list (list_free()) is the list of --list, from which filter borrows; NULL: none was
 * named. Return an exit code; *error is set unless it is TOOL_OK. */
static int read_filter(Site *site, HeldFilter *filter, List **list, GError **error)
{
    *filter = (HeldFilter){.sender = only_sender};
    *list = NULL;
    if (!read_age("older", only_older, &filter->before, error) || !read_age("newer", only_newer, &filter->after, error))
        return TOOL_USAGE;
    Store *store = site_store(site, false, error);
    if (!store)
        return TOOL_LATER;
    if (only_list && !(*list = site_list_find(store, only_list, error)))
        return TOOL_LATER;
    filter->list_id = *list ? (*list)->list_id : NULL;
    return TOOL_OK;
}

static bool add_number(const Held *held, void *data)
{
    g_array_append_val((GArray *)data, held->number);
    return true;
}

/* Set *numbers (of int64_t, g_array_unref() in any case) to the posts that argv names, or to those that the options
 * choose. The command line must have either numbers or options. Return an exit code; *error is set unless it is
 * TOOL_OK. */
static int choose(char **argv, Site *site, GArray **numbers, GError **error)
{
    NumberRange range;
    int code = TOOL_OK;
    bool chosen = only_list || only_sender || only_older || only_newer;
    *numbers = g_array_new(FALSE, FALSE, sizeof range.first);
    if (!*argv && !chosen)
        return command_usage(error, "say which posts: by their numbers, or with --list, --sender, --older or --newer");
    if (*argv && chosen)
        return command_usage(error, "numbers and the options that choose posts exclude each other");
    for (; *argv && code == TOOL_OK; argv++) {
        if (!decide_range(*argv, "a held post", "listrunner held ls", &range, error))
            return TOOL_USAGE;
        if (range.first == range.last) { /* it is taken as it is; of a range, those that are held */
            g_array_append_val(*numbers, range.first);
            continue;
        }
        unsigned before = (*numbers)->len;
        const HeldFilter within = {.first = range.first, .last = range.last};
        Store *store = site_store(site, false, error);
        if (!store || !held_select(store, &within, add_number, *numbers, error) ||
            !decide_found("held post", &range, (*numbers)->len > before, error))
            code = TOOL_LATER;
    }
    if (!chosen)
        return code;
    HeldFilter filter;
    List *found;
    code = read_filter(site, &filter, &found, error);
    g_autoptr(List) list = found;
    if (code != TOOL_OK)
        return code;
    return held_select(site_store(site, false, error), &filter, add_number, *numbers, error) ? TOOL_OK : TOOL_LATER;
}

/* ---- ls, show ---- */

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
    if (argc > 0 && only_list)
        return command_usage(error, "the list is given twice");
    if (argc > 0)
        only_list = argv[0];
    int code = read_filter(site, &filter, &found, error);
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

/* ---- deciding ---- */

/* A verdict, and the word for what was done: "accepted". */
typedef struct HeldDecision {
    HeldVerdict verdict;
    const char *past;
} HeldDecision;

static char *decide(Work *work, int64_t number, void *data, GError **error)
{
    const HeldDecision *decision = data;
    bool told;
    if (!held_post_decide(work, number, decision->verdict, reason, &told, error))
        return NULL;
    return g_strdup(decision->verdict == HELD_REJECT && !told
                        ? "; its sender is not told: it came from a program, or from no address"
                        : "");
}

static int decide_all(Site *site, const void *kind, char **argv, GError **error)
{
    const HeldDecision *decision = kind;
    WorkPlace place;
    g_autoptr(GArray) numbers = NULL;
    int code = choose(argv, site, &numbers, error);
    if (code != TOOL_OK)
        return code;
    if (!work_place_open(&place, site, error))
        return TOOL_LATER;
    return decide_each(&place, numbers, "held", decision->past, decide, (void *)decision);
}

static char *forward(Work *work, int64_t number, void *data, GError **error)
{
    g_autoptr(Held) held = held_find(work_store(work), number, error);
    return held && held_post_forward(work, held, data, error) ? g_strdup_printf(" to %s", (const char *)data) : NULL;
}

static int run_forward(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace place;
    int64_t number;
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof number);
    if (!decide_number(argv[0], "a held post", "listrunner held ls", &number, error))
        return TOOL_USAGE;
    g_array_append_val(numbers, number);
    if (!work_place_open(&place, site, error))
        return TOOL_LATER;
    return decide_each(&place, numbers, "held", "forwarded", forward, argv[1]);
}

static const GOptionEntry ls_options[] = {
    JSON_ROWS_OPTION,
    {"names", 0, 0, G_OPTION_ARG_NONE, &names, "only the numbers", NULL},
    FILTER_OPTIONS,
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

#define REASON {"reason", 0, 0, G_OPTION_ARG_STRING, &reason, "what the sender is told", "TEXT"}

static const GOptionEntry decide_options[] = {FILTER_OPTIONS, G_OPTION_ENTRY_NULL};
static const GOptionEntry reject_options[] = {REASON, FILTER_OPTIONS, G_OPTION_ENTRY_NULL};

#define DETAILS "Without numbers, the options say which posts are meant; those that meet all of them are."

static const Command held_accept = {
    .name = "accept", .arguments = "[NUMBER...]", .summary = "Let held posts through to the list", .details = DETAILS,
    .most = -1, .options = decide_options,
    .run_kind = decide_all, .kind = &(const HeldDecision){HELD_ACCEPT, "accepted"},
};

static const Command held_allow = {
    .name = "allow", .arguments = "[NUMBER...]",
    .summary = "The same, and their senders need no moderator any more", .details = DETAILS, .most = -1,
    .options = decide_options,
    .run_kind = decide_all, .kind = &(const HeldDecision){HELD_ALLOW, "accepted, and its sender from now on"},
};

static const Command held_reject = {
    .name = "reject", .arguments = "[NUMBER...]", .summary = "Send held posts away with a notice to the sender",
    .details = DETAILS, .most = -1, .options = reject_options,
    .run_kind = decide_all, .kind = &(const HeldDecision){HELD_REJECT, "rejected"},
};

static const Command held_discard = {
    .name = "discard", .arguments = "[NUMBER...]", .summary = "Throw held posts away, telling nobody",
    .details = DETAILS, .most = -1, .options = decide_options,
    .run_kind = decide_all, .kind = &(const HeldDecision){HELD_DISCARD, "discarded"},
};

static const Command held_ban = {
    .name = "ban", .arguments = "[NUMBER...]",
    .summary = "The same, and their senders can neither post nor join any more", .details = DETAILS, .most = -1,
    .options = decide_options,
    .run_kind = decide_all, .kind = &(const HeldDecision){HELD_BAN, "discarded with a ban of its sender"},
};

static const Command held_forward = {
    .name = "forward", .arguments = "NUMBER ADDRESS", .summary = "Send a held post to somebody, and keep it",
    .least = 2, .most = 2, .run = run_forward,
};

static const Command *const verbs[] = {&ls, &show, &held_accept, &held_allow, &held_reject,
                                       &held_discard, &held_ban, &held_forward, NULL};

const Command cmd_held = {
    .name = "held", .arguments = "", .summary = "Show held posts, and decide about them", .verbs = verbs,
};
