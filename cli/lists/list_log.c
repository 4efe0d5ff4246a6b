/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner list log: who changed what. */
#include "base/fail.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "store/lists/list.h"
#include "store/lists/list_log.h"

#define PAGE 500

static char *kind;
/* Of members the role is the kind. */
static const char *const kinds[] = {LOG_SETTING, "member",   "owner",    "moderator", "nonmember",      LOG_OPTIONS,
                                    LOG_IMPORT,  LOG_SOURCE, LOG_POST,   LOG_REQUEST, LOG_SCHEDULED,    LOG_BAN,
                                    LOG_HEADER_MATCH, LOG_TEMPLATE, LOG_LIST, NULL};
static gint limit = 100;

static int run(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {{"date", "DATE", COLUMN_TEXT},   {"by", "BY", COLUMN_TEXT},
                                     {"door", "DOOR", COLUMN_TEXT},   {"kind", "KIND", COLUMN_TEXT},
                                     {"name", "NAME", COLUMN_TEXT},   {"before", "BEFORE", COLUMN_TEXT},
                                     {"after", "AFTER", COLUMN_TEXT}, {NULL, NULL, COLUMN_TEXT}};
    (void)argc;
    if (kind && !g_strv_contains(kinds, kind)) {
        g_autofree char *known = g_strjoinv(", ", (char **)kinds);
        return command_usage(error, "--kind: found '%s'; allowed are %s", kind, known);
    }
    if (limit < 0)
        return command_usage(error, "--limit: a number of rows; 0 for all");
    Store *store = site_store(site, false, error);
    g_autoptr(List) list = store ? site_list_find(store, argv[0], error) : NULL;
    if (!list)
        return TOOL_LATER;
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    int64_t before = 0;
    guint left = limit > 0 ? (guint)limit : G_MAXUINT, wanted, got;
    do {
        wanted = MIN(left, PAGE);
        g_autoptr(GPtrArray) rows = list_log_page(store, list->list_id, kind, before, wanted, error);
        if (!rows)
            return TOOL_LATER;
        got = rows->len;
        left -= got;
        for (guint at = 0; at < got; at++) {
            const ListLogRow *row = rows->pdata[at];
            listing_row(listing, json_pack("{so so so so so so so}", "date", listing_time(row->made_at), "by",
                                           listing_text(row->by), "door", listing_text(row->door), "kind",
                                           listing_text(row->kind), "name", listing_text(row->name), "before",
                                           listing_text(row->before), "after", listing_text(row->after)));
            before = row->key;
        }
    } while (got == wanted && left > 0);
    return TOOL_OK;
}

static const GOptionEntry options[] = {
    JSON_ROWS_OPTION,
    {"kind", 0, 0, G_OPTION_ARG_STRING, &kind, "only of this kind, such as setting or member", "KIND"},
    {"limit", 0, 0, G_OPTION_ARG_INT, &limit, "the newest N (default 100); 0 for all", "N"},
    G_OPTION_ENTRY_NULL,
};

const Command list_log_verb = {
    .name = "log",
    .arguments = "LIST",
    .summary = "Show who changed what, the newest first",
    .least = 1,
    .most = 1,
    .options = options,
    .run = run,
    .details = "Kinds are setting, member, owner, moderator, nonmember, options, import, source, post, request,\n"
               "ban, header-match, template and list.",
};
