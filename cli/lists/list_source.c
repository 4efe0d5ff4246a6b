/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner list source: ls, show, refresh, why, add, set, remove. */
#include <stdio.h>

#include "base/fail.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/plain.h"
#include "cli/work_site.h"
#include "lists/sources/source.h"

static gboolean force;
static char *place_text, *query, *user, *password_file, *interval, *welcome;
static gboolean keep_members, drop_members;

/* The arguments of the verbs for source_refresh(). It lies on the stack and owns nothing. */
typedef struct SourceShell {
    WorkPlace place;
    Site *site;
    SourceRun run;
} SourceShell;

static bool commit(Work *work, void *data, GError **error)
{
    SourceShell *shell = data;
    return work_place_commit(&shell->place, shell->site, work, error);
}

/* Open the store, and fill *shell. Do not copy *shell afterwards, since shell->run points into it. */
static bool shell_open(SourceShell *shell, Site *site, GError **error)
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
    g_autofree char *every = source->interval > 0 ? config_duration_text(source->interval) : NULL;
    return json_pack("{so so ss so so so so so sb so so so so sI sI sI so so}", "list", listing_text(source->list_id),
                     "name", listing_text(source->name), "kind", source_kind_text((SourceKind)source->kind), "place",
                     listing_text(shown), "query", listing_text(source->query), "user", listing_text(source->bind_dn),
                     "password_file", listing_text(source->password_file), "interval", listing_text(every), "welcome",
                     source->welcome, "made_at", listing_time(source->made_at), "tried_at",
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

static int run_refresh(Site *site, int argc, char **argv, GError **error)
{
    SourceShell shell;
    bool open = shell_open(&shell, site, error);
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
        g_auto(SourceResult) result = {0};
        if (!source_refresh(&shell.run, source, &result, error))
            return TOOL_LATER;
        g_autofree char *which = result.bad > 0 ? g_strdup_printf("; listrunner list source show %s %s shows bad lines",
                                                                  source->list_id, source->name)
                                                : g_strdup("");
        if (result.fault) {
            plain_complain("%s of %s: %s; nothing was changed%s", source->name, source->list_id, result.fault->message,
                           which);
            worst = MAX(worst, command_exit_code(result.fault));
            continue;
        }
        printf("%s: %" G_GINT64_FORMAT " given, %" G_GINT64_FORMAT " joined, %" G_GINT64_FORMAT
               " left, %" G_GINT64_FORMAT " kept out, %" G_GINT64_FORMAT " bad%s\n",
               source->name, result.given, result.joined, result.left, result.kept_out, result.bad, which);
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

/* ---- add, set, remove ---- */

/* An option that was given takes the place of the value; an empty one takes it away. */
static void put(char **field, const char *option)
{
    if (!option)
        return;
    g_free(*field);
    *field = *option ? g_strdup(option) : NULL;
}

static bool put_options(MemberSource *source, GError **error)
{
    put(&source->query, query);
    put(&source->bind_dn, user);
    put(&source->password_file, password_file);
    g_autoptr(GError) wrong = NULL;
    if (interval && !source_interval_read(interval, &source->interval, &wrong))
        return command_usage(error, "--interval: %s", wrong->message) == 0;
    if (welcome && !g_str_equal(welcome, "yes") && !g_str_equal(welcome, "no"))
        return command_usage(error, "--welcome: \"%s\"; right is yes or no", welcome) == 0;
    if (welcome)
        source->welcome = g_str_equal(welcome, "yes");
    return true;
}

static void warn(const MemberSource *source)
{
    if (source_is_plain(source))
        plain_complain("the password of %s goes to the server in plain text, and whoever sits between can read it: use "
                       "%s",
                       source->name,
                       source->kind == SOURCE_LDAP ? "ldaps://, or end the URL of ldap:// with the extension StartTLS"
                                                   : "https://");
}

static int run_add(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace place;
    SourceKind kind;
    (void)argc;
    if (!source_kind_parse(argv[2], &kind))
        return command_usage(error, "\"%s\" is no kind of source; there are file, url, list, sql and ldap", argv[2]);
    g_autoptr(Work) work = work_place_begin(&place, site, error);
    g_autoptr(List) list = work ? site_list_find(place.store, argv[0], error) : NULL;
    if (!list)
        return TOOL_LATER;
    g_autoptr(MemberSource) source = g_new0(MemberSource, 1);
    *source = (MemberSource){
        .list_id = g_strdup(list->list_id), .name = g_strdup(argv[1]), .kind = (int)kind, .place = g_strdup(argv[3])};
    if (!put_options(source, error) || !source_make(work, list, source, error) ||
        !work_place_commit(&place, site, work, error))
        return TOOL_LATER;
    warn(source);
    printf("source %s added to %s; the timer reads it within a minute, or now: listrunner list source refresh %s %s\n",
           source->name, list->posting_address, list->posting_address, source->name);
    return TOOL_OK;
}

static int run_set(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace place;
    (void)argc;
    g_autoptr(Work) work = work_place_begin(&place, site, error);
    g_autoptr(List) list = work ? site_list_find(place.store, argv[0], error) : NULL;
    g_autoptr(MemberSource) source = list ? source_find(place.store, list->list_id, argv[1], error) : NULL;
    if (!source)
        return TOOL_LATER;
    if (place_text && *place_text)
        put(&source->place, place_text);
    if (!put_options(source, error) || !source_set(work, list, source, error) ||
        !work_place_commit(&place, site, work, error))
        return TOOL_LATER;
    warn(source);
    printf("source %s of %s is set\n", source->name, list->posting_address);
    return TOOL_OK;
}

static int run_remove(Site *site, int argc, char **argv, GError **error)
{
    SourceShell shell;
    int64_t alone;
    (void)argc;
    if (keep_members && drop_members)
        return command_usage(error, "give --keep-members or --drop-members");
    bool open = shell_open(&shell, site, error);
    g_autoptr(List) list = open ? site_list_find(shell.place.store, argv[0], error) : NULL;
    g_autoptr(MemberSource) source = list ? source_find(shell.place.store, list->list_id, argv[1], error) : NULL;
    g_auto(SourceResult) result = {0};
    if (!source || !source_count_alone(shell.place.store, source, &alone, error))
        return TOOL_LATER;
    if (alone > 0 && !keep_members && !drop_members) {
        fail(error, FAIL_NEVER,
             "%" G_GINT64_FORMAT " members came by the source %s alone: give --drop-members to "
             "remove them with it, or --keep-members to let them stay as if they had joined",
             alone, source->name);
        return TOOL_LATER;
    }
    if (drop_members && !source_empty(&shell.run, source, &result, error))
        return TOOL_LATER;
    g_autoptr(Work) work = work_place_unit(&shell.place, error);
    if (!work || !source_unmake(work, list, source, error) || !work_place_commit(&shell.place, site, work, error))
        return TOOL_LATER;
    printf("source %s removed from %s, with %" G_GINT64_FORMAT " members\n", source->name, list->posting_address,
           result.left);
    return TOOL_OK;
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

#define SOURCE_OPTIONS                                                                                                \
    {                                                                                                                 \
        "query", 0, 0, G_OPTION_ARG_STRING, &query, "of kind sql: gives the address, and then the name if any",       \
        "SELECT"},                                                                                                    \
        {"user", 0, 0, G_OPTION_ARG_STRING, &user, "who asks: the bind DN of ldap, the user of a url", "USER"},       \
        {"password-file",                                                                                             \
         0,                                                                                                           \
         0,                                                                                                           \
         G_OPTION_ARG_FILENAME,                                                                                       \
         &password_file,                                                                                              \
         "a file that the site's user alone can read; its first line is the password",                                \
         "FILE"},                                                                                                     \
        {"interval", 0, 0, G_OPTION_ARG_STRING, &interval, "how often it is read; \"\": [site] source_interval",      \
         "DURATION"},                                                                                                 \
    {                                                                                                                 \
        "welcome", 0, 0, G_OPTION_ARG_STRING, &welcome, "whether new members get the letter of welcome; default: no", \
            "yes|no"                                                                                                  \
    }

static const GOptionEntry add_options[] = {SOURCE_OPTIONS, G_OPTION_ENTRY_NULL};

static const GOptionEntry set_options[] = {
    {"place", 0, 0, G_OPTION_ARG_STRING, &place_text, "another path, URL or list", "PLACE"},
    SOURCE_OPTIONS,
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry remove_options[] = {
    {"keep-members", 0, 0, G_OPTION_ARG_NONE, &keep_members, "who came by it alone stays, as if having joined", NULL},
    {"drop-members", 0, 0, G_OPTION_ARG_NONE, &drop_members, "who came by it alone is removed with it", NULL},
    G_OPTION_ENTRY_NULL,
};

static const Command add_verb = {
    .name = "add",
    .arguments = "LIST NAME KIND PLACE",
    .summary = "Let a list get members from somewhere",
    .least = 4,
    .most = 4,
    .options = add_options,
    .run = run_add,
    .details = "KIND and PLACE are: file PATH, or url URL, with a line for each: ADDRESS or 'Name <ADDRESS>';\n"
               "list LIST: its members; sql PATH of a file of SQLite, postgresql://USER@HOST/DATABASE or\n"
               "mysql://USER@HOST/DATABASE;\n"
               "ldap 'ldaps://HOST/BASE?ATTRIBUTES?SCOPE?FILTER', the first attribute being the address, the second\n"
               "the name; or 'ldap://...?FILTER?StartTLS'.",
};

static const Command set_verb = {
    .name = "set",
    .arguments = "LIST NAME",
    .summary = "Change a source",
    .least = 2,
    .most = 2,
    .options = set_options,
    .run = run_set,
    .details = "An empty value takes away what was set.",
};

static const Command remove_verb = {
    .name = "remove",
    .arguments = "LIST NAME",
    .summary = "Remove a source, and say what becomes of its members",
    .least = 2,
    .most = 2,
    .options = remove_options,
    .run = run_remove,
};

static const Command *const verbs[] = {
    &add_verb, &set_verb, &remove_verb, &ls, &show, &refresh, &why, NULL};

const Command list_source_verb = {
    .name = "source",
    .arguments = "",
    .summary = "Members from outside: a file, URL, list, database or directory",
    .verbs = verbs,
};
