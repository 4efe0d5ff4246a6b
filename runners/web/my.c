/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The pages to sign in by a mailed link, and those of a person who is signed in: all own lists, sessions, and what is
 * stored; one membership with its options, a vacation and leaving; mail of all own lists at once; all addresses, with
 * the way to another one, and the language of letters; and being forgotten: off all lists, and nothing is stored any
 * more but what that page says.
 */
#include <limits.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mailbox.h"
#include "lists/letters/letter.h"
#include "lists/people/change_address.h"
#include "lists/people/leave.h"
#include "lists/people/options.h"
#include "lists/people/people.h"
#include "lists/people/person.h"
#include "lists/people/sign_in.h"
#include "mail/visible.h"
#include "runners/web/form_mark.h"
#include "runners/web/web.h"
#include "store/lists/list.h"
#include "store/lists/list_archive.h"
#include "store/lists/list_setting.h"
#include "store/people/user.h"
#include "store/people/vacation.h"

#define DAY (86400 * CLOCK_SECOND)
#define LISTS 100 /* on a page */
#define AGENT 200 /* bytes of what a browser says it is */
#define SIGN_IN_MARK "sign in"

/* ---- signing in ---- */

static void show_form(WebCall *call, int status, json_t *view)
{
    g_autofree char *mark = form_mark_make(call->web->form_keys, SIGN_IN_MARK, clock_now());
    json_object_set_new(view, "mark", json_string(mark));
    web_page(call, status, "sign_in", view);
}

static void get_sign_in(WebCall *call)
{
    show_form(call, 200, json_object());
}

static void post_sign_in(WebCall *call)
{
    GError *error = NULL;
    bool valid, full;
    if (!form_mark_good(call->web->form_keys, SIGN_IN_MARK, web_field(call, "mark"), clock_now())) {
        show_form(call, 400, json_pack("{sb ss}", "again", true, "typed", web_field(call, "address")));
        return;
    }
    g_autofree char *address = g_strstrip(g_strdup(web_field(call, "address")));
    g_autoptr(Work) work = web_begin_people(call, NULL);
    if (!work)
        return;
    if (!sign_in_is_full(work, &full, &error) || !sign_in_take(work, address, &valid, &error))
        web_fail(call, error);
    else if (!valid)
        show_form(call, 400, json_pack("{sb ss}", "bad_address", true, "typed", address));
    else if (web_commit(call, work))
        web_notice(call, full ? 429 : 200, full ? "sign_in_full" : "sign_in_sent",
                   json_pack("{ss}", "address", address));
}

/* Look whose the link is; false: the call was answered. */
static bool peek(WebCall *call, char **address)
{
    GError *error = NULL;
    SignIn result;
    g_autoptr(Work) work = web_look(call);
    if (!sign_in_peek(work, call->args[0], &result, address, &error))
        web_fail(call, error);
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
    g_autoptr(Work) work = web_begin_people(call, NULL);
    if (!work)
        return;
    if (!sign_in_begin(work, call->args[0], agent, &result, &token, &error)) {
        web_fail(call, error);
    } else if (result != SIGN_IN_DONE) {
        web_notice(call, 404, "bad_sign_in", NULL);
    } else if (web_commit(call, work)) {
        web_set_session(call, token);
        web_see_other(call, "/my");
    }
}

/* ---- who is there ---- */

/* The person; NULL: the call was answered, a stranger by the form to sign in. */
static const SignedIn *find_person(WebCall *call)
{
    const SignedIn *person = NULL;
    if (web_person(call, &person) && !person)
        web_see_other(call, "/sign-in");
    return person;
}

/* The same for a form, whose mark must be of this session. */
static const SignedIn *find_sender(WebCall *call)
{
    const SignedIn *person = find_person(call);
    if (!person || web_my_mark_good(call, person))
        return person;
    web_notice(call, 400, "form_too_old", NULL);
    return NULL;
}

static json_t *person_view(WebCall *call, const SignedIn *person)
{
    g_autofree char *mark = web_my_mark(call, person);
    return json_pack("{ss ss sb}", "mark", mark, "me", person->address->text, "signed_in", true);
}

