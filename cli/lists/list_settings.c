/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/lists/list_settings.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/listing.h"
#include "cli/work_site.h"
#include "lists/change.h"
#include "store/lists/list_setting.h"
#include "store/people/member.h"

static gboolean names;
static char **files;

static const ListSetting *setting_find(const char *name, GError **error)
{
    const ListSetting *setting = list_setting_find(name, NULL);
    if (setting)
        return setting;
    g_autofree char *shown = g_utf8_make_valid(name, -1);
    NearWord near = {shown, NULL, MAX(2, strlen(shown) / 3) + 1};
    for (const ListSetting *one = list_settings; one->name; one++)
        near_word_offer(&near, one->name);
    if (near.best)
        command_usage(error, "there is no setting '%s'; did you mean '%s'?", shown, near.best);
    else
        command_usage(error, "there is no setting '%s'; listrunner list show LIST shows all", shown);
    return NULL;
}

static json_t *setting_value(const List *list, const ListSetting *setting)
{
    const char *place = list_value(list->settings, setting);
    switch (setting->type) {
    case SETTING_BOOL:
        return json_boolean(*(const bool *)place);
    case SETTING_INTEGER:
        return json_integer(*(const int64_t *)place);
    case SETTING_WORDS: {
        json_t *words = json_array();
        char **word = *(char **const *)place;
        for (; word && *word; word++)
            json_array_append_new(words, listing_text(*word));
        return words;
    }
    default: {
        g_autofree char *text = list_get(list, setting->name, NULL);
        return listing_text(text);
    }
    }
}

static List *find(Site *site, const char *name, Store **store, GError **error)
{
    *store = site_store(site, false, error);
    return *store ? site_list_find(*store, name, error) : NULL;
}

static int run_show(Site *site, int argc, char **argv, GError **error)
{
    if (names) {
        for (const ListSetting *setting = list_settings; setting->name; setting++)
            puts(setting->name);
        return TOOL_OK;
    }
    Store *store;
    g_autoptr(List) list = find(site, argv[0], &store, error);
    if (!list)
        return TOOL_LATER;
    json_t *object = json_pack("{so so so so sI}", "address", listing_text(list->posting_address), "list_id",
                               listing_text(list->list_id), "created_at", listing_time(list->created_at),
                               "last_post_at", listing_time(list->last_post_at), "posts",
                               (json_int_t)(list->post_id - 1));
    static const char *const plurals[] = {"members", "owners", "moderators", "nonmembers"};
    for (Role role = ROLE_MEMBER; role <= ROLE_NONMEMBER; role++) {
        int64_t count = 0;
        if (!member_count(store, list->list_id, role, &count, error)) {
            json_decref(object);
            return TOOL_LATER;
        }
        json_object_set_new(object, plurals[role], json_integer(count));
    }
    for (const ListSetting *setting = list_settings; setting->name; setting++)
        json_object_set_new(object, setting->name, setting_value(list, setting));
    listing_show(object, json_option);
    return TOOL_OK;
}

static int run_get(Site *site, int argc, char **argv, GError **error)
{
    Store *store;
    g_autoptr(List) list = find(site, argv[0], &store, error);
    if (!list)
        return TOOL_LATER;
    for (int i = 1; i < argc; i++)
        if (!setting_find(argv[i], error))
            return TOOL_USAGE;
    for (int i = 1; i < argc; i++) {
        const ListSetting *setting = setting_find(argv[i], NULL);
        g_autofree char *text = list_get(list, setting->name, NULL);
        g_autoptr(json_t) value = setting_value(list, setting);
        if (json_option)
            listing_json(value);
        else
            puts(text);
    }
    return TOOL_OK;
}

bool list_settings_word(const char *word, char **name, const char **value, GError **error)
{
    const char *equals = strchr(word, '=');
    if (!equals) {
        command_usage(error, "'%s' is not NAME=VALUE", word);
        return false;
    }
    g_autofree char *named = g_strndup(word, (gsize)(equals - word));
    if (!setting_find(named, error))
        return false;
    if (!g_utf8_validate(equals + 1, -1, NULL))
        return fail(error, FAIL_NEVER, "%s: the value is not UTF-8", named);
    *name = g_steal_pointer(&named);
    *value = equals + 1;
    return true;
}

