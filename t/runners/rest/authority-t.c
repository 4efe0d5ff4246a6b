/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Each caller asks each route about each object, reads and sets each field, and gets what the tables say: two domains
 * with two lists each, a person of each domain, tokens for one of them or another, for reading alone, for the figures,
 * expired and revoked ones. No call of the walk changes anything: one that could has a parameter that nothing knows.
 */
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "lists/people/token.h"
#include "runners/rest/resources.h"
#include "store/lists/header_match.h"
#include "store/lists/template_text.h"
#include "store/people/ban.h"
#include "store/people/pending.h"
#include "store/posts/held.h"
#include "t/runners/rest/restframe.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define SITE "Basic YTpi" /* a:b */

static Store *store;
static char *log_path;

/* ---- what there is ---- */

/* One list with all that belongs to it. */
typedef struct Place {
    const char *list_id, *address, *domain, *person;
    char *member, *request; /* ids */
} Place;

static Place places[] = {
    {"one.ant.example", "one@ant.example", "ant.example", "anne@home.example", NULL, NULL},
    {"two.ant.example", "two@ant.example", "ant.example", "anne@home.example", NULL, NULL},
    {"one.bee.example", "one@bee.example", "bee.example", "bob@yard.example", NULL, NULL},
    {"two.bee.example", "two@bee.example", "bee.example", "bob@yard.example", NULL, NULL},
};

static void make_domain(const char *host, const char *owner)
{
    GError *error = NULL;
    char id[STORE_ID_SIZE];
    assert_ok(user_create(store, mailbox_of(owner), "Somebody", id, &error), error);
    assert_ok(user_set_password(store, id, "$y$hash", &error), error);
    assert_ok(address_set_verified(store, mailbox_of(owner), clock_now(), &error), error);
    assert_ok(user_set_preferred(store, mailbox_of(owner), &error), error);
    assert_ok(domain_create(store, host, "insects", &error), error);
    assert_ok(domain_add_owner(store, host, id, &error), error);
}

static void make_place(Place *place)
{
    GError *error = NULL;
    int64_t now = clock_now();
    g_autoptr(List) list = list_create(store, place->address, &error);
    g_assert_no_error(error);
    assert_ok(member_add(store, place->list_id, ROLE_MEMBER, mailbox_of(place->person), NULL, NULL, &error), error);
    assert_ok(member_set_moderation(store, place->list_id, ROLE_MEMBER, mailbox_of(place->person), ACTION_HOLD, &error),
              error);
    g_autoptr(Member) member = member_find(store, place->list_id, ROLE_MEMBER, mailbox_of(place->person), &error);
    place->member = g_strdup(member->id);
    Pending pending = {.kind = PENDING_JOIN,
                       .list_id = (char *)place->list_id,
                       .address = mailbox_of("eve@far.example"),
                       .waits_for = PENDING_MODERATOR,
                       .made_at = now,
                       .asked_at = now,
                       .delivery_mode = -1,
                       .delivery_status = -1,
                       .expires_at = now + 3600 * CLOCK_SECOND};
    assert_ok(pending_put(store, &pending, NULL, &error), error);
    place->request = request_token(pending.number);
    g_autoptr(GBytes) message = g_bytes_new_static("Subject: hello\r\n\r\nHi\r\n", 22);
    Held held = {.list_id = (char *)place->list_id, .meta = (char *)"{}", .held_at = now, .message = message};
    assert_ok(held_add(store, &held, &error), error);
    assert_ok(ban_add(store, place->list_id, "eve@far.example", &error), error);
    g_autoptr(HeaderMatch) match = g_new(HeaderMatch, 1);
    *match = (HeaderMatch){g_strdup(place->list_id), -1, g_strdup("x-spam"), g_strdup("yes"), g_strdup("hold"),
                           g_strdup("t")};
    assert_ok(header_match_add(store, match, &error), error);
    const TemplateText text = {.name = (char *)"list:user:notice:welcome", .place = (char *)place->list_id,
                               .language = (char *)"", .uri = (char *)"http://t.example/", .username = (char *)"u",
                               .password = (char *)"p", .fault = (char *)""};
    assert_ok(template_text_put(store, &text, &error), error);
}

