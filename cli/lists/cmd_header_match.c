/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner header-match: add, remove, ls. */
#include <stdio.h>

#include "base/fail.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/plain.h"
#include "cli/work_site.h"
#include "lists/posts/header_rows.h"
#include "store/lists/list.h"

static char *list_name, *action, *tag;
static gint64 position = -1;
static gboolean all;

static int run_ls(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {
        {"position", "POSITION", COLUMN_NUMBER}, {"header", "FIELD", COLUMN_TEXT}, {"action", "ACTION", COLUMN_TEXT},
        {"tag", "TAG", COLUMN_TEXT}, {"pattern", "PATTERN", COLUMN_TEXT}, {NULL, NULL, COLUMN_TEXT}};
    Store *store = site_store(site, false, error);
    g_autoptr(List) list = store && argc > 0 ? site_list_find(store, argv[0], error) : NULL;
    if (!store || (argc > 0 && !list))
        return TOOL_LATER;
    g_autoptr(GPtrArray) rows = header_match_all(store, list ? list->list_id : NULL, error);
    if (!rows)
        return TOOL_LATER;
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    for (unsigned at = 0; at < rows->len; at++) {
        const HeaderMatch *match = rows->pdata[at];
        listing_row(listing, json_pack("{sI so so so so}", "position", (json_int_t)match->position, "header",
                                       listing_text(match->header), "action", listing_text(match->target), "tag",
                                       listing_text(match->tag), "pattern", listing_text(match->pattern)));
    }
    return TOOL_OK;
}

/* A place, the list that --list names (NULL for the site), and a unit of work that has begun. */
static Work *begin(WorkPlace *place, Site *site, List **list, GError **error)
{
    g_autoptr(Work) work = work_place_begin_spooled(place, site, error);
    *list = work && list_name ? site_list_find(place->store, list_name, error) : NULL;
    return list_name && !*list ? NULL : g_steal_pointer(&work);
}

static int run_add(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace place;
    g_autoptr(List) list = NULL;
    g_autoptr(Work) work = begin(&place, site, &list, error);
    if (!work)
        return TOOL_LATER;
    g_autoptr(HeaderMatch) match = g_new0(HeaderMatch, 1);
    *match = (HeaderMatch){.list_id = list ? g_strdup(list->list_id) : NULL, .position = position,
                           .header = g_strdup(argv[0]), .pattern = g_strdup(argv[1]), .target = g_strdup(action),
                           .tag = g_strdup(tag)};
    if (!header_rows_add(work, match, error) || !work_commit(work, place.spool, error))
        return TOOL_LATER;
    printf("%s: position %" G_GINT64_FORMAT "\n", match->header, match->position);
    return TOOL_OK;
}

static int run_remove(Site *site, int argc, char **argv, GError **error)
{
    gint64 number = 0, removed = 1;
    if ((argc > 0) + all + (tag != NULL) != 1)
        return command_usage(error, "give one of POSITION, --tag and --all");
    if (argc > 0 && !g_ascii_string_to_signed(argv[0], 10, 0, G_MAXINT64, &number, NULL))
        return command_usage(error, "'%s' is no position; listrunner header-match ls shows them", argv[0]);
    WorkPlace place;
    g_autoptr(List) list = NULL;
    g_autoptr(Work) work = begin(&place, site, &list, error);
    if (!work)
        return TOOL_LATER;
    const char *list_id = list ? list->list_id : NULL;
    bool done = argc > 0 ? header_rows_remove(work, list_id, number, error)
                         : header_rows_clear(work, list_id, tag, &removed, error);
    if (!done || !work_commit(work, place.spool, error))
        return TOOL_LATER;
    printf("removed: %" G_GINT64_FORMAT "\n", removed);
    return TOOL_OK;
}

static const GOptionEntry add_options[] = {
    {"list", 0, 0, G_OPTION_ARG_STRING, &list_name, "only for this list, not the whole site", "LIST"},
    {"action", 0, 0, G_OPTION_ARG_STRING, &action, "what happens to the post; default: it is held", ACTION_WORDS("|")},
    {"tag", 0, 0, G_OPTION_ARG_STRING, &tag, "a word to find it again by", "TAG"},
    {"at", 0, 0, G_OPTION_ARG_INT64, &position, "where it goes, from 0; default: behind the others", "POSITION"},
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry remove_options[] = {
    {"list", 0, 0, G_OPTION_ARG_STRING, &list_name, "those of this list, not of the whole site", "LIST"},
    {"tag", 0, 0, G_OPTION_ARG_STRING, &tag, "all that have it", "TAG"},
    {"all", 0, 0, G_OPTION_ARG_NONE, &all, "all of them", NULL},
    G_OPTION_ENTRY_NULL,
};

static const Command add = {
    .name = "add", .arguments = "FIELD PATTERN", .summary = "Decide about posts by the text of a header field",
    .least = 2, .most = 2, .options = add_options, .run = run_add,
};

static const Command remove_match = {
    .name = "remove", .arguments = "[POSITION]", .summary = "Remove one of them, or several", .most = 1,
    .options = remove_options, .run = run_remove,
};

static const Command ls = {
    .name = "ls", .arguments = "[LIST]", .summary = "Show those of a list, or those of the site", .most = 1,
    .options = json_rows_options, .run = run_ls,
};

static const Command *const verbs[] = {&add, &remove_match, &ls, NULL};

const Command cmd_header_match = {
    .name = "header-match", .arguments = "", .summary = "Show or change which header fields decide about a post",
    .verbs = verbs,
};
