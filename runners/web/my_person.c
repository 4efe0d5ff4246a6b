/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The pages of a person who is signed in: one membership with its options, a vacation and leaving; mail of all own
 * lists at once; all addresses, with the way to another one, and the language of letters; and being forgotten: off all
 * lists, and nothing is stored any more but what that page says.
 */
#include <limits.h>
#include <string.h>

#include "base/fail.h"
#include "base/mailbox.h"
#include "lists/people/change_address.h"
#include "lists/people/leave.h"
#include "lists/people/options.h"
#include "lists/people/people.h"
#include "lists/people/workflow.h"
#include "runners/web/my.h"
#include "store/lists/list.h"
#include "store/lists/list_setting.h"
#include "store/people/user.h"
#include "store/people/vacation.h"

/* The membership that the path names by its id, and its list; false: the call was answered. Nobody gets to another
 * person's, which look like those that are not there. */
static bool find_membership(WebCall *call, const SignedIn *person, Member **member, List **list)
{
    GError *error = NULL;
    g_autoptr(Member) found = member_by_id(call->store, call->args[0], &error);
    bool own = found && found->role == ROLE_MEMBER &&
               (*person->user_id ? g_str_equal(found->user_id, person->user_id)
                                 : g_ascii_strcasecmp(found->address, person->address) == 0);
    *list = own ? list_by_id(call->store, found->list_id, &error) : NULL;
    if (*list) {
        *member = g_steal_pointer(&found);
        return true;
    }
    web_missing(call, error);
    return false;
}

typedef struct Choice {
    const char *value, *text;
} Choice;

static const Choice yes_no[] = {{"on", N_("yes")}, {"off", N_("no")}, {NULL, NULL}};
static const Choice digests[] = {{"off", N_("each message by itself")},
                                 {"plain", N_("digests of plain text")},
                                 {"mime", N_("digests with each message as it was sent")},
                                 {"summary", N_("a list of subjects")},
                                 {NULL, NULL}};

/* A member can choose these, by the names of lists/people/options.h. */
static const struct {
    const char *name, *label;
    const Choice *choices;
} options[] = {{"delivery", N_("Mail of the list comes"), yes_no},
               {"digest", N_("In the form of"), digests},
               {"myposts", N_("I get my own messages"), yes_no},
               {"ack", N_("I get a note for each own message"), yes_no},
               {"duplicates", N_("I get the list’s copy also when I am addressed myself"), yes_no},
               {"hide", N_("Other members do not see my address"), yes_no}};

/* The value that is in force, as the form has it. */
static const char *value_of(const Member *member, const char *name)
{
    const Preferences *now = &member->effective;
    static const char *const modes[] = {[MODE_REGULAR] = "off",
                                        [MODE_PLAINTEXT_DIGESTS] = "plain",
                                        [MODE_MIME_DIGESTS] = "mime",
                                        [MODE_SUMMARY_DIGESTS] = "summary"};
    if (g_str_equal(name, "language"))
        return *member->own.preferred_language ? member->own.preferred_language : "default";
    if (g_str_equal(name, "digest"))
        return modes[CLAMP(now->delivery_mode, 0, MODE_SUMMARY_DIGESTS)];
    bool on = g_str_equal(name, "delivery")  ? now->delivery_status == DELIVERY_ENABLED
              : g_str_equal(name, "myposts") ? now->receive_own_postings == 1
              : g_str_equal(name, "ack")     ? now->acknowledge_posts == 1
              : g_str_equal(name, "hide")    ? now->hide_address == 1
                                             : now->receive_list_copy == 1;
    return on ? "on" : "off";
}

/* Show the membership with the result: "saved", or the fault: "bad_option", "stopped", "bad_vacation", "vacation_over";
 * NULL: the page was only asked for. */
static void show_membership(WebCall *call, const SignedIn *person, const Member *member, const List *list,
                            const char *done)
{
    GError *error = NULL;
    Vacation vacation;
    if (!vacation_find(call->store, member->id, &vacation, &error)) {
        web_fail(call, error);
        return;
    }
    json_t *view = my_view(call, person), *all = json_array();
    for (size_t i = 0; i < G_N_ELEMENTS(options); i++) {
        json_t *choices = json_array();
        const char *now = value_of(member, options[i].name);
        for (const Choice *choice = options[i].choices; choice->value; choice++)
            json_array_append_new(choices,
                                  json_pack("{ss ss sb}", "value", choice->value, "text", my_say(call, choice->text),
                                            "selected", g_str_equal(choice->value, now)));
        json_array_append_new(all, json_pack("{ss ss so}", "name", options[i].name, "label",
                                             my_say(call, options[i].label), "choices", choices));
    }
    /* One more than the table has, since its values are the languages in which there are letters. */
    json_t *languages = my_language_choices(call, value_of(member, "language"),
                                            my_say(call, N_("that of all my letters, else the list’s")));
    json_array_append_new(all,
                          json_pack("{ss ss so}", "name", "language", "label",
                                    my_say(call, N_("Language of its letters and digests")), "choices", languages));
    if (done)
        json_object_set_new(view, done, json_true());
    if (vacation.ends_at != 0) {
        g_autofree char *from = my_day(vacation.begins_at), *until = my_day(vacation.ends_at - MY_DAY);
        json_object_set_new(view, "vacation", json_pack("{ss ss}", "from", from, "until", until));
    }
    json_object_set_new(view, "list", my_member_line(call, member, list));
    json_object_set_new(view, "title", json_string(list->settings->display_name));
    json_object_set_new(view, "options", all);
    web_page(call, 200, "my_list", view);
}

