/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner list source: add, set, remove. */
#include <stdio.h>

#include "base/fail.h"
#include "cli/lists/list_source.h"
#include "cli/plain.h"

static char *place_text, *query, *user, *password_file, *interval, *welcome;
static gboolean keep_members, drop_members;

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

/* ---- remove ---- */

static bool may_remove(Store *store, const MemberSource *source, GError **error)
{
    int64_t alone;
    if (!source_count_alone(store, source, &alone, error))
        return false;
    return alone == 0 || keep_members || drop_members ||
           fail(error, FAIL_NEVER,
                "%" G_GINT64_FORMAT " members came by the source %s alone: give --drop-members to "
                "remove them with it, or --keep-members to let them stay as if they had joined",
                alone, source->name);
}

static int run_remove(Site *site, int argc, char **argv, GError **error)
{
    SourceShell shell;
    (void)argc;
    if (keep_members && drop_members)
        return command_usage(error, "give --keep-members or --drop-members");
    bool open = source_shell_open(&shell, site, error);
    g_autoptr(List) list = open ? site_list_find(shell.place.store, argv[0], error) : NULL;
    g_autoptr(MemberSource) source = list ? source_find(shell.place.store, list->list_id, argv[1], error) : NULL;
    g_auto(SourceResult) result = {0};
    if (!source || !may_remove(shell.place.store, source, error) ||
        (drop_members && !source_empty(&shell.run, source, &result, error)))
        return TOOL_LATER;
    g_autoptr(Work) work = work_place_unit(&shell.place, error);
    if (!work || !source_unmake(work, list, source, error) || !work_place_commit(&shell.place, site, work, error))
        return TOOL_LATER;
    printf("source %s removed from %s, with %" G_GINT64_FORMAT " members\n", source->name, list->posting_address,
           result.left);
    return TOOL_OK;
}

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

const Command list_source_add = {
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

const Command list_source_set = {
    .name = "set",
    .arguments = "LIST NAME",
    .summary = "Change a source",
    .least = 2,
    .most = 2,
    .options = set_options,
    .run = run_set,
    .details = "An empty value takes away what was set.",
};

const Command list_source_remove = {
    .name = "remove",
    .arguments = "LIST NAME",
    .summary = "Remove a source, and say what becomes of its members",
    .least = 2,
    .most = 2,
    .options = remove_options,
    .run = run_remove,
};
