/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* This finds who is signed in: by the cookie of a session, or by a field that a proxy of the site sets. The pages are
 * those to sign in by a mailed link, and what somebody sees then: all own lists, sessions, and what is stored. */
#include "runners/web/my.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "lists/letters/letter.h"
#include "lists/people/person.h"
#include "lists/people/sign_in.h"
#include "mail/visible.h"
#include "runners/web/form_mark.h"
#include "runners/web/web.h"
#include "store/lists/list.h"
#include "store/lists/list_archive.h"
#include "store/lists/list_setting.h"
#include "store/people/user.h"

/* ---- the session ---- */

/* With https the cookie is for this host and its pages alone (RFC 6265bis, 4.1.3.2). */
static const char *cookie_name(const Web *web)
{
    return g_str_has_prefix(web->url, "https:") ? "__Host-listrunner" : "listrunner";
}

/* The token of the session that the browser brings; NULL: none. g_free() */
static char *find_token(const WebCall *call)
{
    const char *field = http_header(call->http, "Cookie"), *name = cookie_name(call->web);
    g_auto(GStrv) cookies = g_strsplit(field ? field : "", ";", -1);
    for (char **cookie = cookies; *cookie; cookie++) {
        const char *text = g_strstrip(*cookie);
        size_t length = strlen(name);
        if (strncmp(text, name, length) == 0 && text[length] == '=' && text[length + 1])
            return g_strdup(text + length + 1);
    }
    return NULL;
}

bool web_person(WebCall *call, const SignedIn **person)
{
    GError *error = NULL;
    /* The address that a proxy vouches for. Of two fields one may have come from the client, by a proxy that does not
     * take it away, and nobody knows which: then it vouches for nobody. */
    const char *field = config_string(call->web->config, "web", "user_header");
    const char *vouched = field && web_through_proxy(call) ? http_header(call->http, field) : NULL;
    if (vouched && (!*vouched || http_header_last(call->http, field) != vouched))
        vouched = NULL;
    if (!call->person_known && (vouched || http_header(call->http, "Cookie"))) {
        g_autofree char *token = vouched ? NULL : find_token(call);
        if (vouched)
            call->person = sign_in_vouched(call->store, vouched, &error);
        else if (token)
            call->person = sign_in_person(call->store, token, clock_now(), &error);
        if (error && !g_error_matches(error, FAIL, FAIL_MISSING) && !g_error_matches(error, FAIL, FAIL_NEVER)) {
            web_fail(call, error);
            return false;
        }
        g_clear_error(&error);
    }
    call->person_known = true;
    *person = call->person;
    return true;
}

void web_set_session(WebCall *call, const char *token)
{
    bool secure = g_str_has_prefix(call->web->url, "https:");
    g_autofree char *cookie = g_strdup_printf("%s=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Lax%s",
                                              cookie_name(call->web), token ? token : "",
                                              token ? (int)(SESSION_LIFE / CLOCK_SECOND) : 0, secure ? "; Secure" : "");
    http_set_header(call->http, "Set-Cookie", cookie);
}

/* A form belongs to the session in which it was read. */
static char *mark_about(const SignedIn *person)
{
    return g_strdup_printf("signed in %" G_GINT64_FORMAT " %s", person->session, person->address);
}

char *web_my_mark(WebCall *call, const SignedIn *person)
{
    g_autofree char *about = mark_about(person);
    return form_mark_make(call->web->form_keys, about, clock_now());
}

bool web_my_mark_good(WebCall *call, const SignedIn *person)
{
    g_autofree char *about = mark_about(person);
    return form_mark_good(call->web->form_keys, about, web_field(call, "mark"), clock_now());
}

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
const SignedIn *my_person(WebCall *call)
{
    const SignedIn *person = NULL;
    if (web_person(call, &person) && !person)
        web_see_other(call, "/sign-in");
    return person;
}