static void get_membership(WebCall *call)
{
    g_autoptr(Member) member = NULL;
    g_autoptr(List) list = NULL;
    const SignedIn *person = my_person(call);
    if (person && find_membership(call, person, &member, &list))
        show_membership(call, person, member, list, NULL);
}

/* Read what the form changes. NULL: it can be; else the name of what is wrong, in words of the page. */
static const char *read_options(WebCall *call, const Member *member, const Vacation *now, MemberOptions *wanted,
                                bool *any)
{
    g_autoptr(GError) fault = NULL;
    *any = false;
    for (size_t i = 0; i <= G_N_ELEMENTS(options); i++) {
        const char *name = i < G_N_ELEMENTS(options) ? options[i].name : "language";
        const char *value = web_field(call, name);
        if (!*value || g_str_equal(value, value_of(member, name)))
            continue;
        if (!option_read(wanted, name, value, &fault))
            return "bad_option";
        *any = true;
    }
    if (!options_allowed(wanted, member, &fault))
        return "stopped";
    /* Days that are both empty end a vacation that is there; the same days change nothing. */
    const char *from = web_field(call, "vacation_from"), *until = web_field(call, "vacation_until");
    bool there = now->ends_at != 0;
    g_autofree char *begins = there ? my_day(now->begins_at) : g_strdup("");
    g_autofree char *ends = there ? my_day(now->ends_at - MY_DAY) : g_strdup("");
    if (g_str_equal(from, begins) && g_str_equal(until, ends))
        return NULL;
    g_autofree char *span = *from || *until ? g_strdup_printf("%s..%s", from, until) : g_strdup("off");
    *any = true;
    return option_read(wanted, "vacation", span, &fault) ? NULL : "bad_vacation";
}

/* Set them. false: they cannot be set, and *wrong says so, or the call was answered. */
static bool set_options(WebCall *call, const Member *member, const List *list, const MemberOptions *wanted,
                        const char **wrong)
{
    GError *error = NULL;
    g_autoptr(Work) work = web_begin_people(call, list->list_id);
    if (!work)
        return false;
    work_become(work, ACTOR_MEMBER, member->address);
    if (options_set(work, list, ROLE_MEMBER, member->address, wanted, &error))
        return web_commit(call, work);
    if (!g_error_matches(error, FAIL, FAIL_NEVER)) {
        web_missing(call, error);
        return false;
    }
    g_clear_error(&error);
    *wrong = wanted->vacation_ends > 0 ? "vacation_over" : "bad_option";
    return false;
}

static void post_membership(WebCall *call)
{
    GError *error = NULL;
    bool any;
    Vacation vacation;
    g_autoptr(Member) member = NULL;
    g_autoptr(List) list = NULL;
    g_auto(MemberOptions) wanted = MEMBER_OPTIONS_NONE;
    const SignedIn *person = my_sender(call);
    if (!person || !find_membership(call, person, &member, &list))
        return;
    if (!vacation_find(call->store, member->id, &vacation, &error)) {
        web_fail(call, error);
        return;
    }
    const char *wrong = read_options(call, member, &vacation, &wanted, &any);
    if (!wrong && any && !set_options(call, member, list, &wanted, &wrong) && !wrong)
        return;
    if (wrong) {
        show_membership(call, person, member, list, wrong);
        return;
    }
    g_clear_pointer(&member, member_free);
    g_clear_pointer(&list, list_free);
    if (find_membership(call, person, &member, &list))
        show_membership(call, person, member, list, "saved");
}

static void post_leave(WebCall *call)
{
    GError *error = NULL;
    g_autoptr(Member) member = NULL;
    g_autoptr(List) list = NULL;
    g_auto(Subscription) made = {0};
    const SignedIn *person = my_sender(call);
    if (!person || !find_membership(call, person, &member, &list))
        return;
    g_autoptr(Work) work = web_begin_people(call, list->list_id);
    if (!work)
        return;
    work_become(work, ACTOR_MEMBER, member->address);
    if (!leave_ask(work, list, member->address, FACT_CONFIRMED | FACT_VERIFIED | FACT_ANSWERED, &made, &error)) {
        web_fail(call, error);
        return;
    }
    if (!web_commit(call, work))
        return;
    bool waits = made.result == SUBSCRIPTION_ASKED_MODERATOR || made.result == SUBSCRIPTION_MODERATOR_WAITS;
    my_show(call, person,
            json_pack("{ss sb}", waits ? "leave_waits" : "left", list->settings->display_name, "told", made.told));
}

