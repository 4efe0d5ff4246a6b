/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner domain: create, remove, ls. */
#include <stdio.h>

#include "base/fail.h"
#include "cli/admin/new_domain.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/work_site.h"
#include "lists/making/domain_make.h"
#include "store/lists/domain.h"

static char *description;
static gboolean names;

static int run_create(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace place;
    char *found = NULL;
    g_autoptr(Work) work = work_place_begin(&place, site, error);
    bool sound = work && domain_near(place.store, argv[0], &found, error);
    g_autofree char *near = found;
    if (!sound || !domain_make(work, argv[0], &(DomainData){.description = description}, error) ||
        !work_place_commit(&place, site, work, error))
        return TOOL_LATER;
    printf("domain %s created\n", argv[0]);
    new_domain_tell(site, argv[0], near);
    return TOOL_OK;
}

static int run_remove(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace place;
    g_autoptr(Work) work = work_place_begin(&place, site, error);
    g_autoptr(GError) refusal = NULL;
    if (!work)
        return TOOL_LATER;
    if (domain_drop(work, argv[0], false, &refusal) && work_place_commit(&place, site, work, &refusal)) {
        printf("domain %s removed\n", argv[0]);
        return TOOL_OK;
    }
    if (g_error_matches(refusal, FAIL, FAIL_NEVER))
        refusal->code = FAIL_RACE; /* well asked, but it has lists: 1, not 64 */
    g_propagate_error(error, g_steal_pointer(&refusal));
    return TOOL_LATER;
}

static int run_alias(Site *site, int argc, char **argv, GError **error)
{
    const char *alias = argc > 1 ? argv[1] : NULL;
    WorkPlace place;
    g_autoptr(Work) work = work_place_begin(&place, site, error);
    if (!work || !domain_change(work, argv[0], &(DomainData){.alias = alias ? alias : ""}, error) ||
        !work_place_commit(&place, site, work, error))
        return TOOL_LATER;
    if (alias)
        printf("mail to %s reaches the lists of %s\n", alias, argv[0]);
    else
        printf("%s has no alias now\n", argv[0]);
    return TOOL_OK;
}

static int run_ls(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {
        {"mail_host", "DOMAIN", COLUMN_TEXT}, {"alias_domain", "ALIAS", COLUMN_TEXT},
        {"description", "DESCRIPTION", COLUMN_TEXT}, {NULL, NULL, COLUMN_TEXT}};
    Store *store = site_store(site, false, error);
    if (!store)
        return TOOL_LATER;
    g_autoptr(GPtrArray) all = domain_all(store, error);
    if (!all)
        return TOOL_LATER;
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    for (guint i = 0; i < all->len; i++) {
        const Domain *domain = all->pdata[i];
        if (names)
            puts(domain->mail_host);
        else
            listing_row(listing, json_pack("{so so so}", "mail_host", listing_text(domain->mail_host), "alias_domain",
                                           listing_text(domain->alias_domain), "description",
                                           listing_text(domain->description)));
    }
    return TOOL_OK;
}

static const GOptionEntry create_options[] = {
    {"description", 0, 0, G_OPTION_ARG_STRING, &description, "what the domain is for", "TEXT"},
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry ls_options[] = {
    JSON_ROWS_OPTION,
    {"names", 0, 0, G_OPTION_ARG_NONE, &names, "only the names", NULL},
    G_OPTION_ENTRY_NULL,
};

static const Command create = {
    .name = "create", .arguments = "DOMAIN", .summary = "Make a mail domain known", .least = 1, .most = 1,
    .options = create_options, .run = run_create,
};

static const Command remove_domain = {
    .name = "remove", .arguments = "DOMAIN", .summary = "Forget a domain that has no lists", .least = 1, .most = 1,
    .run = run_remove,
};

static const Command alias_verb = {
    .name = "alias", .arguments = "DOMAIN [ALIAS]", .least = 1, .most = 2, .run = run_alias,
    .summary = "Let mail to another domain reach the lists of this one",
    .details = "Without ALIAS the alias that it has is taken away.",
};

static const Command ls = {
    .name = "ls", .arguments = "", .summary = "Show the domains", .options = ls_options, .run = run_ls,
};

static const Command *const verbs[] = {&create, &alias_verb, &remove_domain, &ls, NULL};

const Command cmd_domain = {
    .name = "domain", .arguments = "", .summary = "Create, alias, remove or show mail domains", .verbs = verbs,
};
