/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner user: people with their addresses. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/listing.h"
#include "cli/people/preference_words.h"
#include "cli/work_site.h"
#include "lists/people/people.h"
#include "lists/people/person.h"
#include "store/people/user.h"

#define PAGE 1000

static gboolean names, owners, yes, none;
static char *password_file;
static char *display_name;

static json_t *user_row(const User *user)
{
    return json_pack("{ss so so sb so so}", "user_id", user->id, "display_name", listing_text(user->display_name),
                     "preferred_address", listing_text(user->preferred), "server_owner", user->server_owner,
                     "created_on", listing_time(user->created_at), "preferences",
                     preferences_json(&user->preferences));
}

static int run_ls(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {{"user_id", "USER", COLUMN_TEXT},
                                     {"created_on", "CREATED", COLUMN_TEXT},
                                     {"address", "ADDRESS", COLUMN_TEXT},
                                     {"display_name", "NAME", COLUMN_TEXT},
                                     {NULL, NULL, COLUMN_TEXT}};
    UserCriteria criteria = {.text = argc > 0 ? argv[0] : NULL, .server_owners = owners};
    Store *store = site_store(site, false, error);
    if (!store)
        return TOOL_LATER;
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    char last[STORE_ID_SIZE] = "";
    for (;;) {
        g_autoptr(GPtrArray) page = user_page(store, &criteria, *last ? last : NULL, PAGE, error);
        if (!page)
            return TOOL_LATER;
        for (unsigned at = 0; at < page->len; at++) {
            const User *user = page->pdata[at];
            if (names) {
                puts(user->address ? user->address : user->id);
                continue;
            }
            json_t *row = user_row(user);
            json_object_set_new(row, "address", listing_text(user->address));
            listing_row(listing, row);
        }
        if (page->len < PAGE || ferror(stdout))
            return TOOL_OK;
        g_strlcpy(last, ((const User *)page->pdata[page->len - 1])->id, sizeof last);
    }
}

static int run_show(Site *site, int argc, char **argv, GError **error)
{
    Store *store = site_store(site, false, error);
    g_autoptr(User) user = store ? user_find(store, argv[0], error) : NULL;
    g_autoptr(GPtrArray) addresses = user ? address_page(store, user->id, NULL, 0, INT_MAX, error) : NULL;
    if (!addresses)
        return TOOL_LATER;
    json_t *row = user_row(user), *all = json_array();
    for (unsigned at = 0; at < addresses->len; at++)
        json_array_append_new(all, listing_text(((const KnownAddress *)addresses->pdata[at])->original));
    json_object_set_new(row, "addresses", all);
    json_object_set_new(row, "has_password", json_boolean(user->password));
    if (!json_option) { /* a line for each preference */
        json_object_update(row, json_object_get(row, "preferences"));
        json_object_del(row, "preferences");
    }
    listing_show(row, json_option);
    return TOOL_OK;
}

static int run_create(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace place;
    PersonChange about = PERSON_STAYS;
    char id[STORE_ID_SIZE];
    about.display_name = display_name;
    g_autoptr(Mailbox) address = mailbox_new(argv[0]);
    g_autoptr(Work) work = work_place_begin(&place, site, error);
    if (!work || !people_create(work, address, &about, id, error) || !work_commit(work, NULL, error))
        return TOOL_LATER;
    puts(id);
    return TOOL_OK;
}

/* One NAME=VALUE. The preferences are written by the caller. */
static bool set_one(Work *work, const User *user, const char *text, Preferences *preferences, GError **error)
{
    const char *value;
    bool known;
    PersonChange change = PERSON_STAYS;
    g_autofree char *name = NULL;
    if (!preference_split(text, &name, &value, error) || !preference_set(preferences, name, value, &known, error))
        return false;
    if (known)
        return true;
    if (strcmp(name, "display_name") == 0) {
        change.display_name = value;
        return people_change(work, user->id, &change, error);
    }
    if (strcmp(name, "server_owner") == 0) {
        if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
            return fail(error, FAIL_NEVER, "server_owner: found \"%s\"; allowed: yes, no", value);
        change.server_owner = *value == 'y';
        return people_change(work, user->id, &change, error);
    }
    if (strcmp(name, "preferred_address") != 0)
        return fail(error, FAIL_NEVER, "a user has no \"%s\"; there are: display_name, server_owner, "
                    "preferred_address, " PREFERENCE_NAMES, name);
    g_autoptr(Mailbox) address = mailbox_new(*value ? value : NULL);
    return people_prefer(work, user->id, address, error);
}

/* All or nothing. */
static int run_set(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace place;
    g_autoptr(Work) work = work_place_begin(&place, site, error);
    g_autoptr(User) user = work ? user_find(work_store(work), argv[0], error) : NULL;
    if (!user)
        return TOOL_LATER;
    Preferences preferences = user->preferences;
    for (char **text = argv + 1; *text; text++)
        if (!set_one(work, user, *text, &preferences, error))
            return TOOL_LATER;
    return people_set_preferences(work, PREFERENCES_OF_USER, user->id, &preferences, error) &&
                   work_commit(work, NULL, error)
               ? TOOL_OK
               : TOOL_LATER;
}

