/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * This page shows what the site knows about a person who is signed in: all addresses, with the way to another one, and
 * the language of letters.
 */
#include <limits.h>
#include <string.h>

#include "base/fail.h"
#include "base/mailbox.h"
#include "lists/people/change_address.h"
#include "lists/people/options.h"
#include "lists/people/people.h"
#include "runners/web/my.h"
#include "store/lists/list.h"
#include "store/people/user.h"

/* All addresses of the person, of KnownAddress; none where nobody has heard of the one that is signed in. */
static GPtrArray *find_addresses(Store *store, const SignedIn *person, GError **error)
{
    KnownAddress *known;
    if (*person->user_id)
        return address_page(store, person->user_id, NULL, 0, INT_MAX, error);
    if (!address_look_up(store, person->address, &known, error))
        return NULL;
    GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify)known_address_free);
    if (known)
        g_ptr_array_add(all, known);
    return all;
}

/* NULL: it is none of the person's. */
static const KnownAddress *find_own(const GPtrArray *addresses, const char *wanted)
{
    for (guint i = 0; i < addresses->len; i++)
        if (mailbox_valid(wanted) && mailbox_same(((const KnownAddress *)addresses->pdata[i])->original, wanted))
            return addresses->pdata[i];
    return NULL;
}

/* Is it on a list, in any role? */
static bool is_used(Store *store, const char *address, bool *used, GError **error)
{
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    criteria.address = address;
    g_autoptr(GPtrArray) found = member_page(store, &criteria, NULL, 1, NULL, error);
    *used = found && found->len > 0;
    return found != NULL;
}

static bool set_addresses(WebCall *call, const SignedIn *person, const GPtrArray *addresses, json_t *view,
                          GError **error)
{
    json_t *lines = json_array();
    json_object_set_new(view, "addresses", lines);
    json_object_set_new(view, "known", json_boolean(addresses->len > 0));
    json_object_set_new(view, "several", json_boolean(addresses->len > 1));
    for (guint i = 0; i < addresses->len; i++) {
        bool used;
        const KnownAddress *address = addresses->pdata[i];
        bool own = mailbox_same(address->original, person->address);
        if (!is_used(call->web->store, address->original, &used, error))
            return false;
        json_t *line = json_pack("{ss sb sb sb sb}", "address", address->original, "own", own, "used", used,
                                 "preferred", address->preferred, "removable", !own && !used && !address->preferred);
        if (address->verified_at != 0) {
            g_autofree char *day = my_day(address->verified_at);
            json_object_set_new(line, "confirmed", json_string(day));
        }
        json_array_append_new(lines, line);
    }
    return true;
}

/* Find what the person prefers everywhere; *preferences is unset where nothing is known. */
static bool find_preferences(Store *store, const SignedIn *person, const GPtrArray *addresses, Preferences *preferences,
                             GError **error)
{
    *preferences = preferences_unset;
    g_autoptr(User) user = *person->user_id ? user_find(store, person->user_id, error) : NULL;
    if (user)
        *preferences = user->preferences;
    else if (!*person->user_id && addresses->len > 0)
        *preferences = ((const KnownAddress *)addresses->pdata[0])->preferences;
    return user || !*person->user_id;
}

/* more (taken): what was done or wrong. */
static void show_person(WebCall *call, const SignedIn *person, json_t *more)
{
    GError *error = NULL;
    Preferences preferences;
    json_t *view = my_view(call, person);
    json_object_update(view, more);
    json_decref(more);
    g_autoptr(GPtrArray) addresses = find_addresses(call->web->store, person, &error);
    if (!addresses || !set_addresses(call, person, addresses, view, &error) ||
        !find_preferences(call->web->store, person, addresses, &preferences, &error)) {
        json_decref(view);
        web_fail(call, error);
        return;
    }
    const char *chosen = *preferences.preferred_language ? preferences.preferred_language : "default";
    json_object_set_new(view, "languages", my_language_choices(call, chosen, my_say(call, N_("that of each list"))));
    web_page(call, 200, "my_person", view);
}

static void get_person(WebCall *call)
{
    const SignedIn *person = my_person(call);
    if (person)
        show_person(call, person, json_object());
}

