/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner ban: add, remove, ls. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/plain.h"
#include "cli/work_site.h"
#include "lists/people/ban.h"
#include "store/people/ban.h"

static char *list_name;
static gboolean names;

static bool show(const Ban *ban, void *data)
{
    if (names)
        puts(ban->email);
    else
        listing_row(data, json_pack("{so so so}", "list", listing_text(ban->list_id), "address",
                                    listing_text(ban->email), "made_at", listing_time(ban->made_at)));
    return !ferror(stdout);
}

static int run_ls(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {{"address", "ADDRESS", COLUMN_TEXT}, {"list", "LIST", COLUMN_TEXT},
                                     {"made_at", "SINCE", COLUMN_TEXT},   {NULL, NULL, COLUMN_TEXT}};
    Store *store = site_store(site, false, error);
    g_autoptr(List) list = store && argc > 0 ? site_list_find(store, argv[0], error) : NULL;
    if (!store || (argc > 0 && !list))
        return TOOL_LATER;
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    return ban_each(store, list ? list->list_id : NULL, show, listing, error) ? TOOL_OK : TOOL_LATER;
}

static int change_all(Site *site, const void *kind, char **argv, GError **error)
{
    const bool add = *(const bool *)kind;
    WorkPlace place;
    if (!work_place_open(&place, site, error))
        return TOOL_LATER;
    g_autoptr(List) list = list_name ? site_list_find(place.store, list_name, error) : NULL;
    if (list_name && !list)
        return TOOL_LATER;
    for (char **one = argv; add && *one; one++) {
        g_autoptr(List) named = strchr(*one, '@') && **one != '^' ? list_by_address(place.store, *one, NULL) : NULL;
        /* "ban add LIST ADDRESS" would ban the list's own address, and the other from the whole site. */
        if (named) {
            fail(error, FAIL_NEVER, "%s is a list; to ban somebody from it: listrunner ban add --list=%s ADDRESS", *one,
                 *one);
            return TOOL_LATER;
        }
    }
    int worst = TOOL_OK;
    for (; *argv; argv++) {
        g_autoptr(GError) refusal = NULL;
        g_autofree char *shown = plain_text(*argv);
        g_autoptr(Work) work = work_place_unit(&place, &refusal);
        if (work && (add ? ban_impose : ban_lift)(work, list, *argv, &refusal) &&
            work_commit(work, place.spool, &refusal)) {
            printf("%s %s%s%s\n", shown, add ? "banned" : "allowed again", list ? ": " : "",
                   list ? list->posting_address : "");
            continue;
        }
        plain_complain("listrunner ban: %s", refusal->message);
        worst = MAX(worst, command_exit_code(refusal));
    }
    return worst;
}

static const GOptionEntry change_options[] = {
    {"list", 0, 0, G_OPTION_ARG_STRING, &list_name, "only for this list, not the whole site", "LIST"},
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry ls_options[] = {
    JSON_ROWS_OPTION,
    {"names", 0, 0, G_OPTION_ARG_NONE, &names, "only the addresses and patterns", NULL},
    G_OPTION_ENTRY_NULL,
};

static const Command add = {
    .name = "add", .arguments = "ADDRESS...", .summary = "Let addresses, or patterns (^...), neither join nor post",
    .least = 1, .most = -1, .options = change_options, .run_kind = change_all, .kind = &(const bool){true},
};

static const Command remove_ban = {
    .name = "remove", .arguments = "ADDRESS...", .summary = "Let them join and post again", .least = 1, .most = -1,
    .options = change_options, .run_kind = change_all, .kind = &(const bool){false},
};

static const Command ls = {
    .name = "ls", .arguments = "[LIST]", .summary = "Show the bans of a list, or those of the site", .most = 1,
    .options = ls_options, .run = run_ls,
};

static const Command *const verbs[] = {&add, &remove_ban, &ls, NULL};

const Command cmd_ban = {
    .name = "ban", .arguments = "", .summary = "Ban addresses from a list or from the site", .verbs = verbs,
};
