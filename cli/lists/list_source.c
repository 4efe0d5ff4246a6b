/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner list source: ls, show, refresh, why; what changes sources is in list_source_change.c. */
#include "cli/lists/list_source.h"

#include <stdio.h>

#include "base/fail.h"
#include "cli/listing.h"
#include "cli/plain.h"

static gboolean force;

static bool commit(Work *work, void *data, GError **error)
{
    SourceShell *shell = data;
    return work_place_commit(&shell->place, shell->site, work, error);
}

bool source_shell_open(SourceShell *shell, Site *site, GError **error)
{
    *shell = (SourceShell){.site = site};
    if (!work_place_store(&shell->place, site, error))
        return false;
    shell->run = (SourceRun){.read = source_read,
                             .store = shell->place.store,
                             .site = &shell->place.site,
                             .actor = &shell->place.actor,
                             .interval = config_duration(shell->place.site.config, "site", "source_interval"),
                             .commit = commit,
                             .data = shell};
    return true;
}

static json_t *bad_lines(const MemberSource *source)
{
    json_t *all = json_array();
    g_auto(GStrv) lines = g_strsplit(source->bad_lines ? source->bad_lines : "", "\n", -1);
    for (char **line = lines; *line; line++)
        json_array_append_new(all, listing_text(*line));
    return all;
}

static json_t *object_of(const MemberSource *source)
{
    g_autofree char *shown = source_shown(source);
    g_autofree char *interval = source->interval > 0 ? config_duration_text(source->interval) : NULL;
    return json_pack("{so so ss so so so so so sb so so so so sI sI sI so so}", "list", listing_text(source->list_id),
                     "name", listing_text(source->name), "kind", source_kind_text((SourceKind)source->kind), "place",
                     listing_text(shown), "query", listing_text(source->query), "user", listing_text(source->bind_dn),
                     "password_file", listing_text(source->password_file), "interval", listing_text(interval),
                     "welcome", source->welcome, "made_at", listing_time(source->made_at), "tried_at",
                     listing_time(source->tried_at), "read_at", listing_time(source->read_at), "due_at",
                     listing_time(source->due_at), "given", (json_int_t)source->given, "kept_out",
                     (json_int_t)source->kept_out, "bad", (json_int_t)source->bad, "fault",
                     listing_text(*source->fault ? source->fault : NULL), "bad_lines", bad_lines(source));
}

static int run_ls(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {{"list", "LIST", COLUMN_TEXT},     {"name", "NAME", COLUMN_TEXT},
                                     {"kind", "KIND", COLUMN_TEXT},     {"place", "PLACE", COLUMN_TEXT},
                                     {"given", "GIVES", COLUMN_NUMBER}, {"kept_out", "KEPT OUT", COLUMN_NUMBER},
                                     {"bad", "BAD", COLUMN_NUMBER},     {"read_at", "READ", COLUMN_TEXT},
                                     {"fault", "FAULT", COLUMN_TEXT},   {NULL, NULL, COLUMN_TEXT}};
    Store *store = site_store(site, false, error);
    g_autoptr(List) list = store && argc > 0 ? site_list_find(store, argv[0], error) : NULL;
    if (!store || (argc > 0 && !list))
        return TOOL_LATER;
    g_autoptr(GPtrArray) all = source_all(store, list ? list->list_id : NULL, error);
    if (!all)
        return TOOL_LATER;
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    for (guint at = 0; at < all->len; at++)
        listing_row(listing, object_of(all->pdata[at]));
    return TOOL_OK;
}

static int run_show(Site *site, int argc, char **argv, GError **error)
{
    Store *store = site_store(site, false, error);
    g_autoptr(List) list = store ? site_list_find(store, argv[0], error) : NULL;
    g_autoptr(MemberSource) source = list ? source_find(store, list->list_id, argv[1], error) : NULL;
    if (!source)
        return TOOL_LATER;
    listing_show(object_of(source), json_option);
    return TOOL_OK;
}

/* ---- refresh ---- */

