/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/template_place.h"

#include "cli/command.h"
#include "store/domain.h"
#include "store/template_text.h"

void template_place_clear(TemplatePlace *place)
{
    g_clear_pointer(&place->key, g_free);
    if (!place->found) /* otherwise this is the list's */
        g_free(place->list.mail_host);
    g_clear_pointer(&place->found, list_free);
}

bool template_place_read(TemplatePlace *place, const TemplatePlaceOptions *options, Store *store, GError **error)
{
    place->list = (List){.list_id = (char *)"", .list_name = (char *)"", .posting_address = (char *)"",
                         .preferred_language = (char *)"en"};
    if (options->list && options->domain) {
        command_usage(error, "give --list or --domain, not both");
        return false;
    }
    if (options->list) {
        place->found = list_find(store, options->list, error);
        if (!place->found)
            return false;
        place->list = *place->found;
        place->key = g_strdup(place->found->list_id);
        return true;
    }
    g_autoptr(Domain) domain = options->domain ? domain_find(store, options->domain, error) : NULL;
    if (options->domain && !domain)
        return false;
    place->list.mail_host = g_strdup(domain ? domain->mail_host : "");
    place->key = domain ? template_text_place(domain->mail_host) : g_strdup("");
    return true;
}

static bool add_rows(GPtrArray *rows, Store *store, const char *place, GError **error)
{
    g_autoptr(GPtrArray) some = template_text_all(store, place, error);
    while (some && some->len > 0)
        g_ptr_array_add(rows, g_ptr_array_steal_index(some, 0));
    return some != NULL;
}

GPtrArray *template_place_rows(const TemplatePlace *place, Store *store, GError **error)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)template_text_free);
    g_autofree char *domain = template_text_place(place->list.mail_host);
    bool done = (!place->found || add_rows(rows, store, place->key, error)) &&
                (!*place->list.mail_host || add_rows(rows, store, domain, error)) && add_rows(rows, store, "", error);
    return done ? g_steal_pointer(&rows) : NULL;
}
