/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Signing in by a mailed link, and what somebody sees then: all own lists, the options of each, leaving, sessions, and
 * what is stored.
 */
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "lists/leave.h"
#include "lists/options.h"
#include "lists/person.h"
#include "lists/sign_in.h"
#include "lists/workflow.h"
#include "mail/visible.h"
#include "runners/web/form_mark.h"
#include "runners/web/web.h"
#include "store/list.h"
#include "store/list_archive.h"
#include "store/vacation.h"

#define LISTS 500 /* that a page shows */
#define AGENT 200 /* bytes of what a browser says it is */
#define SIGN_IN_MARK "sign in"

static void see_other(WebCall *call, const char *path)
{
    g_autofree char *place = g_strconcat(call->web->base, path, NULL);
    web_set_headers(call);
    http_set_header(call->http, "Location", place);
    call->answered = true;
    http_answer(call->http, 303, "text/plain; charset=utf-8", "", 0);
}

/* ---- signing in ---- */

static void show_form(WebCall *call, int status, json_t *view)
{
    g_autofree char *mark = form_mark_make(call->web->form_key, SIGN_IN_MARK, clock_now());
    json_object_set_new(view, "mark", json_string(mark));
    web_page(call, status, "sign_in", view);
}

static void get_sign_in(WebCall *call)
{
    if (web_store(call)) /* the key of the mark is the database's */
        show_form(call, 200, json_object());
}

static void post_sign_in(WebCall *call)
{
    GError *error = NULL;
    bool valid;
    if (!web_store(call))
        return;
    if (!form_mark_good(call->web->form_key, SIGN_IN_MARK, web_field(call, "mark"), clock_now())) {
        show_form(call, 400, json_pack("{sb ss}", "again", true, "typed", web_field(call, "address")));
        return;
    }
    g_autofree char *address = g_strstrip(g_strdup(web_field(call, "address")));
    g_autoptr(Work) work = web_begin(call);
    if (!work)
        return;
    if (!sign_in_take(work, address, &valid, &error))
        web_fail(call, error);
    else if (!valid)
        show_form(call, 400, json_pack("{sb ss}", "bad_address", true, "typed", address));
    else if (web_commit(call, work))
        web_notice(call, 200, "sign_in_sent", json_pack("{ss}", "address", address));
}

/* Look whose the link is; false: the call was answered. */
static bool peek(WebCall *call, char **address)
{
    GError *error = NULL;
    SignIn result;
    g_autoptr(Work) work = web_look(call);
    if (!work)
        return false;
    if (!sign_in_peek(work, call->args[0], &result, address, &error))
        web_fail(call, error);
    else if (result == SIGN_IN_GUESSING)
        web_notice(call, 429, "guessing", NULL);
    else if (result == SIGN_IN_UNKNOWN)
        web_notice(call, 404, "bad_sign_in", NULL);
    return *address != NULL;
}

static void get_link(WebCall *call)
{
    g_autofree char *address = NULL;
    if (peek(call, &address))
        web_page(call, 200, "sign_in_link", json_pack("{ss ss}", "address", address, "token", call->args[0]));
}

static void post_link(WebCall *call)
{
    GError *error = NULL;
    SignIn result;
    g_autofree char *address = NULL, *token = NULL;
    if (!peek(call, &address))
        return;
    const char *named = http_header(call->http, "User-Agent");
    g_autofree char *agent = visible_line(named ? named : "", AGENT);
    g_autoptr(Work) work = web_begin(call);
    if (!work)
        return;
    if (!sign_in_begin(work, call->args[0], agent, &result, &token, &error)) {
        web_fail(call, error);
    } else if (result != SIGN_IN_DONE) {
        web_notice(call, 404, "bad_sign_in", NULL);
    } else if (web_commit(call, work)) {
        web_set_session(call, token);
        see_other(call, "/my");
    }
}

/* ---- who is there ---- */

/* The person; NULL: the call was answered, a stranger by the form to sign in. */
static const SignedIn *need_person(WebCall *call)
{
    const SignedIn *person = NULL;
    if (web_person(call, &person) && !person)
        see_other(call, "/sign-in");
    return person;
}

/* The same for a form, whose mark must be of this session. */
static const SignedIn *need_sender(WebCall *call)
{
    const SignedIn *person = need_person(call);
    if (!person || web_my_mark_good(call, person))
        return person;
    web_notice(call, 400, "form_too_old", NULL);
    return NULL;
}

static json_t *my_view(WebCall *call, const SignedIn *person)
{
    g_autofree char *mark = web_my_mark(call, person);
    return json_pack("{ss ss sb}", "mark", mark, "me", person->address, "signed_in", true);
}

/* ---- all lists ---- */

static const char *say(const WebCall *call, const char *text)
{
    return theme_text(call->web->theme, call->language, text);
}

