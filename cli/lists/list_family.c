/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner list family: ls, apply. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/plain.h"
#include "cli/work_site.h"
#include "lists/making/family.h"
#include "lists/making/setting_check.h"
#include "lists/making/style_config.h"
#include "lists/making/style.h"
#include "store/lists/list_setting.h"

static gboolean dry_run;

/* ---- finding the lists ---- */

typedef struct FamilyLists {
    const char *family;
    GPtrArray *list_ids; /* of char * */
} FamilyLists;

static bool note_list(const List *list, void *data)
{
    const FamilyLists *lists = data;
    if (strcmp(list->settings->family, lists->family) == 0)
        g_ptr_array_add(lists->list_ids, g_strdup(list->list_id));
    return true;
}

/* Of char *, freed with the array; NULL: the store failed. */
static GPtrArray *lists_of(Store *store, const char *family, GError **error)
{
    g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);
    FamilyLists lists = {family, ids};
    return list_each(store, NULL, note_list, &lists, error) ? g_steal_pointer(&ids) : NULL;
}

/* ---- verbs ---- */

static int run_ls(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {{"name", "FAMILY", COLUMN_TEXT},
                                     {"lists", "LISTS", COLUMN_NUMBER},
                                     {"about", "ABOUT", COLUMN_TEXT},
                                     {NULL, NULL, COLUMN_TEXT}};
    const Config *config = site_config(site, error);
    Store *store = config ? site_store(site, false, error) : NULL;
    if (!store)
        return TOOL_LATER;
    g_autofree Style *styles = style_all(config);
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    for (const Style *style = styles; style->name; style++) {
        if (!style_is_family(config, style->name))
            continue;
        g_autofree char *section = g_strconcat(STYLE_FAMILY ".", style->name, NULL);
        g_autoptr(GPtrArray) lists = lists_of(store, style->name, error);
        if (!lists)
            return TOOL_LATER;
        listing_row(listing,
                    json_pack("{so sI so so sb so}", "name", listing_text(style->name), "lists", (json_int_t)lists->len,
                              "fixed", listing_texts(config_list(config, section, STYLE_FIXED)), "limited",
                              listing_texts(config_list(config, section, STYLE_LIMITED)), "gone", 0, "about",
                              listing_text(style->about)));
    }
    g_autoptr(GPtrArray) gone = setting_check_families(store, config, error);
    for (guint at = 0; gone && at < gone->len; at++) {
        const ListNamed *one = gone->pdata[at];
        listing_row(listing,
                    json_pack("{so sI s[] s[] sb ss}", "name", listing_text(one->value), "lists",
                              (json_int_t)one->lists, "fixed", "limited", "gone", 1, "about",
                              "not in the configuration: its lists refuse changes; see listrunner config check"));
    }
    return gone ? TOOL_OK : TOOL_LATER;
}

/* One list, as a whole or not at all. */
static bool apply_one(WorkPlace *place, Site *site, const char *list_id, Listing *listing, GError **error)
{
    g_autoptr(Work) work = work_place_unit(place, error);
    g_autoptr(List) list = work ? list_by_id(place->store, list_id, error) : NULL;
    g_autoptr(GPtrArray) differences = list ? family_differences(place->site.config, list, error) : NULL;
    bool done = differences &&
                (dry_run || differences->len == 0 ||
                 (family_apply(work, list, differences, error) && work_place_commit(place, site, work, error)));
    for (guint at = 0; done && at < differences->len; at++) {
        const FamilyDifference *one = differences->pdata[at];
        listing_row(listing, json_pack("{so ss so so}", "list", listing_text(list->posting_address), "setting",
                                       one->setting->name, "before", listing_text(one->before), "after",
                                       listing_text(one->after)));
    }
    return done;
}

static int run_apply(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {{"list", "LIST", COLUMN_TEXT},
                                     {"setting", "SETTING", COLUMN_TEXT},
                                     {"before", "BEFORE", COLUMN_TEXT},
                                     {"after", "AFTER", COLUMN_TEXT},
                                     {NULL, NULL, COLUMN_TEXT}};
    WorkPlace place;
    int worst = TOOL_OK;
    if (!work_place_store(&place, site, error))
        return TOOL_LATER;
    if (!style_is_family(place.site.config, argv[0])) {
        fail(error, FAIL_MISSING, "there is no section [style.%s] with fixed or limited settings", argv[0]);
        return TOOL_LATER;
    }
    g_autoptr(GPtrArray) lists = lists_of(place.store, argv[0], error);
    g_autoptr(Listing) listing = lists ? listing_new(columns, json_option) : NULL;
    for (guint at = 0; lists && at < lists->len; at++) {
        g_autoptr(GError) refusal = NULL;
        if (apply_one(&place, site, lists->pdata[at], listing, &refusal))
            continue;
        plain_complain("listrunner list family: %s stays as it is: %s", (const char *)lists->pdata[at],
                       refusal->message);
        worst = MAX(worst, command_exit_code(refusal));
    }
    return lists ? worst : TOOL_LATER;
}

static const GOptionEntry apply_options[] = {
    {"dry-run", 'n', 0, G_OPTION_ARG_NONE, &dry_run, "only show what would be changed", NULL},
    JSON_ROWS_OPTION,
    G_OPTION_ENTRY_NULL,
};

static const Command ls = {
    .name = "ls",
    .arguments = "",
    .summary = "Show the families, and how many lists each has",
    .options = json_rows_options,
    .run = run_ls,
};

static const Command apply = {
    .name = "apply",
    .arguments = "NAME",
    .summary = "Bring all lists of a family to what its section says now",
    .details = "Shown is each setting that was changed.",
    .least = 1,
    .most = 1,
    .options = apply_options,
    .run = run_apply,
};

static const Command *const verbs[] = {&ls, &apply, NULL};

const Command list_family_verb = {
    .name = "family",
    .arguments = "",
    .summary = "Show families of lists, and hold their lists to them",
    .verbs = verbs,
};
