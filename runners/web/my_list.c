/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* This page shows a person who is signed in one membership, and changes its options, a vacation, and leaving. */
#include "base/fail.h"
#include "lists/people/leave.h"
#include "lists/people/options.h"
#include "lists/people/workflow.h"
#include "runners/web/my.h"
#include "store/lists/list.h"
#include "store/lists/list_setting.h"
#include "store/people/vacation.h"

/* The membership that the path names by its id, and its list; false: the call was answered. Nobody gets to another
 * person's, which look like those that are not there. */
static bool find_membership(WebCall *call, const SignedIn *person, Member **member, List **list)
{
    GError *error = NULL;
    Store *store = web_store(call);
    g_autoptr(Member) found = store ? member_by_id(store, call->args[0], &error) : NULL;
    bool own = found && found->role == ROLE_MEMBER &&
               (*person->user_id ? g_str_equal(found->user_id, person->user_id)
                                 : g_ascii_strcasecmp(found->address, person->address) == 0);
    *list = own ? list_by_id(store, found->list_id, &error) : NULL;
    if (*list) {
        *member = g_steal_pointer(&found);
        return true;
    }
    if (store)
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

static json_t *option_views(const WebCall *call, const Member *member)
{
    json_t *all = json_array();
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
    return all;
}

/* One more than options has, since its values are the languages in which there are letters. */
static json_t *language_view(const WebCall *call, const Member *member)
{
    const char *own = member->own.preferred_language;
    const char *none = my_say(call, N_("that of all my letters, else the list’s"));
    json_t *choices = my_language_choices(call, *own ? own : "default", none);
    return json_pack("{ss ss so}", "name", "language", "label", my_say(call, N_("Language of its letters and digests")),
                     "choices", choices);
}

/* Show the membership with the result: "saved", or the fault: "bad_option", "stopped", "bad_vacation", "vacation_over";
 * NULL: the page was only asked for. */
static void show_membership(WebCall *call, const SignedIn *person, const Member *member, const List *list,
                            const char *done)
{
    GError *error = NULL;
    Vacation vacation;
    if (!vacation_find(call->web->store, member->id, &vacation, &error)) {
        web_fail(call, error);
        return;
    }
    json_t *view = my_view(call, person), *all = option_views(call, member);
    json_array_append_new(all, language_view(call, member));
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

/* Read the days of the form: both empty end a vacation that is there, the same days change nothing. */
static bool read_vacation(WebCall *call, const Vacation *now, MemberOptions *wanted, bool *any, GError **error)
{
    const char *from = web_field(call, "vacation_from"), *until = web_field(call, "vacation_until");
    bool there = now->ends_at != 0;
    g_autofree char *begins = there ? my_day(now->begins_at) : g_strdup("");
    g_autofree char *ends = there ? my_day(now->ends_at - MY_DAY) : g_strdup("");
    if (g_str_equal(from, begins) && g_str_equal(until, ends))
        return true;
    g_autofree char *span = *from || *until ? g_strdup_printf("%s..%s", from, until) : g_strdup("off");
    *any = true;
    return option_read(wanted, "vacation", span, error);
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
    return read_vacation(call, now, wanted, any, &fault) ? NULL : "bad_vacation";
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
    if (!vacation_find(call->web->store, member->id, &vacation, &error)) {
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

const WebRoute web_my_list[] = {
    {"GET", "/my/member/{}", get_membership},
    {"POST", "/my/member/{}", post_membership},
    {"POST", "/my/member/{}/leave", post_leave},
    {.verb = NULL},
};