/* ---- callers ---- */

enum { OTHER, EXPIRED, REVOKED };

typedef struct Caller {
    const char *name, *verbs, *lists, *domains;
    bool metrics;
    int fate;
    char *credentials;
} Caller;

#define READING "GET HEAD OPTIONS"
static Caller callers[] = {
    {"a password", "", "", "", false, OTHER, (char *)SITE},
    {"a token for all", "", "", "", false, OTHER, NULL},
    {"a token for all, to read", READING, "", "", false, OTHER, NULL},
    {"a domain", "", "", "ant.example", false, OTHER, NULL},
    {"the other domain", "", "", "bee.example", false, OTHER, NULL},
    {"a domain, to read", READING, "", "ant.example", false, OTHER, NULL},
    {"a list", "", "one.ant.example", "", false, OTHER, NULL},
    {"a list, to read", READING, "one.ant.example", "", false, OTHER, NULL},
    {"another list", "", "two.bee.example", "", false, OTHER, NULL},
    {"a list and a domain", "", "one.bee.example", "ant.example", false, OTHER, NULL},
    {"the figures", "", "", "", true, OTHER, NULL},
    {"expired, for all", "", "", "", false, EXPIRED, NULL},
    {"expired", "", "one.ant.example", "", false, EXPIRED, NULL},
    {"revoked", "", "one.ant.example", "", false, REVOKED, NULL},
    {"nobody", "", "", "", false, EXPIRED, (char *)""},
};

static void make_token(Caller *caller)
{
    GError *error = NULL;
    char id[TOKEN_ID_SIZE];
    const WorkSite site = {.site_owner = "root@ant.example", .hostname = "ant.example"};
    const Actor actor = {.role = ACTOR_OPERATOR, .door = DOOR_SHELL};
    const Token like = {.name = (char *)caller->name, .verbs = (char *)caller->verbs, .lists = (char *)caller->lists,
                        .domains = (char *)caller->domains, .metrics = caller->metrics};
    g_autoptr(Work) work = work_new(store, &site, &actor);
    g_autofree char *text = token_create(work, &like, id, &error);
    g_assert_no_error(error);
    if (caller->fate == REVOKED)
        assert_ok(token_revoke(work, id, &error), error);
    if (caller->fate == EXPIRED) { /* none can be made that has expired already */
        g_autoptr(Token) token = token_find(store, id, &error);
        g_assert_no_error(error);
        assert_ok(token_remove(store, id, &error), error);
        token->expires_at = clock_now() - 1;
        assert_ok(token_add(store, token, &error), error);
    }
    caller->credentials = g_strconcat("Bearer ", text, NULL);
}

static bool has_word(const char *words, const char *word)
{
    g_auto(GStrv) all = g_strsplit(words, " ", -1);
    return g_strv_contains((const char *const *)all, word);
}

/* In which relation the caller stands to an object of this kind at the place. */
static Authority relation(const Caller *caller, RestObject of, const Place *place)
{
    bool of_list = of == OF_LIST || of == OF_MEMBER || of == OF_NAMED_LIST;
    return caller->metrics                               ? BY_FIGURES
           : !*caller->lists && !*caller->domains      ? BY_SITE
           : of == OF_SITE || of == OF_HOST               ? BY_STRANGER
           : has_word(caller->domains, place->domain)    ? BY_DOMAIN
           : of_list && has_word(caller->lists, place->list_id) ? BY_LIST
                                                         : BY_STRANGER;
}

/* ---- asking ---- */

