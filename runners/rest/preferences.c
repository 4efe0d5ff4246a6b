/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The preferences of the site, of users, addresses and members: the same seven at each level. */
#include <string.h>

#include "base/fail.h"
#include "lists/people/people.h"
#include "lists/people/person.h"
#include "runners/rest/resources.h"
#include "store/language.h"
#include "store/lists/list_setting.h"

#define NAMES \
    "acknowledge_posts delivery_mode delivery_status hide_address preferred_language receive_list_copy " \
    "receive_own_postings"

/* ---- reading what was sent ---- */

static bool read_flag(Call *call, const char *name, int *value)
{
    bool flag = false;
    if (!form_bool(call, name, &flag))
        return false;
    if (form_has(call, name))
        *value = flag;
    return true;
}

bool form_delivery(Call *call, int *mode, int *status)
{
    return form_choice(call, "delivery_mode", FORM_MODES, mode) &&
           form_choice(call, "delivery_status", FORM_STATUSES, status);
}

/* Changes those that were sent. False: 400 was answered. */
static bool read_all(Call *call, Preferences *preferences)
{
    GError *error = NULL;
    const char *language = form_text(call, "preferred_language");
    if (!read_flag(call, "acknowledge_posts", &preferences->acknowledge_posts) ||
        !read_flag(call, "hide_address", &preferences->hide_address) ||
        !read_flag(call, "receive_list_copy", &preferences->receive_list_copy) ||
        !read_flag(call, "receive_own_postings", &preferences->receive_own_postings) ||
        !form_delivery(call, &preferences->delivery_mode, &preferences->delivery_status))
        return false;
    if (language && *language && !language_check("preferred_language", language, &error)) {
        rest_fail(call, error);
        return false;
    }
    if (language)
        g_strlcpy(preferences->preferred_language, language, PREFERENCE_LANGUAGE_SIZE);
    return true;
}

/* ---- whose ---- */

typedef struct Holder {
    Preferences preferences;
    PreferenceLevel level;
    char *path, *name; /* name: id or address by which the store is told */
} Holder;

static void holder_clear(Holder *holder)
{
    g_free(holder->path);
    g_free(holder->name);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Holder, holder_clear)

/* Find the holder of the preferences that the path names. False: 404 or 503 was answered. */
static bool find(Call *call, Holder *holder)
{
    if (g_str_has_prefix(call->path, "users/")) {
        g_autoptr(User) user = find_user(call);
        g_autofree char *shown = user ? id_text(call, user->id) : NULL;
        if (user)
            *holder = (Holder){user->preferences, PREFERENCES_OF_USER, g_strdup_printf("users/%s/preferences", shown),
                               g_strdup(user->id)};
        return user != NULL;
    }
    if (g_str_has_prefix(call->path, "addresses/")) {
        g_autoptr(KnownAddress) address = find_address(call);
        g_autofree char *shown = address ? segment(address->email) : NULL;
        if (address)
            *holder = (Holder){address->preferences, PREFERENCES_OF_ADDRESS,
                               g_strdup_printf("addresses/%s/preferences", shown), g_strdup(address->email)};
        return address != NULL;
    }
    if (g_str_has_prefix(call->path, "members/")) {
        g_autoptr(Member) member = find_member(call);
        if (member)
            *holder = (Holder){member->own, PREFERENCES_OF_MEMBER,
                               g_strdup_printf("members/%s/preferences", call->args[0]), g_strdup(member->id)};
        return member != NULL;
    }
    GError *error = NULL;
    holder->level = PREFERENCES_OF_SITE;
    holder->path = g_strdup(call->path);
    if (site_preferences(call->store, &holder->preferences, &error))
        return true;
    rest_fail(call, error);
    return false;
}

/* ---- the resource ---- */