/* Of a password the first line is the value. */
static char *read_change(const char *word, GError **error)
{
    const char *equals = strchr(word, '=');
    if (!equals) {
        command_usage(error, "--file: '%s' is not NAME=FILE", word);
        return NULL;
    }
    g_autofree char *name = g_strndup(word, (gsize)(equals - word)), *value = NULL;
    const ListSetting *setting = setting_find(name, error);
    if (!setting)
        return NULL;
    if (setting->type == SETTING_PASSWORD) {
        value = input_secret(equals + 1, error);
    } else {
        g_autoptr(InputFile) file = input_open(equals + 1, error);
        g_autoptr(GBytes) octets = file ? input_read(file, equals + 1, error) : NULL;
        size_t length = octets ? g_bytes_get_size(octets) : 0;
        const char *text = length > 0 ? g_bytes_get_data(octets, NULL) : "";
        value = octets ? g_strndup(text, length) : NULL;
        if (value && length > 0 && value[length - 1] == '\n')
            value[length - 1] = '\0';
    }
    return value ? g_strconcat(name, "=", value, NULL) : NULL;
}

GPtrArray *list_settings_read(char *const *words, GError **error)
{
    g_autoptr(GPtrArray) read = g_ptr_array_new_with_free_func(g_free);
    for (; words && *words; words++) {
        char *change = read_change(*words, error);
        if (!change)
            return NULL;
        g_ptr_array_add(read, change);
    }
    return g_steal_pointer(&read);
}

/* One "NAME=VALUE". */
static bool change(Work *work, const List *list, const char *word, GError **error)
{
    g_autofree char *name = NULL;
    const char *value;
    return list_settings_word(word, &name, &value, error) && change_setting(work, list, name, value, error);
}

/* All changes or none. */
static int change_all(Site *site, char **argv, bool reset, GError **error)
{
    WorkPlace place;
    g_autoptr(GPtrArray) read = list_settings_read(reset ? NULL : files, error);
    g_autoptr(Work) work = read ? work_place_begin(&place, site, error) : NULL;
    g_autoptr(List) list = work ? site_list_find(place.store, argv[0], error) : NULL;
    bool done = list != NULL;
    for (guint at = 0; done && at < read->len; at++)
        done = change(work, list, read->pdata[at], error);
    for (size_t i = 1; done && argv[i]; i++)
        done = reset ? setting_find(argv[i], error) && change_setting(work, list, argv[i], NULL, error)
                     : change(work, list, argv[i], error);
    return done && work_place_commit(&place, site, work, error) ? TOOL_OK : TOOL_LATER;
}

static int run_set(Site *site, int argc, char **argv, GError **error)
{
    const ListSetting *alone = argc == 2 && !files ? list_setting_find(argv[1], NULL) : NULL;
    if (alone && alone->type == SETTING_PASSWORD) { /* it is asked for */
        g_autofree char *asked = g_strconcat(argv[1], "=-", NULL);
        char *words[] = {argv[0], NULL};
        files = (char *[]){asked, NULL};
        return change_all(site, words, false, error);
    }
    if (argc == 1 && !files)
        return command_usage(error, "give SETTING=VALUE, or --file SETTING=FILE");
    if (argc != 3 || strchr(argv[1], '='))
        return change_all(site, argv, false, error);
    g_autofree char *joined = g_strconcat(argv[1], "=", argv[2], NULL);
    char *words[] = {argv[0], joined, NULL};
    return change_all(site, words, false, error);
}

static int run_reset(Site *site, int argc, char **argv, GError **error)
{
    return change_all(site, argv, true, error);
}

static const GOptionEntry show_options[] = {
    JSON_OBJECT_OPTION,
    {"names", 0, 0, G_OPTION_ARG_NONE, &names, "only the names of all settings", NULL},
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry get_options[] = {
    {"json", 0, 0, G_OPTION_ARG_NONE, &json_option, "each value as JSON on a line", NULL},
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry set_options[] = {
    {"file", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &files,
     "read a value from a file, - being standard input, or for a password the terminal; may be repeated",
     "SETTING=FILE"},
    G_OPTION_ENTRY_NULL,
};

const Command list_show = {
    .name = "show",
    .arguments = "LIST",
    .summary = "Show a list and all its settings",
    .least = 1,
    .most = 1,
    .options = show_options,
    .run = run_show,
};

const Command list_get_verb = {
    .name = "get",
    .arguments = "LIST SETTING...",
    .summary = "Show the values of settings",
    .least = 2,
    .most = -1,
    .options = get_options,
    .run = run_get,
};

const Command list_set_verb = {
    .name = "set",
    .arguments = "LIST SETTING=VALUE...",
    .summary = "Change settings, all that are given or none",
    .details = "One setting may also be given as SETTING VALUE, in two words.\n"
               "Settings that are lists take words separated by commas.\n"
               "A password is best given by its name alone, which asks for it, or by --file, for lists of processes "
               "show arguments.",
    .least = 1,
    .most = -1,
    .options = set_options,
    .run = run_set,
};

const Command list_reset_verb = {
    .name = "reset",
    .arguments = "LIST SETTING...",
    .summary = "Set settings back to their defaults",
    .least = 2,
    .most = -1,
    .run = run_reset,
};