/* How mail comes. */
static const char *state_of(const WebCall *call, const Member *member)
{
    static const char *const states[] = {[DELIVERY_ENABLED] = N_("Mail comes"),
                                         [DELIVERY_BY_USER] = N_("You have stopped mail"),
                                         [DELIVERY_BY_BOUNCES] = N_("Stopped, since mail came back"),
                                         [DELIVERY_BY_MODERATOR] = N_("Stopped by the people who run the list"),
                                         [DELIVERY_UNKNOWN] = N_("Stopped")};
    int status = member->effective.delivery_status;
    if (status == DELIVERY_ENABLED && member->effective.delivery_mode != MODE_REGULAR)
        return say(call, N_("Digests come"));
    return say(call, states[CLAMP(status, 0, DELIVERY_UNKNOWN)]);
}

static json_t *member_line(const WebCall *call, const Member *member, const List *list)
{
    g_autofree char *archive = list_archive_name(list->list_id, list->archive);
    g_autofree char *archive_path = g_uri_escape_string(archive, "~", false);
    json_t *line = json_pack("{ss ss ss sb sb sb}", "id", member->id, "name",
                             *list->display_name ? list->display_name : list->list_name, "address", member->address,
                             "is_member", member->role == ROLE_MEMBER, "is_owner", member->role == ROLE_OWNER,
                             "is_moderator", member->role == ROLE_MODERATOR);
    if (member->role == ROLE_MEMBER)
        json_object_set_new(line, "state", json_string(state_of(call, member)));
    if (call->web->archive && list->archive_policy != ARCHIVE_NEVER)
        json_object_set_new(line, "archive_path", json_string(archive_path));
    return line;
}

static bool set_lines(WebCall *call, const SignedIn *person, json_t *view, GError **error)
{
    json_t *lines = json_array();
    json_object_set_new(view, "lists", lines);
    g_autoptr(GPtrArray) members = sign_in_members(call->web->store, person, NULL, LISTS, error);
    for (guint i = 0; members && i < members->len; i++) {
        const Member *member = members->pdata[i];
        g_autoptr(List) list = list_by_id(call->web->store, member->list_id, error);
        if (!list)
            return false;
        json_array_append_new(lines, member_line(call, member, list));
        if (member->role == ROLE_OWNER || member->role == ROLE_MODERATOR)
            json_object_set_new(view, "runs", json_true());
    }
    return members != NULL;
}

static char *day_text(int64_t time)
{
    g_autoptr(GDateTime) at = g_date_time_new_from_unix_utc(time / CLOCK_SECOND);
    return g_date_time_format(at, "%Y-%m-%d %H:%M UTC");
}

static bool set_sessions(WebCall *call, const SignedIn *person, json_t *view, GError **error)
{
    json_t *lines = json_array();
    json_object_set_new(view, "sessions", lines);
    g_autoptr(GPtrArray) all = session_all(call->web->store, person->address, clock_now(), error);
    for (guint i = 0; all && i < all->len; i++) {
        const Session *session = all->pdata[i];
        g_autofree char *seen = day_text(session->seen_at);
        json_array_append_new(lines, json_pack("{sI ss ss sb}", "key", (json_int_t)session->key, "agent",
                                               session->agent, "seen", seen, "own", session->key == person->session));
    }
    json_object_set_new(view, "others", json_boolean(all && all->len > 1));
    return all != NULL;
}

static void show_my(WebCall *call, const SignedIn *person, json_t *more)
{
    GError *error = NULL;
    json_t *view = my_view(call, person);
    json_object_update(view, more);
    json_decref(more);
    if (set_lines(call, person, view, &error) && set_sessions(call, person, view, &error)) {
        web_page(call, 200, "my", view);
        return;
    }
    json_decref(view);
    web_fail(call, error);
}

static void get_my(WebCall *call)
{
    const SignedIn *person = web_store(call) ? need_person(call) : NULL;
    if (person)
        show_my(call, person, json_object());
}

/* ---- one membership ---- */

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

/* What a member can choose, by the names of lists/options.h. */
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
                                  json_pack("{ss ss sb}", "value", choice->value, "text", say(call, choice->text),
                                            "selected", g_str_equal(choice->value, now)));
        json_array_append_new(all, json_pack("{ss ss so}", "name", options[i].name, "label",
                                             say(call, options[i].label), "choices", choices));
    }
    return all;
}

static void show_membership(WebCall *call, const SignedIn *person, const Member *member, const List *list, json_t *more)
{
    json_t *view = my_view(call, person);
    json_object_update(view, more);
    json_decref(more);
    json_object_set_new(view, "list", member_line(call, member, list));
    json_object_set_new(view, "title", json_string(list->display_name));
    json_object_set_new(view, "options", option_views(call, member));
    web_page(call, 200, "my_list", view);
}

static void get_membership(WebCall *call)
{
    g_autoptr(Member) member = NULL;
    g_autoptr(List) list = NULL;
    const SignedIn *person = need_person(call);
    if (person && find_membership(call, person, &member, &list))
        show_membership(call, person, member, list, json_object());
}