static void post_language(WebCall *call)
{
    GError *error = NULL;
    Preferences preferences;
    g_autoptr(GError) fault = NULL;
    g_auto(MemberOptions) wanted = MEMBER_OPTIONS_NONE;
    const SignedIn *person = my_sender(call);
    g_autoptr(Work) work = person ? web_begin(call) : NULL;
    if (!work)
        return;
    g_autoptr(GPtrArray) addresses = find_addresses(work_store(work), person, &error);
    if (!addresses || !find_preferences(work_store(work), person, addresses, &preferences, &error)) {
        web_missing(call, error);
        return;
    }
    if (addresses->len == 0 || !option_read(&wanted, "language", web_field(call, "language"), &fault)) {
        show_person(call, person, json_pack("{sb}", "bad_option", true));
        return;
    }
    const char *language = wanted.wanted.preferred_language;
    g_strlcpy(preferences.preferred_language, g_str_equal(language, "default") ? "" : language,
              PREFERENCE_LANGUAGE_SIZE);
    work_become(work, ACTOR_MEMBER, person->address);
    bool of_user = *person->user_id;
    if (!people_set_preferences(work, of_user ? PREFERENCES_OF_USER : PREFERENCES_OF_ADDRESS,
                                of_user ? person->user_id : person->address, &preferences, &error))
        web_missing(call, error);
    else if (web_commit(call, work))
        show_person(call, person, json_pack("{sb}", "saved", true));
}

/* ---- another address ---- */

/* A list that the letter goes out by, which is in the name of the site: the first one that the address is on. NULL with
 * no error: it is on none. */
static List *find_speaker(Store *store, const char *address, GError **error)
{
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    criteria.address = address;
    g_autoptr(GPtrArray) found = member_page(store, &criteria, NULL, 1, NULL, error);
    return found && found->len > 0 ? list_by_id(store, ((const Member *)found->pdata[0])->list_id, error) : NULL;
}

/* The name of what the page says; the names of faults begin with "bad" or "no". */
static const char *change_name(SubscriptionResult result)
{
    switch (result) {
    case SUBSCRIPTION_DONE:
        return "moved";
    case SUBSCRIPTION_ASKED_PERSON:
    case SUBSCRIPTION_PERSON_WAITS:
        return "asked";
    case SUBSCRIPTION_LIMITED:
        return "limited";
    case SUBSCRIPTION_REFUSED:
        return "refused";
    case SUBSCRIPTION_OWN_ADDRESS:
        return "bad_own_address";
    case SUBSCRIPTION_BAD_ADDRESS:
        return "bad_address";
    default:
        return "no_change";
    }
}

/* Both addresses have to agree: who is signed in speaks for all of his own that were shown to be his. */
static void post_address(WebCall *call)
{
    GError *error = NULL;
    g_auto(Subscription) made = {.result = SUBSCRIPTION_NO_CHANGE};
    const SignedIn *person = my_sender(call);
    g_autoptr(Work) work = person ? web_begin(call) : NULL;
    if (!work)
        return;
    g_autofree char *to = g_strstrip(g_strdup(web_field(call, "new_address")));
    g_autoptr(GPtrArray) addresses = find_addresses(work_store(work), person, &error);
    const KnownAddress *from = addresses ? find_own(addresses, web_field(call, "old_address")) : NULL;
    const KnownAddress *own = addresses ? find_own(addresses, to) : NULL;
    if (!from) {
        web_missing(call, error);
        return;
    }
    g_autoptr(List) list = find_speaker(work_store(work), from->original, &error);
    const AddressChange change = {.old_address = from->original,
                                  .new_address = to,
                                  .old_agreed = true,
                                  .new_agreed = own && own->verified_at != 0};
    work_become(work, ACTOR_MEMBER, from->original);
    if (error || (list && !change_address_ask(work, list, &change, &made, &error))) {
        web_fail(call, error);
        return;
    }
    if (web_commit(call, work))
        show_person(call, person, json_pack("{ss ss}", change_name(made.result), to, "typed", to));
}

/* One that is on no list any more, so that nobody signs in by it. */
static void post_remove(WebCall *call)
{
    GError *error = NULL;
    bool used;
    const SignedIn *person = my_sender(call);
    g_autoptr(Work) work = person ? web_begin(call) : NULL;
    if (!work)
        return;
    g_autoptr(GPtrArray) addresses = find_addresses(work_store(work), person, &error);
    const KnownAddress *gone = addresses ? find_own(addresses, web_field(call, "address")) : NULL;
    if (!gone || !is_used(work_store(work), gone->original, &used, &error)) {
        web_missing(call, error);
        return;
    }
    if (used || gone->preferred || mailbox_same(gone->original, person->address)) {
        show_person(call, person, json_pack("{ss}", "in_use", gone->original));
        return;
    }
    work_become(work, ACTOR_MEMBER, person->address);
    if (!people_remove_address(work, gone->original, &error))
        web_missing(call, error);
    else if (web_commit(call, work))
        show_person(call, person, json_pack("{ss}", "removed", gone->original));
}

const WebRoute web_my_person[] = {
    {"GET", "/my/person", get_person},
    {"POST", "/my/person/language", post_language},
    {"POST", "/my/person/address", post_address},
    {"POST", "/my/person/address/remove", post_remove},
    {.verb = NULL},
};