static void get(Call *call)
{
    g_auto(Holder) holder = {0};
    if (!find(call, &holder))
        return;
    json_t *object = preferences_json(&holder.preferences);
    if (holder.level == PREFERENCES_OF_SITE) { /* nothing is behind it but the defaults */
        json_t *defaults = preferences_json(&preferences_default);
        json_object_set_new(defaults, "preferred_language", json_string(LANGUAGE_DEFAULT));
        json_object_update_missing_new(object, defaults);
    }
    json_object_set_new(object, "self_link", json_link(call, "%s", holder.path));
    answer_json(call, 200, object);
}

/* Set the preferences that were sent. PATCH leaves the others as they are; PUT and DELETE unset them. */
static void change(Call *call)
{
    g_auto(Holder) holder = {0};
    GError *error = NULL;
    bool is_delete = strcmp(call->route->verb, "DELETE") == 0;
    g_autoptr(Work) work =
        (is_delete ? form_expect(call, "", "") : form_expect_change(call, NAMES)) ? rest_begin(call) : NULL;
    if (!work || !find(call, &holder))
        return;
    if (is_delete || call_puts(call))
        holder.preferences = preferences_unset;
    bool done = read_all(call, &holder.preferences) &&
                people_set_preferences(work, holder.level, holder.name, &holder.preferences, &error);
    rest_finish(call, work, done, &error);
}

/* Show the preferences that count for a member in the end. */
static void get_effective(Call *call)
{
    GError *error = NULL;
    g_autoptr(Member) member = find_member(call);
    g_autoptr(List) list = member ? list_by_id(call->store, member->list_id, &error) : NULL;
    if (!list) {
        rest_unknown(call, error);
        return;
    }
    json_t *object = preferences_json(&member->effective);
    if (!*member->effective.preferred_language)
        json_object_set_new(object, "preferred_language", json_words(list->settings->preferred_language));
    json_object_set_new(object, "self_link", json_link(call, "members/%s/all/preferences", call->args[0]));
    answer_json(call, 200, object);
}

static const RestField fields[] = {
    {"acknowledge_posts", MAY_LIST, MAY_LIST},
    {"delivery_mode", MAY_LIST, MAY_LIST},
    {"delivery_status", MAY_LIST, MAY_LIST},
    {"hide_address", MAY_LIST, MAY_LIST},
    {"preferred_language", MAY_LIST, MAY_LIST},
    {"receive_list_copy", MAY_LIST, MAY_LIST},
    {"receive_own_postings", MAY_LIST, MAY_LIST},
    {"self_link", MAY_LIST, MAY_NOBODY},
    {0},
};

#define LEVEL(path, of, who) \
    {"GET", path, of, who, fields, get, NULL}, {"PATCH", path, of, who, fields, change, NULL}, \
        {"PUT", path, of, who, fields, change, NULL}, {"DELETE", path, of, who, fields, change, NULL}

const RestRoute rest_preferences[] = {
    {"GET", "system/preferences", OF_SITE, MAY_SITE, fields, get, NULL}, /* as Mailman, whose site can only read them */
    {"GET", "listrunner/preferences", OF_SITE, MAY_SITE, fields, get,
     "What the site prefers where nobody said otherwise"},
    {"PATCH", "listrunner/preferences", OF_SITE, MAY_SITE, fields, change, "Change some of the site's preferences"},
    {"PUT", "listrunner/preferences", OF_SITE, MAY_SITE, fields, change, "Change all of the site's preferences"},
    {"DELETE", "listrunner/preferences", OF_SITE, MAY_SITE, fields, change, "Go back to the defaults"},
    LEVEL("users/{user}/preferences", OF_SITE, MAY_SITE),
    LEVEL("addresses/{address}/preferences", OF_SITE, MAY_SITE),
    LEVEL("members/{member}/preferences", OF_MEMBER, MAY_LIST),
    {"GET", "members/{member}/all/preferences", OF_MEMBER, MAY_LIST, fields, get_effective, NULL},
    {0},
};