/* Ask; the answer is freed with http_call_clear(). Wrong credentials come from an address of their own each time. */
static void ask(HttpCall *call, const Caller *caller, const char *verb, const char *path, const char *query)
{
    static unsigned count;
    g_autofree char *peer = g_strdup_printf("192.0.%u.%u", count / 250 % 250, count % 250);
    count++;
    *call = (HttpCall){.verb = verb, .path = path, .query = query, .peer = peer,
                       .credentials = *caller->credentials ? caller->credentials : NULL};
    rest_frame_handle(call);
    g_assert_cmpuint(call->answers, ==, 1);
    call->peer = NULL;
}

/* "/3.1/lists/one.ant.example/held/1" for a path of a table; g_free(). */
static char *path_of(const char *pattern, const Place *place)
{
    const char *const values[][2] = {
        {"{list}", place->list_id},   {"{mail_host}", place->domain}, {"{member}", place->member},
        {"{user}", place->person},    {"{address}", place->person},   {"{email}", "eve@far.example"},
        {"{role}", "member"},         {"{token}", place->request},    {"{attribute}", "description"},
        {"{position}", "0"},          {"{queue}", "in"},              {"{section}", "mailman"},
        {"uris/{name}", "uris/list:user:notice:welcome"}};
    GString *path = g_string_new("/3.1/");
    g_string_append(path, pattern);
    for (size_t at = 0; at < G_N_ELEMENTS(values); at++)
        g_string_replace(path, values[at][0], values[at][1], 0);
    for (char *brace; (brace = strchr(path->str, '{'));) {
        *brace = '1';
        g_string_erase(path, brace - path->str + 1, strchr(brace, '}') - brace);
    }
    return g_string_free(path, FALSE);
}

/* Return the query that names the object where the path does not; g_free(). */
static char *query_of(const RestRoute *route, const Place *place, const char *more)
{
    return route->of == OF_NAMED_LIST ? g_strdup_printf("list_id=%s%s", place->list_id, more)
           : route->of == OF_NEW_LIST ? g_strdup_printf("fqdn_listname=new@%s%s", place->domain, more)
                                      : g_strdup(*more ? more + 1 : more);
}

static bool reads(const RestRoute *route)
{
    return strcmp(route->verb, "GET") == 0;
}

typedef void Visit(const RestRoute *route, const Place *place);

static void each_route(Visit *visit)
{
    for (size_t table = 0; rest_tables[table]; table++)
        for (const RestRoute *route = rest_tables[table]; route->verb; route++)
            for (size_t at = 0; at < G_N_ELEMENTS(places); at++)
                visit(route, &places[at]);
}

/* ---- routes ---- */

static bool in_force(const Caller *caller)
{
    return caller->fate == OTHER;
}

static bool has_verb(const Caller *caller, const RestRoute *route)
{
    return !*caller->verbs || has_word(caller->verbs, route->verb);
}

static void visit_route(const RestRoute *route, const Place *place)
{
    g_autofree char *path = path_of(route->path, place);
    g_autofree char *query = query_of(route, place, reads(route) ? "" : "&which=1");
    for (size_t at = 0; at < G_N_ELEMENTS(callers); at++) {
        const Caller *caller = &callers[at];
        bool may = has_verb(caller, route) && authority_covers(route->who, relation(caller, route->of, place));
        HttpCall call;
        ask(&call, caller, route->verb, path, query);
        g_test_message("%s: %s %s?%s: %d", caller->name, route->verb, path, query, call.status);
        if (!in_force(caller)) {
            g_assert_cmpint(call.status, ==, 401);
        } else if (may) {
            g_assert_cmpint(call.status, !=, 403);
            g_assert_true(reads(route) || (call.status >= 400 && call.status < 500));
        } else {
            g_assert_cmpint(call.status, ==, 403);
        }
        http_call_clear(&call);
    }
}

static void test_routes(void)
{
    each_route(visit_route);
}