/* The same for a form, whose mark must be of this session. */
const SignedIn *my_sender(WebCall *call)
{
    const SignedIn *person = my_person(call);
    if (!person || web_my_mark_good(call, person))
        return person;
    web_notice(call, 400, "form_too_old", NULL);
    return NULL;
}

json_t *my_view(WebCall *call, const SignedIn *person)
{
    g_autofree char *mark = web_my_mark(call, person);
    return json_pack("{ss ss sb}", "mark", mark, "me", person->address, "signed_in", true);
}

/* ---- all lists ---- */

const char *my_say(const WebCall *call, const char *text)
{
    return theme_text(call->web->theme, call->language, text);
}

json_t *my_member_line(const WebCall *call, const Member *member, const List *list)
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
        json_object_set_new(line, "state", json_string(my_say(call, state)));
    }
    if (call->web->archive && list->settings->archive_policy != ARCHIVE_NEVER)
        json_object_set_new(line, "archive_path", json_string(archive_path));
    return line;
}

bool my_set_lines(WebCall *call, const GPtrArray *members, json_t *view, GError **error)
{
    static const char *const traits[] = {[ROLE_MEMBER] = "receives", [ROLE_OWNER] = "runs", [ROLE_MODERATOR] = "runs"};
    json_t *lines = json_array();
    json_object_set_new(view, "lists", lines);
    for (guint i = 0; i < members->len; i++) {
        const Member *member = members->pdata[i];
        g_autoptr(List) list = list_by_id(call->store, member->list_id, error);
        if (!list)
            return false;
        json_array_append_new(lines, my_member_line(call, member, list));
        json_object_set_new(view, traits[member->role], json_true());
        if (member->role == ROLE_OWNER)
            json_object_set_new(view, "owns", json_true());
    }
    return true;
}

bool my_owns_place(Store *store, const SignedIn *person, bool *owns, GError **error)
{
    *owns = false;
    return !*person->user_id || user_owns_place(store, person->user_id, owns, error);
}

void my_show(WebCall *call, const SignedIn *person, json_t *more)
{
    GError *error = NULL;
    bool owns;
    Store *store = call->store;
    json_t *view = my_view(call, person), *lines = json_array();
    json_object_update(view, more);
    json_decref(more);
    json_object_set_new(view, "sessions", lines);
    g_autofree char *after = web_query(call, "after"), *next = NULL;
    const MemberCriteria criteria = sign_in_criteria(person);
    bool good = my_owns_place(store, person, &owns, &error);
    g_autoptr(GPtrArray) members = good ? member_page(store, &criteria, after, LISTS, &next, &error) : NULL;
    good = members && my_set_lines(call, members, view, &error);
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
    const SignedIn *person = my_person(call);
    if (person)
        my_show(call, person, json_object());
}

char *my_day(int64_t time)
{
    g_autoptr(GDateTime) day = g_date_time_new_from_unix_utc(time / CLOCK_SECOND);
    return g_date_time_format(day, "%Y-%m-%d");
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
    const SignedIn *person = my_sender(call);
    if (!person || (person->session && !end_sessions(call, person, person->session, 0)))
        return;
    web_set_session(call, NULL);
    web_see_other(call, "/");
}

/* end=KEY, or end=others. */
static void post_sessions(WebCall *call)
{
    int64_t key = 0;
    const SignedIn *person = my_sender(call);
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
    const SignedIn *person = my_person(call);
    if (!person)
        return;
    json_t *data = person_export(call->store, person->address, &error);
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

json_t *my_language_choices(const WebCall *call, const char *chosen, const char *none)
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

const WebRoute web_my[] = {
    {"GET", "/sign-in", get_sign_in},
    {"POST", "/sign-in", post_sign_in},
    {"GET", "/sign-in/{}", get_link},
    {"POST", "/sign-in/{}", post_link},
    {"GET", "/my", get_my},
    {"POST", "/my/sign-out", post_sign_out},
    {"POST", "/my/sessions", post_sessions},
    {"GET", "/my/data", get_data},
    {.verb = NULL},
};