/* Read what the form changes. FAIL_NEVER: a value that there is not. */
static bool read_options(WebCall *call, const Member *member, MemberOptions *wanted, bool *any, GError **error)
{
    *any = false;
    for (size_t i = 0; i < G_N_ELEMENTS(options); i++) {
        const char *value = web_field(call, options[i].name);
        if (!*value || g_str_equal(value, value_of(member, options[i].name)))
            continue;
        if (!option_read(wanted, options[i].name, value, error))
            return false;
        *any = true;
    }
    const char *from = web_field(call, "vacation_from"), *until = web_field(call, "vacation_until");
    if (!*from && !*until)
        return true;
    g_autofree char *span = g_strdup_printf("%s..%s", from, until);
    *any = true;
    return option_read(wanted, "vacation", span, error);
}

static void post_membership(WebCall *call)
{
    GError *error = NULL;
    bool any;
    g_autoptr(Member) member = NULL;
    g_autoptr(List) list = NULL;
    g_auto(MemberOptions) wanted = MEMBER_OPTIONS_NONE;
    const SignedIn *person = need_sender(call);
    if (!person || !find_membership(call, person, &member, &list))
        return;
    if (!read_options(call, member, &wanted, &any, &error)) {
        show_membership(call, person, member, list, json_pack("{ss}", "fault", error->message));
        g_clear_error(&error);
        return;
    }
    g_autoptr(Work) work = any ? web_begin(call) : NULL;
    if (any && !work)
        return;
    if (work)
        work_become(work, ACTOR_MEMBER, member->address);
    if (work && !options_set(work, list, ROLE_MEMBER, member->address, &wanted, &error)) {
        if (g_error_matches(error, FAIL, FAIL_NEVER)) {
            show_membership(call, person, member, list, json_pack("{ss}", "fault", error->message));
            g_clear_error(&error);
        } else {
            web_fail(call, error);
        }
        return;
    }
    if (work && !web_commit(call, work))
        return;
    g_clear_pointer(&member, member_free);
    g_clear_pointer(&list, list_free);
    if (find_membership(call, person, &member, &list))
        show_membership(call, person, member, list, json_pack("{sb}", "saved", true));
}

static void post_leave(WebCall *call)
{
    GError *error = NULL;
    g_autoptr(Member) member = NULL;
    g_autoptr(List) list = NULL;
    g_auto(Subscription) made = {0};
    const SignedIn *person = need_sender(call);
    if (!person || !find_membership(call, person, &member, &list))
        return;
    g_autoptr(Work) work = web_begin(call);
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
    show_my(call, person, json_pack("{ss sb}", waits ? "leave_waits" : "left", list->display_name, "told", made.told));
}

/* ---- sessions, and what is stored ---- */

static bool end_sessions(WebCall *call, const SignedIn *person, int64_t key, int64_t kept)
{
    GError *error = NULL;
    if (session_end(call->web->store, person->address, key, kept, &error))
        return true;
    web_fail(call, error);
    return false;
}

static void post_sign_out(WebCall *call)
{
    const SignedIn *person = need_sender(call);
    if (!person || (person->session && !end_sessions(call, person, person->session, 0)))
        return;
    web_set_session(call, NULL);
    see_other(call, "/");
}

/* end=KEY, or end=others. */
static void post_sessions(WebCall *call)
{
    int64_t key = 0;
    const SignedIn *person = need_sender(call);
    if (!person)
        return;
    const char *which = web_field(call, "end");
    bool others = g_str_equal(which, "others");
    if (!others && !g_ascii_string_to_signed(which, 10, 1, G_MAXINT64, &key, NULL)) {
        web_missing(call, NULL);
        return;
    }
    if (end_sessions(call, person, key, others ? person->session : 0))
        see_other(call, "/my");
}

static void get_data(WebCall *call)
{
    GError *error = NULL;
    const SignedIn *person = need_person(call);
    if (!person)
        return;
    json_t *data = person_export(call->web->store, person->address, &error);
    if (!data) {
        web_missing(call, error);
        return;
    }
    char *text = json_dumps(data, JSON_INDENT(2));
    json_decref(data);
    web_set_headers(call);
    http_set_header(call->http, "Content-Disposition", "attachment; filename=my-lists.json");
    call->answered = true;
    http_answer(call->http, 200, "application/json", text, strlen(text));
    free(text);
}

const WebRoute web_my[] = {
    {"GET", "/sign-in", get_sign_in},
    {"POST", "/sign-in", post_sign_in},
    {"GET", "/sign-in/{}", get_link},
    {"POST", "/sign-in/{}", post_link},
    {"GET", "/my", get_my},
    {"GET", "/my/member/{}", get_membership},
    {"POST", "/my/member/{}", post_membership},
    {"POST", "/my/member/{}/leave", post_leave},
    {"POST", "/my/sign-out", post_sign_out},
    {"POST", "/my/sessions", post_sessions},
    {"GET", "/my/data", get_data},
    {.verb = NULL},
};