/* No row is without a right, and what names its object says where it stands. */
static void test_rows(void)
{
    for (size_t table = 0; rest_tables[table]; table++)
        for (const RestRoute *route = rest_tables[table]; route->verb; route++) {
            g_test_message("%s %s", route->verb, route->path);
            g_assert_true(route->of && route->who && route->function);
            const bool ours = g_str_has_prefix(route->path, "listrunner/lists/");
            g_assert_cmpint(route->of == OF_LIST, ==, ours || g_str_has_prefix(route->path, "lists/{list}"));
            g_assert_cmpint(route->of == OF_DOMAIN, ==, g_str_has_prefix(route->path, "domains/{mail_host}"));
            g_assert_cmpint(route->of == OF_MEMBER, ==, g_str_has_prefix(route->path, "members/{member}"));
            for (const RestField *field = route->fields; field && field->name; field++)
                g_assert_true(field->read || field->write);
        }
    for (const ListSetting *setting = list_settings; setting->name; setting++)
        g_assert_cmpuint(authority_of_setting(setting), !=, MAY_NOBODY);
}

static void test_figures(void)
{
    for (size_t at = 0; at < G_N_ELEMENTS(callers); at++) {
        HttpCall call;
        ask(&call, &callers[at], "GET", "/metrics", NULL);
        g_test_message("%s: %d", callers[at].name, call.status);
        Authority by = relation(&callers[at], OF_SITE, NULL);
        g_assert_cmpint(call.status, ==, !in_force(&callers[at])                     ? 401
                                         : authority_covers(rest_metrics.who, by) ? 503 /* no master runs here */
                                                                                  : 403);
        http_call_clear(&call);
    }
}

/* ---- fields that are shown ---- */

static const RestField *row_of(const RestRoute *route, const char *name)
{
    const RestField *all = NULL;
    for (const RestField *field = route->fields; field && field->name; field++) {
        if (strcmp(field->name, name) == 0)
            return field;
        if (strcmp(field->name, "*") == 0)
            all = field;
    }
    return all;
}

/* The objects of an answer: its entries, or itself. */
static json_t *objects_of(const HttpCall *call)
{
    g_autoptr(json_t) answer = json_loadb(call->text->str, call->text->len, 0, NULL);
    json_t *entries = json_object_get(answer, "entries"), *all;
    if (json_object_get(answer, "total_size"))
        return entries ? json_incref(entries) : json_array();
    all = json_array();
    json_array_append(all, answer);
    return all;
}

/* Both are answers to the same question, one of them the site's. */
static void compare(const RestRoute *route, Authority by, const HttpCall *answer, const HttpCall *whole)
{
    g_autoptr(json_t) some = objects_of(answer), all = objects_of(whole);
    size_t index;
    json_t *object, *value;
    const char *name;
    g_assert_cmpuint(json_array_size(some), ==, json_array_size(all));
    json_array_foreach(all, index, object)
        json_object_foreach(object, name, value) {
            const RestField *row = row_of(route, name);
            bool shown = json_object_get(json_array_get(some, index), name) != NULL;
            bool may = strcmp(name, "http_etag") == 0 || strcmp(name, "count") == 0 ||
                       (row && authority_covers(row->read, by));
            g_test_message("%s of %s", name, route->path);
            g_assert_cmpint(shown, ==, may);
        }
}

/* Whatever a caller for one domain or list is told, it holds nothing of the other domain, and no secret. */
static void assert_own(const Caller *caller, const HttpCall *call)
{
    static const char *const of_ant[] = {"ant.example", "anne@home.example"};
    static const char *const of_bee[] = {"bee.example", "bob@yard.example"};
    bool scoped = *caller->lists || *caller->domains;
    bool ant = strstr(caller->lists, "ant.example") || strstr(caller->domains, "ant.example");
    bool bee = strstr(caller->lists, "bee.example") || strstr(caller->domains, "bee.example");
    for (size_t at = 0; scoped && at < G_N_ELEMENTS(of_ant); at++) {
        g_assert_true(bee || !strstr(call->text->str, of_bee[at]));
        g_assert_true(ant || !strstr(call->text->str, of_ant[at]));
    }
    if (scoped)
        g_assert_true(!strstr(call->text->str, "$y$hash") && !strstr(call->text->str, "is_server_owner") &&
                      !strstr(call->text->str, "\"password\""));
}