/* ---- all lists ---- */

static json_t *member_line(const WebCall *call, const Member *member, const List *list)
{
    static const char *const states[] = {[DELIVERY_ENABLED] = N_("Mail comes"),
                                         [DELIVERY_BY_USER] = N_("You have stopped mail"),
                                         [DELIVERY_BY_BOUNCES] = N_("Stopped, since mail came back"),
                                         [DELIVERY_BY_MODERATOR] = N_("Stopped by the people who run the list"),
                                         [DELIVERY_UNKNOWN] = N_("Stopped")};
    g_autofree char *archive = list_archive_name(list->list_id, list->archive);
    g_autofree char *archive_path = g_uri_escape_string(archive, "~", false);
    g_autofree char *path = g_uri_escape_string(list->list_id, NULL, false);
    json_t *line = json_pack("{ss ss ss ss sb sb sb}", "id", member->id, "path", path, "name",
                             *list->settings->display_name ? list->settings->display_name : list->list_name, "address",
                             member->address, "is_member", member->role == ROLE_MEMBER, "is_owner",
                             member->role == ROLE_OWNER, "is_moderator", member->role == ROLE_MODERATOR);
    if (member->role == ROLE_MEMBER) {
        int status = member->effective.delivery_status;
        const char *state = states[CLAMP(status, 0, DELIVERY_UNKNOWN)];
        if (status == DELIVERY_ENABLED && member->effective.delivery_mode != MODE_REGULAR)
            state = N_("Digests come");
        json_object_set_new(line, "state", json_string(web_say(call, state)));
    }
    if (call->web->archive && list->settings->archive_policy != ARCHIVE_NEVER)
        json_object_set_new(line, "archive_path", json_string(archive_path));
    return line;
}

static bool set_lines(WebCall *call, const GPtrArray *members, json_t *view, GError **error)
{
    static const char *const traits[] = {[ROLE_MEMBER] = "receives", [ROLE_OWNER] = "runs", [ROLE_MODERATOR] = "runs"};
    json_t *lines = json_array();
    json_object_set_new(view, "lists", lines);
    for (guint i = 0; i < members->len; i++) {
        const Member *member = members->pdata[i];
        g_autoptr(List) list = list_by_id(call->store, member->list_id, error);
        if (!list)
            return false;
        json_array_append_new(lines, member_line(call, member, list));
        json_object_set_new(view, traits[member->role], json_true());
        if (member->role == ROLE_OWNER)
            json_object_set_new(view, "owns", json_true());
    }
    return true;
}

static bool owns_place(Store *store, const SignedIn *person, bool *owns, GError **error)
{
    *owns = false;
    return !*person->user_id || user_owns_place(store, person->user_id, owns, error);
}

static void show_lists(WebCall *call, const SignedIn *person, json_t *more)
{
    GError *error = NULL;
    bool owns;
    Store *store = call->store;
    json_t *view = person_view(call, person), *lines = json_array();
    json_object_update(view, more);
    json_decref(more);
    json_object_set_new(view, "sessions", lines);
    g_autofree char *after = web_query(call, "after"), *next = NULL;
    const MemberCriteria criteria = sign_in_criteria(person);
    bool good = owns_place(store, person, &owns, &error);
    g_autoptr(GPtrArray) members = good ? member_page(store, &criteria, after, LISTS, &next, &error) : NULL;
    good = members && set_lines(call, members, view, &error);
    g_autoptr(GPtrArray) sessions = good ? session_all(store, person->address, clock_now(), &error) : NULL;
    if (!sessions) {
        json_decref(view);
        web_missing(call, error); /* a place that is none, for instance */
        return;
    }
    if (owns)
        json_object_set_new(view, "runs", json_true());
    g_autofree char *next_uri = next ? g_uri_escape_string(next, NULL, false) : NULL;
    if (next_uri)
        json_object_set_new(view, "next", json_string(next_uri));
    for (guint i = 0; i < sessions->len; i++) {
        const Session *session = sessions->pdata[i];
        json_t *line = json_pack("{sI ss sb}", "key", (json_int_t)session->key, "agent", session->agent, "own",
                                 session->key == person->session);
        web_set_time(line, "seen", session->seen_at);
        json_array_append_new(lines, line);
    }
    json_object_set_new(view, "others", json_boolean(sessions->len > 1));
    web_page(call, 200, "my", view);
}

