/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The preferences of the site, of users, addresses and members: the same seven at each level. */
#include <string.h>

#include "base/fail.h"
#include "lists/people.h"
#include "lists/person.h"
#include "runners/rest/resources.h"
#include "store/language.h"

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

static bool read_language(Call *call, Preferences *preferences)
{
    GError *error = NULL;
    const char *language = form_text(call, "preferred_language");
    if (!language)
        return true;
    if (*language && !language_check("preferred_language", language, &error)) {
        rest_fail(call, error);
        return false;
    }
    g_strlcpy(preferences->preferred_language, language, PREFERENCE_LANGUAGE_SIZE);
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
    return read_flag(call, "acknowledge_posts", &preferences->acknowledge_posts) &&
           read_flag(call, "hide_address", &preferences->hide_address) &&
           read_flag(call, "receive_list_copy", &preferences->receive_list_copy) &&
           read_flag(call, "receive_own_postings", &preferences->receive_own_postings) &&
           form_delivery(call, &preferences->delivery_mode, &preferences->delivery_status) &&
           read_language(call, preferences);
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

static bool find_user(Call *call, Store *store, Holder *holder, GError **error)
{
    char id[STORE_ID_SIZE];
    bool is_id = !strchr(call->args[0], '@') && id_parse(call, call->args[0], id);
    g_autoptr(User) user = user_find(store, is_id ? id : call->args[0], error);
    if (!user)
        return false;
    g_autofree char *shown = id_text(call, user->id);
    holder->level = PREFERENCES_OF_USER;
    holder->preferences = user->preferences;
    holder->name = g_strdup(user->id);
    holder->path = g_strdup_printf("users/%s/preferences", shown);
    return true;
}

static bool find_address(Call *call, Store *store, Holder *holder, GError **error)
{
    g_autoptr(KnownAddress) address = address_find(store, call->args[0], error);
    if (!address)
        return false;
    g_autofree char *shown = segment(address->email);
    holder->level = PREFERENCES_OF_ADDRESS;
    holder->preferences = address->preferences;
    holder->name = g_strdup(address->email);
    holder->path = g_strdup_printf("addresses/%s/preferences", shown);
    return true;
}

/* NULL: error is set. */
static Member *member_of(Call *call, Store *store, GError **error)
{
    char id[STORE_ID_SIZE];
    if (id_parse(call, call->args[0], id))
        return member_by_id(store, id, error);
    fail(error, FAIL_MISSING, "There is no member %s", call->args[0]);
    return NULL;
}

static bool find_member(Call *call, Store *store, Holder *holder, GError **error)
{
    g_autoptr(Member) member = member_of(call, store, error);
    if (!member)
        return false;
    holder->level = PREFERENCES_OF_MEMBER;
    holder->preferences = member->own;
    holder->name = g_strdup(member->id);
    holder->path = g_strdup_printf("members/%s/preferences", call->args[0]);
    return true;
}

static bool find_site(const Call *call, Store *store, Holder *holder, GError **error)
{
    holder->level = PREFERENCES_OF_SITE;
    holder->path = g_strdup(call->path);
    return site_preferences(store, &holder->preferences, error);
}

static bool find(Call *call, Store *store, Holder *holder, GError **error)
{
    return strcmp(call->path, "system/preferences") == 0 || g_str_has_prefix(call->path, "listrunner/")
               ? find_site(call, store, holder, error)
           : g_str_has_prefix(call->path, "users/")       ? find_user(call, store, holder, error)
           : g_str_has_prefix(call->path, "addresses/") ? find_address(call, store, holder, error)
                                                        : find_member(call, store, holder, error);
}

/* An address or user that could not be is as unknown as one that is not there. */
static void answer_unknown(Call *call, GError *error)
{
    if (g_error_matches(error, FAIL, FAIL_NEVER))
        error->code = FAIL_MISSING;
    rest_fail(call, error);
}

/* ---- the resource ---- */

static void add_defaults(json_t *object)
{
    json_t *defaults = preferences_json(&preferences_default);
    json_object_set_new(defaults, "preferred_language", json_string(LANGUAGE_DEFAULT));
    json_object_update_missing_new(object, defaults);
}

static void get(Call *call)
{
    g_auto(Holder) holder = {0};
    GError *error = NULL;
    Store *store = rest_store(call);
    if (!store)
        return;
    if (!find(call, store, &holder, &error)) {
        answer_unknown(call, error);
        return;
    }
    json_t *object = preferences_json(&holder.preferences);
    if (holder.level == PREFERENCES_OF_SITE) /* nothing is behind it but the defaults */
        add_defaults(object);
    json_object_set_new(object, "self_link", json_link(call, "%s", holder.path));
    answer_json(call, 200, object);
}

/* Begins with the preferences that are, or with none, and changes those that were sent. */
static void change(Call *call, bool afresh)
{
    g_auto(Holder) holder = {0};
    GError *error = NULL;
    g_autoptr(Work) work = rest_begin(call);
    if (!work)
        return;
    if (!find(call, work_store(work), &holder, &error)) {
        answer_unknown(call, error);
        return;
    }
    if (afresh)
        holder.preferences = preferences_unset;
    if (read_all(call, &holder.preferences))
        rest_finish(call, work, people_set_preferences(work, holder.level, holder.name, &holder.preferences, &error),
                    &error);
}

static void patch(Call *call)
{
    if (form_expect(call, "", NAMES))
        change(call, false);
}

static void put(Call *call)
{
    if (form_expect(call, NAMES, ""))
        change(call, true);
}

static void delete(Call *call)
{
    if (form_expect(call, "", ""))
        change(call, true);
}

/* What counts for a member in the end. */
static void get_effective(Call *call)
{
    GError *error = NULL;
    Store *store = rest_store(call);
    g_autoptr(Member) member = store ? member_of(call, store, &error) : NULL;
    g_autoptr(List) list = member ? list_by_id(store, member->list_id, &error) : NULL;
    if (!list) {
        if (store)
            answer_unknown(call, error);
        return;
    }
    json_t *object = preferences_json(&member->effective);
    if (!*member->effective.preferred_language)
        json_object_set_new(object, "preferred_language", json_words(list->preferred_language));
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
    {"GET", path, of, who, fields, get, NULL}, {"PATCH", path, of, who, fields, patch, NULL}, \
        {"PUT", path, of, who, fields, put, NULL}, {"DELETE", path, of, who, fields, delete, NULL}

const RestRoute rest_preferences[] = {
    {"GET", "system/preferences", OF_SITE, MAY_SITE, fields, get, NULL}, /* as Mailman, whose site can only read them */
    {"GET", "listrunner/preferences", OF_SITE, MAY_SITE, fields, get,
     "What the site prefers where nobody said otherwise"},
    {"PATCH", "listrunner/preferences", OF_SITE, MAY_SITE, fields, patch, "Change some of the site's preferences"},
    {"PUT", "listrunner/preferences", OF_SITE, MAY_SITE, fields, put, "Change all of the site's preferences"},
    {"DELETE", "listrunner/preferences", OF_SITE, MAY_SITE, fields, delete, "Go back to the defaults"},
    LEVEL("users/{user}/preferences", OF_SITE, MAY_SITE),
    LEVEL("addresses/{address}/preferences", OF_SITE, MAY_SITE),
    LEVEL("members/{member}/preferences", OF_MEMBER, MAY_LIST),
    {"GET", "members/{member}/all/preferences", OF_MEMBER, MAY_LIST, fields, get_effective, NULL},
    {0},
};