static bool refresh_one(SourceShell *shell, MemberSource *source, int *worst, GError **error)
{
    g_auto(SourceResult) result = {0};
    if (!source_refresh(&shell->run, source, &result, error))
        return false;
    g_autofree char *which = result.bad > 0 ? g_strdup_printf("; listrunner list source show %s %s shows bad lines",
                                                              source->list_id, source->name)
                                            : g_strdup("");
    if (result.fault) {
        plain_complain("%s of %s: %s; nothing was changed%s", source->name, source->list_id, result.fault->message,
                       which);
        *worst = MAX(*worst, command_exit_code(result.fault));
        return true;
    }
    printf("%s: %" G_GINT64_FORMAT " given, %" G_GINT64_FORMAT " joined, %" G_GINT64_FORMAT " left, %" G_GINT64_FORMAT
           " kept out, %" G_GINT64_FORMAT " bad%s\n",
           source->name, result.given, result.joined, result.left, result.kept_out, result.bad, which);
    return true;
}

static int run_refresh(Site *site, int argc, char **argv, GError **error)
{
    SourceShell shell;
    bool open = source_shell_open(&shell, site, error);
    g_autoptr(List) list = open ? site_list_find(shell.place.store, argv[0], error) : NULL;
    g_autoptr(GPtrArray) all = list ? source_all(shell.place.store, list->list_id, error) : NULL;
    if (!all)
        return TOOL_LATER;
    int worst = TOOL_OK;
    bool found = false;
    shell.run.force = force;
    for (guint at = 0; at < all->len; at++) {
        MemberSource *source = all->pdata[at];
        if (argc > 1 && !g_str_equal(source->name, argv[1]))
            continue;
        found = true;
        if (!refresh_one(&shell, source, &worst, error))
            return TOOL_LATER;
    }
    if (!found && argc > 1)
        fail(error, FAIL_MISSING, "%s has no source %s", list->posting_address, argv[1]);
    else if (!found)
        fail(error, FAIL_MISSING, "%s has no sources; add one: listrunner list source add %s NAME KIND PLACE",
             list->posting_address, list->posting_address);
    return found ? worst : TOOL_LATER;
}

/* ---- why ---- */

static int run_why(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace place;
    g_autoptr(Work) work = work_place_begin(&place, site, error);
    g_autoptr(List) list = work ? site_list_find(place.store, argv[0], error) : NULL;
    json_t *why = list ? source_why(work, list, argv[1], error) : NULL;
    if (!why)
        return TOOL_LATER;
    bool is_member = json_is_true(json_object_get(why, "member"));
    if (json_option) {
        listing_json(why);
    } else {
        g_autofree char *shown = plain_text(argv[1]);
        size_t at;
        json_t *sentence;
        printf("%s is %s member of %s.\n", shown, is_member ? "a" : "no", list->posting_address);
        json_array_foreach(json_object_get(why, "because"), at, sentence) {
            g_autofree char *text = plain_text(json_string_value(sentence));
            puts(text);
        }
    }
    json_decref(why);
    return is_member ? TOOL_OK : TOOL_NOT_SO;
}

static const GOptionEntry refresh_options[] = {
    {"force", 0, 0, G_OPTION_ARG_NONE, &force, "also when addresses are missing that may be missing by mistake", NULL},
    G_OPTION_ENTRY_NULL,
};

static const Command ls = {
    .name = "ls",
    .arguments = "[LIST]",
    .summary = "Show the sources of a list, or of all",
    .most = 1,
    .options = json_rows_options,
    .run = run_ls,
};

static const Command show = {
    .name = "show",
    .arguments = "LIST NAME",
    .summary = "Show all about a source",
    .least = 2,
    .most = 2,
    .options = json_object_options,
    .run = run_show,
};

static const Command refresh = {
    .name = "refresh",
    .arguments = "LIST [NAME]",
    .summary = "Read a source now, or all of the list",
    .least = 1,
    .most = 2,
    .options = refresh_options,
    .run = run_refresh,
    .details =
        "A source that fails, or of whose addresses half and more than 5 are missing, or some while more of its\n"
        "lines than before are no addresses, changes nothing, and the exit code is not 0.",
};

static const Command why = {
    .name = "why",
    .arguments = "LIST ADDRESS",
    .summary = "Say why somebody is or is not a member",
    .least = 2,
    .most = 2,
    .options = json_object_options,
    .run = run_why,
    .details = "The exit code is 1 when the address is no member.",
};

static const Command *const verbs[] = {
    &list_source_add, &list_source_set, &list_source_remove, &ls, &show, &refresh, &why, NULL};

const Command list_source_verb = {
    .name = "source",
    .arguments = "",
    .summary = "Members from outside: a file, URL, list, database or directory",
    .verbs = verbs,
};
