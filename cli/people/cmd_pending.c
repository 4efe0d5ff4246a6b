/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner pending: requests to join or leave that wait for an answer. */
#include <stdio.h>

#include "base/clock.h"
#include "base/fail.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/lists/decide.h"
#include "cli/work_site.h"
#include "lists/people/request.h"
#include "store/lists/list.h"

static gboolean names;
static char *reason;

static json_t *row_of(const Pending *pending)
{
    return json_pack("{sI ss so so ss so so so sI}", "number", (json_int_t)pending->number, "kind",
                     pending_kind_text(pending->kind), "list", listing_text(pending->list_id), "address",
                     listing_text(pending->address->text), "waits_for", pending_waits_for_text(pending->waits_for),
                     "name", listing_text(pending->display_name), "asked_at", listing_time(pending->asked_at),
                     "expires_at", listing_time(pending->expires_at), "age",
                     (json_int_t)((clock_now() - pending->made_at) / CLOCK_SECOND));
}

static bool show_pending(const Pending *pending, void *data)
{
    if (names)
        printf("%" G_GINT64_FORMAT "\n", pending->number);
    else
        listing_row(data, row_of(pending));
    return !ferror(stdout);
}

static int run_ls(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {
        {"number", "NUMBER", COLUMN_NUMBER}, {"list", "LIST", COLUMN_TEXT}, {"kind", "WANTS", COLUMN_TEXT},
        {"waits_for", "WAITS FOR", COLUMN_TEXT}, {"age", "AGE", COLUMN_SPAN}, {"address", "ADDRESS", COLUMN_TEXT},
        {NULL, NULL, COLUMN_TEXT}};
    Store *store = site_store(site, false, error);
    g_autoptr(List) list = store && argc > 0 ? site_list_find(store, argv[0], error) : NULL;
    if (!store || (argc > 0 && !list))
        return TOOL_LATER;
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    return pending_each(store, list ? list->list_id : NULL, clock_now(), show_pending, listing, error) ? TOOL_OK
                                                                                                       : TOOL_LATER;
}

static int run_show(Site *site, int argc, char **argv, GError **error)
{
    int64_t number;
    if (!decide_number(argv[0], "a request", "listrunner pending ls", &number, error))
        return TOOL_USAGE;
    Store *store = site_store(site, false, error);
    g_autoptr(Pending) pending = store ? pending_find(store, number, clock_now(), error) : NULL;
    if (!pending)
        return TOOL_LATER;
    json_t *row = row_of(pending);
    json_object_set_new(row, "asks_for", listing_text(pending->detail)); /* the options, or the new address */
    listing_show(row, json_option);
    return TOOL_OK;
}

/* ---- deciding ---- */

typedef struct PendingVerdict {
    RequestVerdict verdict;
    const char *past; /* "accepted" */
} PendingVerdict;

static char *decide(Work *work, int64_t number, void *data, GError **error)
{
    const PendingVerdict *verdict = data;
    g_auto(Subscription) made = {0};
    if (!request_decide(work, number, verdict->verdict, reason, &made, error))
        return NULL;
    return g_strdup_printf(": %s %s%s", made.address, pending_kind_text(made.kind),
                           made.result == SUBSCRIPTION_NO_CHANGE ? " (nothing to change)" : "");
}

typedef struct Requested {
    NumberRange range;
    GArray *numbers;
} Requested;

static bool add_number(const Pending *pending, void *data)
{
    const Requested *requested = data;
    if (pending->number >= requested->range.first && pending->number <= requested->range.last)
        g_array_append_val(requested->numbers, pending->number);
    return true;
}

static int decide_all(Site *site, const void *kind, char **argv, GError **error)
{
    const PendingVerdict *verdict = kind;
    WorkPlace place;
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (; *argv; argv++) {
        Requested requested = {.numbers = numbers};
        unsigned before = numbers->len;
        if (!decide_range(*argv, "a request", "listrunner pending ls", &requested.range, error))
            return TOOL_USAGE;
        if (requested.range.first == requested.range.last) { /* it is taken as it is; of a range, those that wait */
            g_array_append_val(numbers, requested.range.first);
            continue;
        }
        Store *store = site_store(site, false, error);
        if (!store || !pending_each(store, NULL, clock_now(), add_number, &requested, error) ||
            !decide_found("request", &requested.range, numbers->len > before, error))
            return TOOL_LATER;
    }
    if (!work_place_open(&place, site, error))
        return TOOL_LATER;
    return decide_each(&place, numbers, "pending", verdict->past, decide, (void *)verdict);
}

static const GOptionEntry ls_options[] = {
    JSON_ROWS_OPTION,
    {"names", 0, 0, G_OPTION_ARG_NONE, &names, "only the numbers", NULL},
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry reject_options[] = {
    {"reason", 0, 0, G_OPTION_ARG_STRING, &reason, "what the person is told", "TEXT"},
    G_OPTION_ENTRY_NULL,
};

static const Command ls = {
    .name = "ls", .arguments = "[LIST]", .summary = "Show requests to join or leave that wait for an answer",
    .most = 1, .options = ls_options, .run = run_ls,
};

static const Command show = {
    .name = "show", .arguments = "REQUEST", .summary = "Show one request", .least = 1, .most = 1,
    .options = json_object_options, .run = run_show,
};

static const Command accept = {
    .name = "accept", .arguments = "REQUEST...", .summary = "Do what is asked for", .least = 1, .most = -1,
    .run_kind = decide_all, .kind = &(const PendingVerdict){REQUEST_ACCEPT, "accepted"},
};

static const Command reject = {
    .name = "reject", .arguments = "REQUEST...", .summary = "Refuse it and tell the person", .least = 1, .most = -1,
    .options = reject_options, .run_kind = decide_all, .kind = &(const PendingVerdict){REQUEST_REJECT, "rejected"},
};

static const Command discard = {
    .name = "discard", .arguments = "REQUEST...", .summary = "Drop it, telling nobody", .least = 1, .most = -1,
    .run_kind = decide_all, .kind = &(const PendingVerdict){REQUEST_DISCARD, "discarded"},
};

static const Command ban = {
    .name = "ban", .arguments = "REQUEST...",
    .summary = "The same, and the address can neither join nor post any more", .least = 1, .most = -1,
    .run_kind = decide_all, .kind = &(const PendingVerdict){REQUEST_BAN, "discarded with a ban of the address"},
};

static const Command defer = {
    .name = "defer", .arguments = "REQUEST...", .summary = "Let it wait, for as long again", .least = 1, .most = -1,
    .run_kind = decide_all, .kind = &(const PendingVerdict){REQUEST_DEFER, "deferred"},
};

static const Command *const verbs[] = {&ls, &show, &accept, &reject, &discard, &ban, &defer, NULL};

const Command cmd_pending = {
    .name = "pending", .arguments = "", .summary = "Show requests to join or leave, and decide about them",
    .verbs = verbs,
};
