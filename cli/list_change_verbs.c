/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner list rename, copy. */
#include "cli/list_change_verbs.h"

#include <stdio.h>

#include "cli/work_site.h"
#include "lists/list_change.h"

static gboolean members;

static int run_rename(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace place;
    if (!work_place_open(&place, site, error))
        return TOOL_LATER;
    g_autoptr(List) list = list_find(place.store, argv[0], error);
    g_autoptr(Work) work = list ? work_new(place.store, &place.site, &place.actor) : NULL;
    if (!work || !work_begin(work, error) || !list_move(work, list->list_id, argv[1], error) ||
        !work_commit(work, place.spool, error))
        return TOOL_LATER;
    printf("list %s is %s now (List-Id %s, as before)\n", list->posting_address, argv[1], list->list_id);
    return TOOL_OK;
}

static int run_copy(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace place;
    if (!work_place_open(&place, site, error))
        return TOOL_LATER;
    g_autoptr(List) list = list_find(place.store, argv[0], error);
    g_autoptr(Work) work = list ? work_new(place.store, &place.site, &place.actor) : NULL;
    g_autoptr(List) made = work && work_begin(work, error) ? list_copy(work, list, argv[1], members, error) : NULL;
    if (!made || !work_commit(work, place.spool, error))
        return TOOL_LATER;
    printf("list %s created (List-Id %s), as a copy of %s\n", made->posting_address, made->list_id,
           list->posting_address);
    return TOOL_OK;
}

static const GOptionEntry copy_options[] = {
    {"members", 0, 0, G_OPTION_ARG_NONE, &members, "its members and nonmembers, too", NULL},
    G_OPTION_ENTRY_NULL,
};

const Command list_rename_verb = {
    .name = "rename", .arguments = "LIST ADDRESS", .summary = "Give a list another address", .least = 2, .most = 2,
    .run = run_rename,
    .details = "The List-Id stays, and mail to the address that it was made of goes on reaching the list.",
};

const Command list_copy_verb = {
    .name = "copy", .arguments = "LIST ADDRESS", .summary = "Make a list like another one", .least = 2, .most = 2,
    .options = copy_options, .run = run_copy,
    .details = "The copy has its settings, owners, moderators, bans, header rows and texts of letters.",
};