static int run_password(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace place;
    PersonChange change = PERSON_STAYS;
    g_autofree char *password = none ? g_strdup("") : input_secret(password_file, error);
    if (!password)
        return TOOL_LATER;
    change.password = password;
    g_autoptr(Work) work = work_place_begin(&place, site, error);
    return work && people_change(work, argv[0], &change, error) && work_commit(work, NULL, error) ? TOOL_OK
                                                                                                    : TOOL_LATER;
}

static int run_merge(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace place;
    g_autoptr(Work) work = work_place_begin(&place, site, error);
    if (!work || !people_merge(work, argv[0], argv[1], error) || !work_commit(work, NULL, error))
        return TOOL_LATER;
    printf("all that %s had belongs to %s now\n", argv[1], argv[0]);
    return TOOL_OK;
}

static int run_export(Site *site, int argc, char **argv, GError **error)
{
    Store *store = site_store(site, false, error);
    json_t *person = store ? person_export(store, argv[0], error) : NULL;
    if (!person)
        return TOOL_LATER;
    g_autofree char *text = json_dumps(person, JSON_INDENT(2));
    json_decref(person);
    puts(text);
    return TOOL_OK;
}

static int run_forget(Site *site, int argc, char **argv, GError **error)
{
    if (!yes)
        return command_usage(error, "this removes the user with all addresses, memberships, requests, bounces and held "
                             "posts for good; say --yes when that is meant (listrunner user export shows what goes)");
    WorkPlace place;
    g_autoptr(Work) work = work_place_begin(&place, site, error);
    if (!work || !people_remove(work, argv[0], error) || !work_commit(work, NULL, error))
        return TOOL_LATER;
    printf("%s is forgotten; archives and bans stay as they are\n", argv[0]);
    return TOOL_OK;
}

static const GOptionEntry ls_options[] = {
    JSON_ROWS_OPTION,
    {"names", 0, 0, G_OPTION_ARG_NONE, &names, "only an address of each", NULL},
    {"server-owners", 0, 0, G_OPTION_ARG_NONE, &owners, "only those who own the server", NULL},
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry create_options[] = {
    {"display-name", 0, 0, G_OPTION_ARG_STRING, &display_name, "the person's name", "TEXT"},
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry password_options[] = {
    {"none", 0, 0, G_OPTION_ARG_NONE, &none, "take the password away", NULL},
    {"file", 0, 0, G_OPTION_ARG_FILENAME, &password_file, "read it from the first line of this file", "FILE"},
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry forget_options[] = {
    {"yes", 'y', 0, G_OPTION_ARG_NONE, &yes, "it is meant", NULL},
    G_OPTION_ENTRY_NULL,
};

static const Command ls = {
    .name = "ls", .arguments = "[TEXT]", .summary = "Show users in order of creation", .most = 1,
    .options = ls_options, .run = run_ls,
    .details = "With TEXT only those who have it in their name or in an address.",
};

static const Command show = {
    .name = "show", .arguments = "USER", .summary = "Show a user, named by id or any address", .least = 1, .most = 1,
    .options = json_object_options, .run = run_show,
};

static const Command create = {
    .name = "create", .arguments = "ADDRESS", .summary = "Make a user with an address; prints the id", .least = 1,
    .most = 1, .options = create_options, .run = run_create,
};

static const Command set = {
    .name = "set", .arguments = "USER NAME=VALUE...", .summary = "Change a user", .least = 2, .most = -1,
    .run = run_set,
    .details = "Names are display_name, server_owner, preferred_address, and the preferences " PREFERENCE_NAMES
               ", whose value may be default.",
};

static const Command password = {
    .name = "password", .arguments = "USER",
    .summary = "Set a user's password, from the terminal, standard input or a file", .least = 1, .most = 1,
    .options = password_options, .run = run_password,
};

static const Command merge = {
    .name = "merge", .arguments = "USER OTHER", .summary = "Give all that OTHER has to USER", .least = 2, .most = 2,
    .run = run_merge,
};

static const Command export_person = {
    .name = "export", .arguments = "USER", .summary = "Write all that is known about a person, as JSON", .least = 1,
    .most = 1, .run = run_export,
};

static const Command forget = {
    .name = "forget", .arguments = "USER", .summary = "Remove a person with all that is known", .least = 1, .most = 1,
    .options = forget_options, .run = run_forget,
};

static const Command *const verbs[] = {&ls, &show, &create, &set, &password, &merge, &export_person, &forget, NULL};

const Command cmd_user = {
    .name = "user", .arguments = "", .summary = "Show, make, change, merge, export or forget people", .verbs = verbs,
};
