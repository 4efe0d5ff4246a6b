/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner list: create, rename, copy, ls; remove is in list_remove.c, the settings verbs are in list_settings.c, try
 * is in list_try.c. */
#include <stdio.h>
#include <string.h>

#include "cli/admin/new_domain.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/work_site.h"
#include "lists/making/list_change.h"
#include "lists/making/list_make.h"
#include "store/lists/domain.h"
#include "store/lists/list_setting.h"
#include "store/people/member.h"

static char *style;
static char **owners;
static gboolean keep_domains, new_domain, notify, names, with_members;

static int run_create(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace place;
    bool known = false;
    const char *at = strrchr(argv[0], '@');
    const NewList new = {.address = argv[0],
                         .style = style,
                         .owners = (const char *const *)owners,
                         .make_domain = !keep_domains,
                         .near_domain = new_domain,
                         .notify = notify};
    if (new_domain && keep_domains)
        return command_usage(error, "--new-domain and --no-domain contradict each other");
    g_autoptr(Work) work = work_place_begin(&place, site, error);
    bool sound = work && (!at || domain_answers(place.store, at + 1, &known, error));
    g_autoptr(List) list = sound ? list_make(work, &new, error) : NULL;
    if (!list || !work_place_commit(&place, site, work, error))
        return TOOL_LATER;
    printf("list %s created (List-Id %s)\n", list->posting_address, list->list_id);
    if (!known)
        new_domain_tell(site, list->mail_host, NULL);
    return TOOL_OK;
}

static int run_rename(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace place;
    g_autoptr(Work) work = work_place_begin_spooled(&place, site, error);
    g_autoptr(List) list = work ? site_list_find(place.store, argv[0], error) : NULL;
    if (!list || !list_move(work, list->list_id, argv[1], error) || !work_commit(work, place.spool, error))
        return TOOL_LATER;
    printf("list %s is %s now (List-Id %s, as before)\n", list->posting_address, argv[1], list->list_id);
    return TOOL_OK;
}

static int run_copy(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace place;
    g_autoptr(Work) work = work_place_begin_spooled(&place, site, error);
    g_autoptr(List) list = work ? site_list_find(place.store, argv[0], error) : NULL;
    g_autoptr(List) made = list ? list_copy(work, list, argv[1], with_members, error) : NULL;
    if (!made || !work_commit(work, place.spool, error))
        return TOOL_LATER;
    printf("list %s created (List-Id %s), as a copy of %s\n", made->posting_address, made->list_id,
           list->posting_address);
    return TOOL_OK;
}

typedef struct ListWalk {
    Listing *listing;
    Store *store;
    GError *error;
} ListWalk;

static bool show_list(const List *list, void *data)
{
    ListWalk *walk = data;
    if (names) {
        puts(list->posting_address);
        return true;
    }
    int64_t members = 0;
    if (!member_count(walk->store, list->list_id, ROLE_MEMBER, &members, &walk->error))
        return false;
    listing_row(walk->listing,
                json_pack("{so so sI sI so so}", "address", listing_text(list->posting_address), "list_id",
                          listing_text(list->list_id), "members", (json_int_t)members, "posts",
                          (json_int_t)(list->post_id - 1), "last_post_at", listing_time(list->last_post_at),
                          "description", listing_text(list->settings->description)));
    return true;
}

static int run_ls(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {
        {"address", "LIST", COLUMN_TEXT},          {"members", "MEMBERS", COLUMN_NUMBER},
        {"posts", "POSTS", COLUMN_NUMBER},         {"last_post_at", "LAST POST", COLUMN_TEXT},
        {"description", "DESCRIPTION", COLUMN_TEXT}, {NULL, NULL, COLUMN_TEXT}};
    Store *store = site_store(site, false, error);
    g_autoptr(Domain) domain = store && argc > 0 ? domain_find(store, argv[0], error) : NULL;
    if (!store || (argc > 0 && !domain))
        return TOOL_LATER;
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    ListWalk walk = {.listing = listing, .store = store};
    if (!list_each(store, domain ? domain->mail_host : NULL, show_list, &walk, error))
        return TOOL_LATER;
    if (walk.error) {
        g_propagate_error(error, walk.error);
        return TOOL_LATER;
    }
    return TOOL_OK;
}

static const GOptionEntry create_options[] = {
    {"style", 0, 0, G_OPTION_ARG_STRING, &style,
     "discussion (the default), announce, private, or one of the site's own", "discussion|announce|private"},
    {"owner", 0, 0, G_OPTION_ARG_STRING_ARRAY, &owners, "an owner; may be given more than once", "ADDRESS"},
    {"notify", 'n', 0, G_OPTION_ARG_NONE, &notify, "write to the owners about their new list", NULL},
    {"no-domain", 0, 0, G_OPTION_ARG_NONE, &keep_domains, "fail when the domain is not known, instead of creating it",
     NULL},
    {"new-domain", 0, 0, G_OPTION_ARG_NONE, &new_domain,
     "create the domain also when its name is within two letters of a known one", NULL},
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry copy_options[] = {
    {"members", 0, 0, G_OPTION_ARG_NONE, &with_members, "its members and nonmembers, too", NULL},
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry ls_options[] = {
    JSON_ROWS_OPTION,
    {"names", 0, 0, G_OPTION_ARG_NONE, &names, "only the addresses", NULL},
    G_OPTION_ENTRY_NULL,
};

static const Command create = {
    .name = "create", .arguments = "ADDRESS", .summary = "Create a list, and its domain when that is new", .least = 1,
    .most = 1, .options = create_options, .run = run_create,
};

static const Command list_rename_verb = {
    .name = "rename", .arguments = "LIST ADDRESS", .summary = "Give a list another address", .least = 2, .most = 2,
    .run = run_rename,
    .details = "The List-Id stays, and mail to the address that it was made of goes on reaching the list.",
};

static const Command list_copy_verb = {
    .name = "copy", .arguments = "LIST ADDRESS", .summary = "Make a list like another one", .least = 2, .most = 2,
    .options = copy_options, .run = run_copy,
    .details = "The copy has its settings, owners, moderators, bans, header rows and texts of letters.",
};

static const Command ls = {
    .name = "ls", .arguments = "[DOMAIN]", .summary = "Show the lists", .most = 1, .options = ls_options, .run = run_ls,
};

static const Command *const verbs[] = {&create,
                                       &list_rename_verb,
                                       &list_copy_verb,
                                       &list_remove_verb,
                                       &ls,
                                       &list_show,
                                       &list_get_verb,
                                       &list_set_verb,
                                       &list_reset_verb,
                                       &list_try_verb,
                                       &list_log_verb,
                                       &list_source_verb,
                                       &list_family_verb,
                                       NULL};

const Command cmd_list = {
    .name = "list", .arguments = "", .summary = "Create, rename, copy, remove, show or set up lists", .verbs = verbs,
};
