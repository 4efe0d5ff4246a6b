/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner news: the news groups that lists are linked with. */
#include <inttypes.h>
#include <stdio.h>

#include "base/fail.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/work_site.h"
#include "lists/posts/news.h"
#include "store/lists/list_setting.h"
#include "store/lists/news.h"

static int run_ls(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {
        {"list", "LIST", COLUMN_TEXT},         {"newsgroup", "GROUP", COLUMN_TEXT}, {"to_news", "TO NEWS", COLUMN_TEXT},
        {"to_mail", "TO MAIL", COLUMN_TEXT},   {"watermark", "UP TO", COLUMN_NUMBER},
        {"looked_at", "LOOKED", COLUMN_TEXT},  {"fault", "FAULT", COLUMN_TEXT},     {NULL, NULL, COLUMN_TEXT}};
    Store *store = site_store(site, false, error);
    g_autoptr(GPtrArray) places = store ? news_places(store, error) : NULL;
    if (!places)
        return TOOL_LATER;
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    for (guint at = 0; at < places->len; at++) {
        const NewsPlace *place = places->pdata[at];
        g_autoptr(List) list = list_by_id(store, place->list_id, error);
        if (!list)
            return TOOL_LATER;
        bool nowhere = place->watermark == NEWS_NOWHERE;
        listing_row(listing,
                    json_pack("{ss ss sb sb so so so}", "list", list->posting_address, "newsgroup", place->newsgroup,
                              "to_news", list->settings->gateway_to_news, "to_mail", list->settings->gateway_to_mail,
                              "watermark", nowhere ? json_null() : json_integer(place->watermark), "looked_at",
                              listing_time(place->looked_at), "fault", listing_text(place->fault)));
    }
    return TOOL_OK;
}

static int run_catchup(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace place;
    int64_t number = NEWS_NOWHERE;
    if (argc > 1 && !g_ascii_string_to_signed(argv[1], 10, 0, G_MAXINT64, &number, NULL)) {
        fail(error, FAIL_NEVER, "found \"%s\"; allowed is the number of an article", argv[1]);
        return TOOL_USAGE;
    }
    g_autoptr(Work) work = work_place_begin_spooled(&place, site, error);
    g_autoptr(List) list = work ? site_list_find(place.store, argv[0], error) : NULL;
    if (!list || !news_catch_up(work, list, number, error) || !work_commit(work, place.spool, error))
        return TOOL_LATER;
    if (number == NEWS_NOWHERE)
        printf("%s goes on with what comes into %s from now on\n", list->posting_address,
               list->settings->linked_newsgroup);
    else
        printf("%s goes on behind article %" PRId64 " of %s\n", list->posting_address, number,
               list->settings->linked_newsgroup);
    return TOOL_OK;
}

static const Command ls = {
    .name = "ls", .arguments = "", .summary = "Show the lists with news groups, and where they stand", .least = 0,
    .most = 0, .options = json_rows_options, .run = run_ls,
    .details = "UP TO is the number of the last article of the group that was looked at for the list.",
};

static const Command catchup = {
    .name = "catchup",
    .arguments = "LIST [NUMBER]",
    .summary = "Leave out the articles that are in the group now",
    .least = 1,
    .most = 2,
    .run = run_catchup,
    .details = "With NUMBER the list goes on behind that article. A list whose group was made anew stays where it is "
               "until this is said, for nobody else knows which articles it has had.",
};

static const Command *const verbs[] = {&ls, &catchup, NULL};

const Command cmd_news = {
    .name = "news", .arguments = "", .summary = "Show or move where lists stand in their news groups", .verbs = verbs,
};