static void visit_shown(const RestRoute *route, const Place *place)
{
    if (!reads(route))
        return;
    HttpCall whole;
    g_autofree char *path = path_of(route->path, place), *query = query_of(route, place, "");
    ask(&whole, &callers[0], "GET", path, query);
    for (size_t at = 1; at < G_N_ELEMENTS(callers) && whole.status == 200; at++) {
        HttpCall call;
        ask(&call, &callers[at], "GET", path, query);
        g_test_message("%s: %s?%s: %d", callers[at].name, path, query, call.status);
        if (call.status == 200) {
            compare(route, relation(&callers[at], route->of, place), &call, &whole);
            assert_own(&callers[at], &call);
        }
        http_call_clear(&call);
    }
    http_call_clear(&whole);
}

static void test_shown(void)
{
    GError *error = NULL;
    g_autofree char *text = NULL;
    int out = dup(STDOUT_FILENO), errors = dup(STDERR_FILENO);
    assert_ok(log_to_file(log_path, &error), error);
    dup2(out, STDOUT_FILENO);
    each_route(visit_shown);
    dup2(errors, STDERR_FILENO);
    close(out);
    close(errors);
    g_assert_true(g_file_get_contents(log_path, &text, NULL, NULL));
    g_assert_null(strstr(text, "is in no table")); /* a field that is answered, and has no row */
}

/* ---- fields that are set ---- */

/* Was it answered that the route knows no such parameter? */
static bool is_strange(const HttpCall *call, const char *name)
{
    static const char begin[] = "Unexpected parameters: ";
    g_autoptr(json_t) answer = NULL;
    const char *text = http_call_word(call, "description", &answer);
    return call->status == 400 && text && g_str_has_prefix(text, begin) && strstr(text + strlen(begin), name);
}

static void visit_field(const RestRoute *route, const Place *place, const RestField *field)
{
    g_autofree char *path = path_of(route->path, place), *more = g_strdup_printf("&%s=x&which=1", field->name);
    g_autofree char *query = query_of(route, place, more);
    for (size_t at = 0; at < G_N_ELEMENTS(callers); at++) {
        Authority by = relation(&callers[at], route->of, place);
        if (!in_force(&callers[at]) || !has_verb(&callers[at], route) || !authority_covers(route->who, by))
            continue;
        HttpCall call;
        ask(&call, &callers[at], route->verb, path, query);
        g_test_message("%s: %s %s?%s: %d", callers[at].name, route->verb, path, query, call.status);
        if (authority_covers(field->write, by))
            g_assert_true(call.status == 400 || call.status == 404);
        else
            g_assert_true(call.status == 403 || is_strange(&call, field->name));
        http_call_clear(&call);
    }
}

/* The last parameter of a name counts, so that one which names the object cannot be sent as another. */
static bool names_object(const RestRoute *route, const RestField *field)
{
    return (route->of == OF_NAMED_LIST && strcmp(field->name, "list_id") == 0) ||
           (route->of == OF_NEW_LIST && strcmp(field->name, "fqdn_listname") == 0);
}

static void visit_set(const RestRoute *route, const Place *place)
{
    if (!reads(route))
        for (const RestField *field = route->fields; field && field->name; field++)
            if (strcmp(field->name, "*") != 0 && !names_object(route, field))
                visit_field(route, place, field);
}

static void test_set(void)
{
    each_route(visit_set);
}

/* ---- settings of lists ---- */

