/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The settings of a list. The form of a group sends "set-NAME" for each setting; the answer shows what would change, in
 * a second form with "confirm", the new values, and "seen-NAME", a hash of each old value: who sees another value than
 * is there now is asked again.
 */
#include <string.h>

#include "base/fail.h"
#include "lists/change.h"
#include "lists/making/family.h"
#include "lists/making/setting_check.h"
#include "runners/web/desk.h"
#include "runners/web/desk_group.h"
#include "runners/web/desk_try.h"

#define SET "set-"
#define SEEN "seen-"
#define DROP "drop-" /* a password is taken away */

/* ---- values ---- */

/* A value as a form has it: of words, one on each line. g_free() */
static char *form_text(const List *list, const ListSetting *setting)
{
    if (setting->type != SETTING_WORDS)
        return list_get(list, setting->name, NULL);
    g_autoptr(GString) text = g_string_new(NULL);
    char *const *word = *(char **const *)list_value(list->settings, setting);
    for (; word && *word; word++) {
        g_autoptr(GString) escaped = g_string_new(*word);
        g_string_replace(escaped, ",", "\\,", 0);
        g_string_append_printf(text, "%s%s", text->len ? "\n" : "", escaped->str);
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}

/* Return the value that the form sent for the setting, with line ends as they are kept; NULL: none. g_free() */
static char *sent_text(WebCall *call, const ListSetting *setting)
{
    g_autofree char *name = g_strconcat(SET, setting->name, NULL), *drop = g_strconcat(DROP, setting->name, NULL);
    if (setting->type == SETTING_PASSWORD) {
        const char *password = web_field(call, name);
        return *web_field(call, drop) ? g_strdup("") : *password ? g_strdup(password) : NULL;
    }
    if (!web_has_field(call, name))
        return NULL;
    g_autoptr(GString) text = g_string_new(web_field(call, name));
    g_string_replace(text, "\r\n", "\n", 0);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static char *hash_of(const char *text)
{
    g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);
    return g_strndup(sum, 32);
}

/* One setting that the form would change. */
typedef struct Difference {
    const ListSetting *setting;
    char *before, *after; /* as list_get() has them; of a password, before is "" */
} Difference;

static void difference_free(void *data)
{
    Difference *one = data;
    g_free(one->before);
    g_free(one->after);
    g_free(one);
}

bool desk_words_allowed(const Desk *desk, const ListSetting *setting, const char *value, GError **error)
{
    if (setting->type != SETTING_WORDS || !strchr(value, '@'))
        return true;
    char *const *there = *(char **const *)list_value(desk->list->settings, setting);
    g_auto(GStrv) words = g_strsplit_set(value, ",\n", -1);
    for (char **word = words; *word; word++) {
        g_strstrip(*word);
        if (**word != '@' || (there && g_strv_contains((const char *const *)there, *word)))
            continue;
        g_autoptr(GError) missing = NULL;
        g_autoptr(List) named = list_find(desk_store(desk), *word + 1, &missing);
        if (!named && !g_error_matches(missing, FAIL, FAIL_MISSING))
            return fail_with(error, &missing);
        if (!named || !authority_covers(MAY_LIST, standing_of(desk->standing, named)))
            return fail(error, FAIL_NEVER, "%s: %s is no list that you own", setting->name, *word + 1);
    }
    return true;
}

/* Look what the form would make of one setting; *different is NULL where it stays. FAIL_NEVER: it may not be set so. */
static bool compare(const Desk *desk, const ListSetting *setting, Difference **different, GError **error)
{
    *different = NULL;
    g_autofree char *sent = sent_text(desk->call, setting);
    if (!sent)
        return true;
    g_autofree char *before = list_get(desk->list, setting->name, error);
    if (before && list_setting_stays(setting, before, sent))
        return true;
    g_autofree char *after = before ? list_setting_canonical(setting, sent, error) : NULL;
    if (!after)
        return false;
    if (setting->type != SETTING_PASSWORD && strcmp(before, after) == 0)
        return true;
    if (!authority_covers(authority_of_setting(setting), desk->by))
        return fail(error, FAIL_NEVER, "%s: it is for the people who run the site to set", setting->name);
    if (!setting_check(desk->call->web->config, setting->name, after, error) ||
        !family_allows(desk->call->web->config, desk->list, setting, after, error) ||
        !desk_words_allowed(desk, setting, after, error))
        return false;
    *different = g_new0(Difference, 1);
    **different = (Difference){setting, g_steal_pointer(&before), g_steal_pointer(&after)};
    return true;
}

/* ---- the form ---- */

static json_t *setting_view(const Desk *desk, const ListSetting *setting, const char *fault)
{
    const WebCall *call = desk->call;
    const char *help = web_say(call, setting->about);
    g_autofree char *sent = fault ? sent_text(desk->call, setting) : NULL, *now = form_text(desk->list, setting);
    const char *value = sent ? sent : now;
    json_t *choices = json_array();
    json_t *view = json_pack("{ss ss sb ss ss* ss* ss* sb}", "name", setting->name, "help", help, "help_is_english",
                             help == setting->about && strcmp(call->language, "en") != 0, "value", value, "unit",
                             setting->unit, "example", setting->example, "fault", fault, "fixed",
                             !authority_covers(authority_of_setting(setting), desk->by));
    if (setting->type == SETTING_BOOL || setting->type == SETTING_CHOICE) {
        g_auto(GStrv) words = g_strsplit(setting->type == SETTING_BOOL ? "yes|no" : setting->choices, "|", -1);
        for (char **word = words; *word; word++)
            json_array_append_new(choices, json_pack("{ss sb}", "value", *word, "selected", g_str_equal(*word, value)));
        json_object_set(view, "choices", choices);
    } else if (setting->type == SETTING_TEXT || setting->type == SETTING_WORDS) {
        json_object_set_new(view, setting->type == SETTING_TEXT ? "is_text" : "is_words", json_true());
        json_object_set_new(view, "is_area", json_true());
    } else if (setting->type == SETTING_PASSWORD) {
        json_object_set_new(view, "is_password", json_true());
        json_object_set_new(view, "value", json_string(""));
    } else {
        json_object_set_new(view, "is_line", json_true());
    }
    json_decref(choices);
    return view;
}

/* The form of the group; view is taken, faults may be NULL. */
static void show_form(const Desk *desk, int status, const DeskGroup *group, GHashTable *faults, json_t *view)
{
    json_t *settings = json_array();
    g_auto(GStrv) names = desk_group_names(group);
    for (char **name = names; *name; name++)
        json_array_append_new(settings, setting_view(desk, list_setting_find(*name, NULL),
                                                     faults ? g_hash_table_lookup(faults, *name) : NULL));
    const char *title = web_say(desk->call, group->title);
    json_object_set_new(view, "settings", settings);
    json_object_set_new(view, "group", json_string(group->path));
    json_object_set_new(view, "title", json_string(title));
    desk_page(desk, status, "desk_settings", view);
}

static void get_groups(WebCall *call)
{
    g_auto(Desk) desk = {0};
    if (!desk_open(&desk, call, MAY_LIST))
        return;
    json_t *groups = json_array();
    for (const DeskGroup *group = desk_groups; group->path; group++)
        json_array_append_new(groups, json_pack("{ss ss ss}", "path", group->path, "title", web_say(call, group->title),
                                                "names", group->names));
    desk_page(&desk, 200, "desk_groups", json_pack("{so}", "groups", groups));
}

/* The group of the path; NULL: the call was answered. */
static const DeskGroup *find_group(Desk *desk, WebCall *call)
{
    if (!desk_open(desk, call, MAY_LIST))
        return NULL;
    const DeskGroup *group = desk_group_find(call->args[1]);
    if (!group)
        web_missing(call, NULL);
    return group;
}

static void get_settings(WebCall *call)
{
    g_auto(Desk) desk = {0};
    const DeskGroup *group = find_group(&desk, call);
    g_autofree char *saved = web_query(call, "saved");
    if (group)
        show_form(&desk, 200, group, NULL, json_pack("{sb}", "saved", saved != NULL));
}

/* ---- the difference ---- */

/* The words of one value that the other has not, as an array. */
static json_t *words_without(const char *words, const char *others)
{
    json_t *left = json_array();
    g_auto(GStrv) all = g_regex_split_simple("(?<!\\\\),", words, 0, 0);
    g_auto(GStrv) known = g_regex_split_simple("(?<!\\\\),", others, 0, 0);
    for (char **word = all; *word; word++)
        if (**word && !g_strv_contains((const char *const *)known, *word))
            json_array_append_new(left, json_string(*word));
    return left;
}

static void show_difference(const Desk *desk, const DeskGroup *group, const GPtrArray *all, bool again)
{
    json_t *changes = json_array(), *values = json_object();
    for (guint i = 0; i < all->len; i++) {
        const Difference *one = all->pdata[i];
        g_autofree char *seen = hash_of(one->before);
        json_t *view = json_pack("{ss ss ss}", "name", one->setting->name, "seen", seen, "value", one->after);
        json_array_append_new(changes, view);
        if (one->setting->type == SETTING_PASSWORD) { /* it decides about no post of a trial */
            json_object_set_new(view, "is_password", json_true());
            json_object_set_new(view, "is_dropped", json_boolean(!*one->after));
            continue;
        }
        json_object_set_new(values, one->setting->name, json_string(one->after));
        if (one->setting->type == SETTING_WORDS) {
            json_object_set_new(view, "removed", words_without(one->before, one->after));
            json_object_set_new(view, "added", words_without(one->after, one->before));
            json_object_set_new(view, "is_words", json_true());
        } else {
            json_object_set_new(view, "before", json_string(one->before));
            json_object_set_new(view, "after", json_string(one->after));
            json_object_set_new(view, "is_value", json_true());
        }
    }
    desk_try(desk, again ? 409 : 200, "desk_difference",
             json_pack("{so ss sb}", "changes", changes, "group", group->path, "again", again),
             json_pack("{so}", "settings", values));
}

/* Did the person see the values that are there now? */
static bool was_seen(WebCall *call, const GPtrArray *all)
{
    for (guint i = 0; i < all->len; i++) {
        const Difference *one = all->pdata[i];
        g_autofree char *name = g_strconcat(SEEN, one->setting->name, NULL), *now = hash_of(one->before);
        if (strcmp(web_field(call, name), now) != 0)
            return false;
    }
    return true;
}

/* ---- saving ---- */

static void save(Desk *desk, const DeskGroup *group, const GPtrArray *all)
{
    GError *error = NULL;
    g_autoptr(Work) work = desk_begin(desk);
    if (!work)
        return;
    /* Does the list still have the old values, now that nobody else can change it? */
    g_autoptr(List) now = list_by_id(desk_store(desk), desk->list->list_id, &error);
    bool done = now != NULL, so = true;
    for (guint i = 0; done && so && i < all->len; i++) {
        const Difference *one = all->pdata[i];
        g_autofree char *value = list_get(now, one->setting->name, NULL);
        so = g_strcmp0(value, one->before) == 0;
    }
    for (guint i = 0; done && so && i < all->len; i++) {
        const Difference *one = all->pdata[i];
        done = change_setting(work, desk->list, one->setting->name, one->after, &error);
    }
    if (!done) {
        web_fail(desk->call, error);
    } else if (!so) {
        show_difference(desk, group, all, true);
    } else if (web_commit(desk->call, work)) {
        g_autofree char *path = g_strdup_printf("/settings/%s?saved=%u", group->path, all->len);
        desk_see(desk, path);
    }
}

static void post_settings(WebCall *call)
{
    GError *error = NULL;
    g_auto(Desk) desk = {0};
    const DeskGroup *group = find_group(&desk, call);
    if (!group)
        return;
    /* All that the form would change, of Difference; refusals of it, by name. */
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(difference_free);
    g_autoptr(GHashTable) faults = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_auto(GStrv) names = desk_group_names(group);
    for (char **name = names; *name; name++) {
        Difference *one;
        if (compare(&desk, list_setting_find(*name, NULL), &one, &error)) {
            if (one)
                g_ptr_array_add(all, one);
        } else if (g_error_matches(error, FAIL, FAIL_NEVER)) {
            g_hash_table_insert(faults, g_strdup(*name), g_strdup(error->message));
            g_clear_error(&error);
        } else {
            web_fail(call, error);
            return;
        }
    }
    const bool confirmed = *web_field(call, "confirm");
    if (g_hash_table_size(faults) > 0)
        show_form(&desk, 400, group, faults, json_pack("{sb}", "faulty", true));
    else if (all->len == 0)
        show_form(&desk, 200, group, NULL, json_pack("{sb}", "same", true));
    else if (!confirmed || !was_seen(call, all))
        show_difference(&desk, group, all, confirmed);
    else
        save(&desk, group, all);
}

const WebRoute web_desk_settings[] = {
    {"GET", "/desk/list/{}/settings", get_groups},
    {"GET", "/desk/list/{}/settings/{}", get_settings},
    {"POST", "/desk/list/{}/settings/{}", post_settings},
    {.verb = NULL},
};
