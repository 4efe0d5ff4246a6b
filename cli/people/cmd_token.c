/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner token: create, ls, revoke. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/work_site.h"
#include "lists/people/token.h"
#include "mail/domain_name.h"
#include "store/lists/domain.h"
#include "store/lists/list.h"

static char *name, *expires, *verbs;
static char **lists, **domains;
static gboolean read_only, metrics;

/* List-Ids of the lists that were named, or (of_domains) names of the domains, apart by blanks; NULL: *error is set. */
static char *scope_text(Store *store, char *const *named, bool of_domains, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (char *const *at = named; at && *at; at++) {
        g_autofree char *ascii = of_domains ? domain_name_ascii(*at) : NULL;
        g_autoptr(Domain) domain = of_domains ? domain_find(store, ascii, error) : NULL;
        g_autoptr(List) list = of_domains ? NULL : site_list_find(store, *at, error);
        if (!domain && !list)
            return NULL;
        g_string_append_printf(text, "%s%s", text->len ? " " : "", domain ? domain->mail_host : list->list_id);
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static int run_create(Site *site, int argc, char **argv, GError **error)
{
    static const char *const known[] = {"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", NULL};
    WorkPlace place;
    int64_t life = 0;
    char id[TOKEN_ID_SIZE];
    if (metrics && (lists || domains || verbs || read_only))
        return command_usage(error, "--metrics is for the figures alone; it goes with no other scope");
    if (read_only && verbs)
        return command_usage(error, "--read-only and --verbs exclude each other");
    if (expires && (!config_duration_parse(expires, &life) || life <= 0))
        return command_usage(error, "--expires: '%s' is no time such as 12h or 90d", expires);
    g_auto(GStrv) words = g_strsplit(read_only ? "GET,HEAD,OPTIONS" : verbs ? verbs : "", ",", -1);
    for (char **word = words; *word; word++) {
        char *upper = g_ascii_strup(*word, -1);
        g_free(*word);
        *word = upper;
        if (!g_strv_contains(known, upper))
            return command_usage(error, "--verbs: '%s' is none of GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE", upper);
    }
    g_autofree char *allowed = g_strjoinv(" ", words); /* as the store has it, "GET POST" */
    g_autoptr(Work) work = work_place_begin(&place, site, error);
    g_autofree char *of_lists = work ? scope_text(place.store, lists, false, error) : NULL;
    g_autofree char *of_domains = of_lists ? scope_text(place.store, domains, true, error) : NULL;
    if (!of_domains)
        return TOOL_LATER;
    const Token like = {.name = name ? name : (char *)"", .verbs = allowed, .lists = of_lists, .domains = of_domains,
                        .metrics = metrics, .expires_at = life ? work_now(work) + life : 0};
    g_autofree char *text = token_create(work, &like, id, error);
    if (!text || !work_commit(work, NULL, error))
        return TOOL_LATER;
    puts(text);
    return TOOL_OK;
}

static int run_ls(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {{"id", "TOKEN", COLUMN_TEXT},      {"name", "NAME", COLUMN_TEXT},
                                     {"verbs", "VERBS", COLUMN_TEXT},   {"lists", "LISTS", COLUMN_TEXT},
                                     {"domains", "DOMAINS", COLUMN_TEXT}, {"expires_at", "EXPIRES", COLUMN_TEXT},
                                     {"used_at", "LAST USE", COLUMN_TEXT}, {NULL, NULL, COLUMN_TEXT}};
    Store *store = site_store(site, false, error);
    g_autoptr(GPtrArray) all = store ? token_all(store, error) : NULL;
    if (!all)
        return TOOL_LATER;
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    for (guint at = 0; at < all->len; at++) {
        const Token *token = all->pdata[at];
        listing_row(listing,
                    json_pack("{ss so so so so sb so so so sb}", "id", token->id, "name", listing_text(token->name),
                              "verbs", listing_text(token->metrics  ? "metrics"
                                                    : *token->verbs ? token->verbs
                                                                    : "all"),
                              "lists", listing_text(token->lists), "domains", listing_text(token->domains), "metrics",
                              token->metrics, "made_at", listing_time(token->made_at), "expires_at",
                              listing_time(token->expires_at), "used_at", listing_time(token->used_at), "expired",
                              token->expires_at != 0 && token->expires_at <= clock_now()));
    }
    return TOOL_OK;
}

static int run_revoke(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace place;
    g_autoptr(Work) work = work_place_begin(&place, site, error);
    for (char **id = argv; work && *id; id++)
        if (!token_revoke(work, *id, error))
            return TOOL_LATER;
    return work && work_commit(work, NULL, error) ? TOOL_OK : TOOL_LATER;
}

static const GOptionEntry create_options[] = {
    {"name", 0, 0, G_OPTION_ARG_STRING, &name, "what it is for", "TEXT"},
    {"expires", 0, 0, G_OPTION_ARG_STRING, &expires, "after this time it is good no more, such as 90d", "TIME"},
    {"verbs", 0, 0, G_OPTION_ARG_STRING, &verbs, "only these, such as GET,POST", "VERBS"},
    {"read-only", 0, 0, G_OPTION_ARG_NONE, &read_only, "only GET, HEAD and OPTIONS", NULL},
    {"list", 0, 0, G_OPTION_ARG_STRING_ARRAY, &lists, "only this list; may be repeated", "LIST"},
    {"domain", 0, 0, G_OPTION_ARG_STRING_ARRAY, &domains, "only this domain and its lists; may be repeated", "DOMAIN"},
    {"metrics", 0, 0, G_OPTION_ARG_NONE, &metrics, "only the figures at /metrics", NULL},
    G_OPTION_ENTRY_NULL,
};

static const Command create = {
    .name = "create", .arguments = "", .summary = "Make a token for the REST interface, and print it, this once",
    .options = create_options, .run = run_create,
};

static const Command ls = {
    .name = "ls", .arguments = "", .summary = "Show the tokens, their scopes and when each was last used",
    .options = json_rows_options, .run = run_ls,
};

static const Command revoke_token = {
    .name = "revoke", .arguments = "TOKEN...", .summary = "Make tokens, named by their ids, good no more", .least = 1,
    .most = -1, .run = run_revoke,
};

static const Command *const token_verbs[] = {&create, &ls, &revoke_token, NULL};

const Command cmd_token = {
    .name = "token", .arguments = "", .summary = "Make, show or revoke tokens for the REST interface",
    .verbs = token_verbs,
};