static int set_setting(const Caller *caller, const Place *place, const char *name, const char *value)
{
    HttpCall call;
    g_autofree char *path = g_strdup_printf("/3.1/lists/%s/config/%s", place->list_id, name);
    g_autofree char *escaped = g_uri_escape_string(value, NULL, false);
    g_autofree char *query = g_strdup_printf("%s=%s", name, escaped);
    ask(&call, caller, "PATCH", path, query);
    g_test_message("%s: %s=%s: %d", caller->name, path, value, call.status);
    int status = call.status;
    http_call_clear(&call);
    return status;
}

static void test_settings(void)
{
    for (size_t at = 0; at < G_N_ELEMENTS(callers); at++)
        for (const ListSetting *setting = list_settings; setting->name; setting++) {
            Authority by = relation(&callers[at], OF_LIST, &places[0]);
            if (!in_force(&callers[at]) || *callers[at].verbs || !authority_covers(MAY_LIST, by))
                continue;
            g_autofree char *value = g_strdup_printf("new%zu", at);
            int status = set_setting(&callers[at], &places[0], setting->name, value);
            g_assert_cmpint(status == 403, ==, !authority_covers(authority_of_setting(setting), by));
        }
}

/* A word "@LIST" stands for the members of a list, about whom others learn by what becomes of posts. */
static void test_settings_name_lists(void)
{
    static const struct {
        const char *value;
        bool by_list, by_domain;
    } cases[] = {{"@one.ant.example", true, true},
                 {"@One@ant.example", true, true},
                 {"@two.ant.example", false, true},
                 {"@two@ant.example", false, true},
                 {"@one@bee.example", false, false},
                 {"@one.bee.example", false, false},
                 {"x@home.example\n@one.bee.example", false, false},
                 {"x@home.example\n @two.ant.example", false, true}};
    const Caller *of_list = &callers[6], *of_domain = &callers[3];
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_assert_cmpint(set_setting(of_list, &places[0], "accept_these_nonmembers", cases[at].value), ==,
                        cases[at].by_list ? 204 : 403);
        g_assert_cmpint(set_setting(of_domain, &places[0], "accept_these_nonmembers", cases[at].value), ==,
                        cases[at].by_domain ? 204 : 403);
        g_assert_cmpint(set_setting(&callers[0], &places[0], "accept_these_nonmembers", ""), ==, 204);
    }
    /* whatever the site put there may be sent back */
    g_assert_cmpint(set_setting(&callers[0], &places[0], "accept_these_nonmembers", "@one.bee.example"), ==, 204);
    g_assert_cmpint(set_setting(of_list, &places[0], "accept_these_nonmembers", "@one.bee.example"), ==, 204);
    g_assert_cmpint(set_setting(&callers[0], &places[0], "linked_newsgroup", "news.group"), ==, 204);
    g_assert_cmpint(set_setting(of_list, &places[0], "linked_newsgroup", "news.group"), ==, 204);
    g_assert_cmpint(set_setting(of_list, &places[0], "linked_newsgroup", "other.group"), ==, 403);
    g_assert_cmpint(set_setting(of_list, &places[0], "linked_newsgroup", ""), ==, 403);
}

/* Check that a reader of all settings of a list can put them back, though some are the site's. */
static void test_settings_put_back(void)
{
    const Caller *caller = &callers[6];
    HttpCall call;
    json_t *value;
    const char *name;
    void *next;
    g_assert_cmpint(set_setting(&callers[0], &places[0], "linked_newsgroup", "news.group"), ==, 204);
    ask(&call, caller, "GET", "/3.1/lists/one.ant.example/config", NULL);
    g_assert_cmpint(call.status, ==, 200);
    g_autoptr(json_t) all = json_loadb(call.text->str, call.text->len, 0, NULL);
    http_call_clear(&call);
    json_object_foreach_safe(all, next, name, value)
        if (!list_setting_find(name, NULL))
            json_object_del(all, name);
    json_object_set_new(all, "description", json_string("put back"));
    char *body = json_dumps(all, 0);
    call = (HttpCall){.verb = "PUT", .path = "/3.1/lists/one.ant.example/config", .credentials = caller->credentials,
                      .type = "application/json", .body = body, .length = strlen(body)};
    rest_frame_handle(&call);
    g_assert_cmpint(call.status, ==, 204);
    http_call_clear(&call);
    free(body);
}