/* ---- all at once ---- */

/* The button mail=on, mail=off or mail=away, with the days of a vacation. */
static void post_all(WebCall *call)
{
    GError *error = NULL;
    g_autoptr(GError) fault = NULL;
    g_auto(MemberOptions) vacation = MEMBER_OPTIONS_NONE;
    const SignedIn *person = my_sender(call);
    if (!person)
        return;
    const char *what = web_field(call, "mail"), *wrong = NULL;
    MailEverywhere mail = g_str_equal(what, "on") ? MAIL_COMES : g_str_equal(what, "off") ? MAIL_STOPS : MAIL_PAUSES;
    g_autofree char *span = g_strdup_printf("%s..%s", web_field(call, "vacation_from"),
                                            web_field(call, "vacation_until"));
    if (mail == MAIL_PAUSES && !g_str_equal(what, "away"))
        wrong = "bad_option";
    else if (mail == MAIL_PAUSES && !option_read(&vacation, "vacation", span, &fault))
        wrong = "bad_vacation";
    g_autoptr(Work) work = wrong ? NULL : web_begin_people(call, NULL);
    if (!wrong && !work)
        return;
    if (work)
        work_become(work, ACTOR_MEMBER, person->address);
    if (work && !options_set_everywhere(work, person->address, mail, &vacation, &error)) {
        if (!g_error_matches(error, FAIL, FAIL_NEVER)) {
            web_missing(call, error);
            return;
        }
        g_clear_error(&error);
        wrong = "vacation_over";
        work_cancel(work);
    }
    if (wrong || web_commit(call, work))
        my_show(call, person, json_pack("{sb}", wrong ? wrong : "saved", true));
}

/* ---- addresses and language ---- */

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
        if (!is_used(call->store, address->original, &used, error))
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
    g_autoptr(GPtrArray) addresses = find_addresses(call->store, person, &error);
    if (!addresses || !set_addresses(call, person, addresses, view, &error) ||
        !find_preferences(call->store, person, addresses, &preferences, &error)) {
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
    /* The letter goes out by a list, and is in the name of the site: the first list that the address is on, if any. */
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    criteria.address = from->original;
    g_autoptr(GPtrArray) roles = member_page(work_store(work), &criteria, NULL, 1, NULL, &error);
    const Member *role = roles && roles->len > 0 ? roles->pdata[0] : NULL;
    g_autoptr(List) list = role ? list_by_id(work_store(work), role->list_id, &error) : NULL;
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

/* ---- being forgotten ---- */

static void get_forget(WebCall *call)
{
    GError *error = NULL;
    bool runs;
    const SignedIn *person = my_person(call);
    if (!person)
        return;
    json_t *view = my_view(call, person);
    bool good = my_owns_place(call->store, person, &runs, &error);
    g_autoptr(GPtrArray) members = good ? sign_in_members(call->store, person, NULL, INT_MAX, &error) : NULL;
    if (!members || !my_set_lines(call, members, view, &error)) {
        json_decref(view);
        web_missing(call, error);
        return;
    }
    json_object_set_new(view, "refused", json_boolean(runs));
    web_page(call, 200, "my_forget", view);
}

static void post_forget(WebCall *call)
{
    GError *error = NULL;
    bool runs;
    const SignedIn *person = my_sender(call);
    g_autoptr(Work) work = person ? web_begin(call) : NULL;
    if (!work)
        return;
    work_become(work, ACTOR_MEMBER, person->address);
    if (!my_owns_place(work_store(work), person, &runs, &error)) {
        web_missing(call, error);
    } else if (runs) {
        work_cancel(work);
        get_forget(call);
    } else if (!people_forget(work, person->user_id, person->address, &error)) {
        web_missing(call, error);
    } else if (web_commit(call, work)) {
        web_set_session(call, NULL);
        web_notice(call, 200, "forgotten", NULL);
    }
}

const WebRoute web_my_person[] = {
    {"GET", "/my/member/{}", get_membership},
    {"POST", "/my/member/{}", post_membership},
    {"POST", "/my/member/{}/leave", post_leave},
    {"POST", "/my/all", post_all},
    {"GET", "/my/person", get_person},
    {"POST", "/my/person/language", post_language},
    {"POST", "/my/person/address", post_address},
    {"POST", "/my/person/address/remove", post_remove},
    {"GET", "/my/forget", get_forget},
    {"POST", "/my/forget", post_forget},
    {.verb = NULL},
};