static void get_my(WebCall *call)
{
    const SignedIn *person = find_person(call);
    if (person)
        show_lists(call, person, json_object());
}

/* ---- sessions, and what is stored ---- */

static bool end_sessions(WebCall *call, const SignedIn *person, int64_t key, int64_t kept)
{
    GError *error = NULL;
    if (session_end(call->store, person->address, key, kept, &error))
        return true;
    web_fail(call, error);
    return false;
}

static void post_sign_out(WebCall *call)
{
    const SignedIn *person = find_sender(call);
    if (!person || (person->session && !end_sessions(call, person, person->session, 0)))
        return;
    web_set_session(call, NULL);
    web_see_other(call, "/");
}

/* end=KEY, or end=others. */
static void post_sessions(WebCall *call)
{
    int64_t key = 0;
    const SignedIn *person = find_sender(call);
    if (!person)
        return;
    const char *which = web_field(call, "end");
    bool others = g_str_equal(which, "others");
    if (!others && !g_ascii_string_to_signed(which, 10, 1, G_MAXINT64, &key, NULL)) {
        web_missing(call, NULL);
        return;
    }
    if (end_sessions(call, person, key, others ? person->session : 0))
        web_see_other(call, "/my");
}

static void get_data(WebCall *call)
{
    GError *error = NULL;
    const SignedIn *person = find_person(call);
    if (!person)
        return;
    json_t *data = person_export(call->store, person->address->text, &error);
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

/* ---- languages of letters ---- */

/* Each in its own words; in the order of codes, as store/language.h has them. */
static const struct {
    const char *code, *name;
} names[] = {{"ar", "العربية"},    {"ast", "Asturianu"},  {"bg", "Български"},   {"ca", "Català"},
             {"cs", "Čeština"},    {"da", "Dansk"},       {"de", "Deutsch"},     {"el", "Ελληνικά"},
             {"en", "English"},    {"es", "Español"},     {"et", "Eesti"},       {"eu", "Euskara"},
             {"fi", "Suomi"},      {"fr", "Français"},    {"gl", "Galego"},      {"he", "עברית"},
             {"hr", "Hrvatski"},   {"hu", "Magyar"},      {"ia", "Interlingua"}, {"it", "Italiano"},
             {"ja", "日本語"},     {"ko", "한국어"},      {"lt", "Lietuvių"},    {"nl", "Nederlands"},
             {"no", "Norsk"},      {"pl", "Polski"},      {"pt", "Português"},   {"pt_BR", "Português (Brasil)"},
             {"ro", "Română"},     {"ru", "Русский"},     {"sk", "Slovenčina"},  {"sl", "Slovenščina"},
             {"sr", "Српски"},     {"sv", "Svenska"},     {"tr", "Türkçe"},      {"uk", "Українська"},
             {"vi", "Tiếng Việt"}, {"zh_CN", "简体中文"}, {"zh_TW", "繁體中文"}};

static void add(json_t *all, const char *code, const char *text, const char *chosen)
{
    json_array_append_new(all,
                          json_pack("{ss ss sb}", "value", code, "text", text, "selected", g_str_equal(code, chosen)));
}

static json_t *language_choices(const WebCall *call, const char *chosen, const char *none)
{
    bool seen = g_str_equal(chosen, "default");
    json_t *all = json_array();
    add(all, "default", none, chosen);
    for (size_t at = 0; at < G_N_ELEMENTS(names); at++) {
        bool own = g_str_equal(names[at].code, chosen);
        if (own || letter_speaks(&call->web->site, names[at].code))
            add(all, names[at].code, names[at].name, chosen);
        seen = seen || own;
    }
    if (!seen) /* "de_AT" was chosen elsewhere, and stays */
        add(all, chosen, chosen, chosen);
    return all;
}

/* ---- one membership ---- */

/* The membership that the path names by its id, and its list; false: the call was answered. Nobody gets to another
 * person's, which look like those that are not there. */
static bool find_membership(WebCall *call, const SignedIn *person, Member **member, List **list)
{
    GError *error = NULL;
    g_autoptr(Member) found = member_by_id(call->store, call->args[0], &error);
    bool own = found && found->role == ROLE_MEMBER &&
               (*person->user_id ? g_str_equal(found->user_id, person->user_id)
                                 : g_ascii_strcasecmp(found->address, person->address->text) == 0);
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
    json_t *view = person_view(call, person), *all = json_array();
    for (size_t i = 0; i < G_N_ELEMENTS(options); i++) {
        json_t *choices = json_array();
        const char *now = value_of(member, options[i].name);
        for (const Choice *choice = options[i].choices; choice->value; choice++)
            json_array_append_new(choices,
                                  json_pack("{ss ss sb}", "value", choice->value, "text", web_say(call, choice->text),
                                            "selected", g_str_equal(choice->value, now)));
        json_array_append_new(all, json_pack("{ss ss so}", "name", options[i].name, "label",
                                             web_say(call, options[i].label), "choices", choices));
    }
    /* One more than the table has, since its values are the languages in which there are letters. */
    json_t *languages = language_choices(call, value_of(member, "language"),
                                         web_say(call, N_("that of all my letters, else the list’s")));
    json_array_append_new(all,
                          json_pack("{ss ss so}", "name", "language", "label",
                                    web_say(call, N_("Language of its letters and digests")), "choices", languages));
    if (done)
        json_object_set_new(view, done, json_true());
    if (vacation.ends_at != 0) {
        g_autofree char *from = web_day(vacation.begins_at), *until = web_day(vacation.ends_at - DAY);
        json_object_set_new(view, "vacation", json_pack("{ss ss}", "from", from, "until", until));
    }
    json_object_set_new(view, "list", member_line(call, member, list));
    json_object_set_new(view, "title", json_string(list->settings->display_name));
    json_object_set_new(view, "options", all);
    web_page(call, 200, "my_list", view);
}

static void get_membership(WebCall *call)
{
    g_autoptr(Member) member = NULL;
    g_autoptr(List) list = NULL;
    const SignedIn *person = find_person(call);
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
    g_autofree char *begins = there ? web_day(now->begins_at) : g_strdup("");
    g_autofree char *ends = there ? web_day(now->ends_at - DAY) : g_strdup("");
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
    g_autoptr(Mailbox) address = mailbox_new(member->address);
    if (options_set(work, list, ROLE_MEMBER, address, wanted, &error))
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
    const SignedIn *person = find_sender(call);
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
    const SignedIn *person = find_sender(call);
    if (!person || !find_membership(call, person, &member, &list))
        return;
    g_autoptr(Work) work = web_begin_people(call, list->list_id);
    if (!work)
        return;
    work_become(work, ACTOR_MEMBER, member->address);
    g_autoptr(Mailbox) address = mailbox_new(member->address);
    if (!leave_ask(work, list, address, FACT_CONFIRMED | FACT_VERIFIED | FACT_ANSWERED, &made, &error)) {
        web_fail(call, error);
        return;
    }
    if (!web_commit(call, work))
        return;
    bool waits = made.result == SUBSCRIPTION_ASKED_MODERATOR || made.result == SUBSCRIPTION_MODERATOR_WAITS;
    show_lists(call, person,
               json_pack("{ss sb}", waits ? "leave_waits" : "left", list->settings->display_name, "told", made.told));
}

/* ---- all memberships at once ---- */

/* The button mail=on, mail=off or mail=away, with the days of a vacation. */
static void post_all(WebCall *call)
{
    GError *error = NULL;
    g_autoptr(GError) fault = NULL;
    g_auto(MemberOptions) vacation = MEMBER_OPTIONS_NONE;
    const SignedIn *person = find_sender(call);
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
        work_become(work, ACTOR_MEMBER, person->address->text);
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
        show_lists(call, person, json_pack("{sb}", wrong ? wrong : "saved", true));
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
        bool own = mailbox_same(address->original, person->address->text);
        if (!is_used(call->store, address->original, &used, error))
            return false;
        json_t *line = json_pack("{ss sb sb sb sb}", "address", address->original, "own", own, "used", used,
                                 "preferred", address->preferred, "removable", !own && !used && !address->preferred);
        if (address->verified_at != 0) {
            g_autofree char *day = web_day(address->verified_at);
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
    json_t *view = person_view(call, person);
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
    json_object_set_new(view, "languages", language_choices(call, chosen, web_say(call, N_("that of each list"))));
    web_page(call, 200, "my_person", view);
}

static void get_person(WebCall *call)
{
    const SignedIn *person = find_person(call);
    if (person)
        show_person(call, person, json_object());
}

static void post_language(WebCall *call)
{
    GError *error = NULL;
    Preferences preferences;
    g_autoptr(GError) fault = NULL;
    g_auto(MemberOptions) wanted = MEMBER_OPTIONS_NONE;
    const SignedIn *person = find_sender(call);
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
    work_become(work, ACTOR_MEMBER, person->address->text);
    bool of_user = *person->user_id;
    if (!people_set_preferences(work, of_user ? PREFERENCES_OF_USER : PREFERENCES_OF_ADDRESS,
                                of_user ? person->user_id : person->address->text, &preferences, &error))
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
    const SignedIn *person = find_sender(call);
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
    g_autoptr(Mailbox) old_address = mailbox_new(from->original), new_address = mailbox_new(to);
    const AddressChange change = {.old_address = old_address,
                                  .new_address = new_address,
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
    const SignedIn *person = find_sender(call);
    g_autoptr(Work) work = person ? web_begin(call) : NULL;
    if (!work)
        return;
    g_autoptr(GPtrArray) addresses = find_addresses(work_store(work), person, &error);
    const KnownAddress *gone = addresses ? find_own(addresses, web_field(call, "address")) : NULL;
    if (!gone || !is_used(work_store(work), gone->original, &used, &error)) {
        web_missing(call, error);
        return;
    }
    if (used || gone->preferred || mailbox_same(gone->original, person->address->text)) {
        show_person(call, person, json_pack("{ss}", "in_use", gone->original));
        return;
    }
    work_become(work, ACTOR_MEMBER, person->address->text);
    g_autoptr(Mailbox) address = mailbox_new(gone->original);
    if (!people_remove_address(work, address, &error))
        web_missing(call, error);
    else if (web_commit(call, work))
        show_person(call, person, json_pack("{ss}", "removed", gone->original));
}

/* ---- being forgotten ---- */

static void get_forget(WebCall *call)
{
    GError *error = NULL;
    bool runs;
    const SignedIn *person = find_person(call);
    if (!person)
        return;
    json_t *view = person_view(call, person);
    bool good = owns_place(call->store, person, &runs, &error);
    g_autoptr(GPtrArray) members = good ? sign_in_members(call->store, person, NULL, INT_MAX, &error) : NULL;
    if (!members || !set_lines(call, members, view, &error)) {
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
    const SignedIn *person = find_sender(call);
    g_autoptr(Work) work = person ? web_begin(call) : NULL;
    if (!work)
        return;
    work_become(work, ACTOR_MEMBER, person->address->text);
    if (!owns_place(work_store(work), person, &runs, &error)) {
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

const WebRoute web_my[] = {
    {"GET", "/sign-in", get_sign_in},
    {"POST", "/sign-in", post_sign_in},
    {"GET", "/sign-in/{}", get_link},
    {"POST", "/sign-in/{}", post_link},
    {"GET", "/my", get_my},
    {"POST", "/my/sign-out", post_sign_out},
    {"POST", "/my/sessions", post_sessions},
    {"GET", "/my/data", get_data},
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