/* ---- what must stay so, whatever the tables say ---- */

static int set_domain(const Caller *caller, const char *verb, const char *path, const char *query)
{
    HttpCall call;
    ask(&call, caller, verb, path, query);
    int status = call.status;
    http_call_clear(&call);
    return status;
}

/* Mail to an alias goes to the domain's lists: who has one domain cannot take that of another. */
static void test_domain_reaches_no_further(void)
{
    GError *error = NULL;
    const Caller *caller = &callers[3];
    g_assert_cmpint(set_domain(caller, "PATCH", "/3.1/domains/ant.example", "description=x"), ==, 204);
    g_assert_cmpint(set_domain(caller, "PATCH", "/3.1/domains/ant.example", "alias_domain=corp.example"), ==, 403);
    g_assert_cmpint(set_domain(caller, "PATCH", "/3.1/domains/ant.example", "description=y&alias_domain=corp.example"),
                    ==, 403);
    g_assert_cmpint(set_domain(caller, "PUT", "/3.1/domains/ant.example",
                               "description=y&owner=eve@far.example&alias_domain="), ==, 403);
    g_assert_cmpint(set_domain(caller, "PATCH", "/3.1/domains/ant.example", "owner=eve@far.example"), ==, 403);
    g_assert_cmpint(set_domain(caller, "POST", "/3.1/domains/ant.example/owners", "owner=bob@yard.example"), ==, 403);
    g_assert_cmpint(set_domain(caller, "DELETE", "/3.1/domains/ant.example", NULL), ==, 403);
    g_assert_cmpint(set_domain(caller, "POST", "/3.1/domains", "mail_host=x.ant.example"), ==, 403);
    g_autoptr(Domain) domain = domain_find(store, "ant.example", &error);
    g_assert_no_error(error);
    g_assert_cmpstr(domain->description, ==, "x");
    g_assert_true(!domain->alias_domain || !*domain->alias_domain);
    g_assert_cmpint(set_domain(&callers[0], "PATCH", "/3.1/domains/ant.example", "alias_domain=corp.example"), ==, 204);
}

SUITE("rest/authority")
{
    GError *error = NULL;
    g_test_init(&argc, &argv, NULL);
    rest_frame_open("attempts_per_minute = 1000000\n");
    store = rest_frame_store();
    make_domain("ant.example", "anne@home.example");
    make_domain("bee.example", "bob@yard.example");
    for (size_t at = 0; at < G_N_ELEMENTS(places); at++)
        make_place(&places[at]);
    for (size_t at = 0; at < G_N_ELEMENTS(callers); at++)
        if (!callers[at].credentials)
            make_token(&callers[at]);
    int fd = g_file_open_tmp("authority-XXXXXX", &log_path, &error);
    g_assert_no_error(error);
    close(fd);
    g_test_add_func("/rest/authority/rows", test_rows);
    g_test_add_func("/rest/authority/routes", test_routes);
    g_test_add_func("/rest/authority/figures", test_figures);
    g_test_add_func("/rest/authority/fields that are shown", test_shown);
    g_test_add_func("/rest/authority/fields that are set", test_set);
    g_test_add_func("/rest/authority/settings", test_settings);
    g_test_add_func("/rest/authority/settings that name lists", test_settings_name_lists);
    g_test_add_func("/rest/authority/settings that are put back", test_settings_put_back);
    g_test_add_func("/rest/authority/a domain reaches no further", test_domain_reaches_no_further);
    int code = g_test_run();
    unlink(log_path);
    store_free(store);
    rest_frame_close();
    return code;
}
