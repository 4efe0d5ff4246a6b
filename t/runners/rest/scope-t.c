/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test what a token may do: by verb, list and domain (listrunner.rest(7)). */
#include <string.h>

#include "switchboard/meta.h"
#include "t/runners/rest/restframe.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define ANT "ant.example.com"
#define COW "cow.other.example"

static Fixture fixture;
static Rest rest;
static char *ant_member, *cow_member; /* ids */

static char *add_member(const char *list, const char *address)
{
    GError *error = NULL;
    assert_ok(member_add(fixture.store, list, ROLE_MEMBER, mailbox_of(address), NULL, NULL, &error), error);
    g_autoptr(Member) member = member_find(fixture.store, list, ROLE_MEMBER, mailbox_of(address), &error);
    g_assert_no_error(error);
    return g_strdup(member->id);
}

static void open_store(void)
{
    GError *error = NULL;
    static const char *const lists[] = {"ant@example.com", "bee@example.com", "cow@other.example"};
    fixture_open(&fixture, NULL);
    assert_ok(domain_create(fixture.store, "example.com", NULL, &error), error);
    assert_ok(domain_create(fixture.store, "other.example", NULL, &error), error);
    assert_ok(domain_create(fixture.store, "sub.other.example", NULL, &error), error);
    for (size_t at = 0; at < G_N_ELEMENTS(lists); at++) {
        g_autoptr(List) list = list_create(fixture.store, lists[at], &error);
        g_assert_no_error(error);
    }
    ant_member = add_member(ANT, "anne@example.org");
    cow_member = add_member(COW, "anne@example.org");
}

static void close_store(void)
{
    g_free(ant_member);
    g_free(cow_member);
    fixture_close(&fixture, NULL);
}

/* Ask for "lists/x?a=b" with the token (NULL: with a password), in version 3.0 or 3.1. A refusal is 403. */
static bool allowed(Token *token, bool old, const char *verb, const char *target)
{
    g_auto(GStrv) parts = g_strsplit(target, "?", 2);
    g_autofree char *allow = NULL;
    HttpCall message = {.verb = verb, .path = parts[0], .query = parts[1]};
    Call call = {.rest = &rest, .store = fixture.store, .http = &message, .token = token, .old = old, .path = parts[0]};
    g_test_message("%s %s", verb, target);
    const RestRoute *route = rest_route(&call, strcmp(verb, "HEAD") == 0 ? "GET" : verb, parts[0], &allow);
    g_assert_nonnull(route);
    g_assert_true(form_read(&call));
    bool fine = scope_allows(&call, route);
    g_assert_cmpuint(message.answers, ==, fine ? 0 : 1);
    if (!fine)
        g_assert_cmpint(message.status, ==, 403);
    call_clear(&call);
    http_call_clear(&message);
    return fine;
}

/* ---- cases ---- */

typedef struct Ask {
    const char *verb, *target;
    bool allowed;
} Ask;

/* MEMBER stands for an id. */
static char *with_id(const char *target, const char *id)
{
    g_auto(GStrv) parts = g_strsplit(target, "MEMBER", -1);
    return g_strjoinv(id, parts);
}

static void assert_asks(Token *token, const Ask *asks)
{
    for (const Ask *ask = asks; ask->verb; ask++) {
        g_autofree char *target = with_id(ask->target, ant_member);
        g_assert_cmpint(allowed(token, false, ask->verb, target), ==, ask->allowed);
    }
}

static const Ask of_all[] = {
    {"GET", "lists", true},
    {"DELETE", "users/anne@example.org", true},
    {"POST", "domains?mail_host=x.example", true},
    {"GET", "lists/nope.example.com", true}, /* that it is not there is for the resource to say */
    {"POST", "listrunner/lists/" ANT "/sources?name=hr&kind=file&place=/x", true},
    {"DELETE", "listrunner/lists/" ANT "/sources/hr", true},
    {"POST", "listrunner/shunt?action=delete&all=yes", true},
    {"DELETE", "listrunner/hosts/b.example.com?lost=yes", true},
    {NULL, NULL, false},
};

static const Ask of_verbs[] = {
    /* GET and POST */
    {"GET", "lists", true},
    {"HEAD", "lists", true},
    {"POST", "lists?fqdn_listname=x@example.com", true},
    {"PATCH", "lists/" ANT "/config?description=x", false},
    {"GET", "listrunner/hosts", true},
    {"PATCH", "listrunner/hosts/b.example.com?draining=yes", false},
    {"DELETE", "listrunner/hosts/b.example.com", false},
    {"PUT", "lists/" ANT "/config", false},
    {"DELETE", "lists/" ANT, false},
    {NULL, NULL, false},
};

static const Ask of_posts[] = { /* POST alone */
    {"POST", "lists?fqdn_listname=x@example.com", true},
    {"GET", "lists", false},
    {"HEAD", "lists", false},
    {NULL, NULL, false},
};

static const Ask of_ant[] = {
    /* the list ant */
    {"GET", "lists/" ANT, true},
    {"GET", "lists/ant@example.com", true},
    {"GET", "lists/ANT@Example.COM", true},
    {"GET", "lists/ant%40example.com/config", true},
    {"DELETE", "lists/" ANT, true},
    {"PATCH", "lists/" ANT "/config?description=x", true},
    {"GET", "lists/" ANT "/roster/member", true},
    {"DELETE", "lists/" ANT "/member/anne@example.org", true},
    {"POST", "lists/" ANT "/held/1?action=discard", true},
    {"GET", "members/MEMBER", true},
    {"PATCH", "members/MEMBER/preferences?hide_address=yes", true},
    {"GET", "members/MEMBER/all/preferences", true},
    {"POST", "members?list_id=" ANT "&subscriber=x@example.org", true},
    {"POST", "members/find?list_id=ant@example.com", true},
    {"GET", "system", true},
    {"GET", "system/versions", true},
    {"GET", "listrunner/events", true},
    {"GET", "listrunner/lists/" ANT "/sources", true},
    {"GET", "listrunner/lists/" ANT "/sources/hr", true},
    {"GET", "listrunner/lists/" ANT "/why/jo@example.org", true},
    {"POST", "listrunner/lists/" ANT "/sources/hr/refresh", true},
    {"POST", "listrunner/lists/" ANT "/sources?name=hr&kind=file&place=/x", false},
    {"PATCH", "listrunner/lists/" ANT "/sources/hr?place=/x", false},
    {"DELETE", "listrunner/lists/" ANT "/sources/hr", false},
    {"GET", "listrunner/lists/" COW "/sources", false},
    {"GET", "listrunner/lists/" COW "/why/jo@example.org", false},
    {"POST", "listrunner/lists/" COW "/sources/hr/refresh", false},
    {"GET", "lists/bee.example.com", false},
    {"GET", "lists/" COW "/config", false},
    {"GET", "lists/nope.example.com", false},
    {"GET", "lists/" COW "/config?list_id=" ANT, false},
    {"GET", "lists", false},
    {"GET", "lists?list_id=" ANT, false},
    {"GET", "lists/find?subscriber=anne@example.org&list_id=" ANT, false},
    {"POST", "lists?fqdn_listname=new@example.com", false},
    {"POST", "members?list_id=" COW "&subscriber=x@example.org", false},
    {"POST", "members?list_id=" ANT "&list_id=" COW "&subscriber=x@example.org", false}, /* the last one counts */
    {"GET", "members", false},
    {"GET", "members?list_id=" ANT, false},
    {"GET", "members/find?role=member", false},
    {"GET", "members/find?list_id=", false},
    {"GET", "members/find?list_id=" COW, false},
    {"GET", "members/0123", false},
    {"GET", "members/ffffffffffffffffffffffffffffffff", false},
    {"GET", "domains/example.com", false},
    {"GET", "domains/example.com/lists", false},
    {"GET", "users", false},
    {"GET", "users/anne@example.org", false},
    {"GET", "addresses/anne@example.org/memberships", false},
    {"GET", "system/configuration", false},
    {"GET", "system/preferences", false},
    {"GET", "listrunner/held?list_id=" ANT, false},
    {"POST", "listrunner/held?action=accept&number=1", false},
    {"GET", "listrunner/hosts", false},
    {"GET", "listrunner/hosts/b.example.com/lost", false},
    {"PATCH", "listrunner/hosts/b.example.com?draining=yes", false},
    {"GET", "queues/shunt", false},
    {NULL, NULL, false},
};

static const Ask of_example[] = {
    /* the domain example.com */
    {"GET", "lists/" ANT, true},
    {"DELETE", "lists/bee.example.com", true},
    {"GET", "domains/example.com", true},
    {"GET", "domains/EXAMPLE.com/lists", true},
    {"GET", "domains/example.com/owners", true},
    {"PATCH", "domains/example.com?description=x", true},
    {"POST", "lists?fqdn_listname=new@example.com", true},
    {"POST", "lists?fqdn_listname=new@EXAMPLE.COM", true},
    {"POST", "members?list_id=bee.example.com&subscriber=x@example.org", true},
    {"GET", "members/MEMBER", true},
    {"GET", "lists/" COW, false},
    {"GET", "listrunner/hosts/a.example.com", false},
    {"DELETE", "listrunner/hosts/b.example.com", false},
    {"POST", "domains/example.com/owners?owner=x@example.org", false},
    {"DELETE", "domains/example.com/owners", false},
    {"PUT", "domains/example.com?description=x", false},
    {"DELETE", "domains/example.com", false},
    {"GET", "domains/other.example", false},
    {"GET", "domains/sub.example.com", false},
    {"GET", "domains/com", false},
    {"GET", "domains", false},
    {"POST", "domains?mail_host=example.com", false},
    {"GET", "lists", false},
    {"POST", "lists?fqdn_listname=new@other.example", false},
    {"POST", "lists?fqdn_listname=new@example.com&fqdn_listname=new@other.example", false},
    {"POST", "lists?fqdn_listname=new@example.com@other.example", false},
    {"POST", "lists?fqdn_listname=example.com", false},
    {"POST", "lists", false},
    {NULL, NULL, false},
};

static const Ask of_both[] = { /* the list ant and the domain other.example: one of them is enough */
    {"GET", "lists/" ANT, true},
    {"GET", "lists/" COW, true},
    {"GET", "domains/other.example", true},
    {"GET", "lists/bee.example.com", false},
    {"GET", "domains/example.com", false},
    {NULL, NULL, false},
};

static const Ask of_none[] = {
    /* the figures alone */
    {"GET", "lists", false},
    {"GET", "system/versions", false},
    {"GET", "listrunner/queues", false},
    {"GET", "listrunner/hosts", false},
    {NULL, NULL, false},
};

static const struct {
    const char *name, *verbs, *lists, *domains;
    bool metrics;
    const Ask *asks;
} scopes[] = {
    {"all", "", "", "", false, of_all},
    {"GET and POST", "GET POST", "", "", false, of_verbs},
    {"POST", "POST", "", "", false, of_posts},
    {"a list", "", ANT, "", false, of_ant},
    {"lists", "", "nope.example.com " ANT, "", false, of_ant}, /* one of them is gone */
    {"a domain", "", "", "example.com", false, of_example},
    {"a list and a domain", "", ANT, "other.example", false, of_both},
    {"metrics", "", "", "", true, of_none},
};

static void test_scopes(void)
{
    for (size_t at = 0; at < G_N_ELEMENTS(scopes); at++) {
        Token token = {.id = "1f0c93aa", .verbs = (char *)scopes[at].verbs, .lists = (char *)scopes[at].lists,
                       .domains = (char *)scopes[at].domains, .metrics = scopes[at].metrics};
        g_test_message("-- %s", scopes[at].name);
        assert_asks(&token, scopes[at].asks);
    }
    assert_asks(NULL, of_all);
}

/* A verb and a list: both must fit. */
static void test_verb_and_list(void)
{
    Token token = {.id = "1f0c93aa", .verbs = (char *)"GET", .lists = (char *)ANT, .domains = (char *)""};
    g_assert_true(allowed(&token, false, "GET", "lists/" ANT));
    g_assert_false(allowed(&token, false, "DELETE", "lists/" ANT));
    g_assert_false(allowed(&token, false, "GET", "lists/" COW));
}

/* Members have other ids in version 3.0, and lists the same. */
static void test_old_version(void)
{
    Token token = {.id = "1f0c93aa", .verbs = (char *)"", .lists = (char *)ANT, .domains = (char *)""};
    Call old = {.old = true};
    g_autofree char *ant = id_text(&old, ant_member), *cow = id_text(&old, cow_member);
    g_autofree char *own = g_strconcat("members/", ant, NULL), *other = g_strconcat("members/", cow, NULL);
    g_autofree char *wrong = g_strconcat("members/", ant_member, NULL);
    g_assert_true(allowed(&token, true, "GET", own));
    g_assert_true(allowed(&token, true, "GET", "lists/" ANT));
    g_assert_false(allowed(&token, true, "GET", other));
    g_assert_false(allowed(&token, true, "GET", wrong));
}

/* ---- every route ---- */

/* The path as somebody else's: of another list, its domain and its members; g_free(). */
static char *foreign(const char *pattern)
{
    static const struct {
        const char *name, *value;
    } values[] = {{"{list}", COW}, {"{mail_host}", "other.example"}, {"{member}", NULL}, {"{user}", "anne@example.org"},
                  {"{address}", "anne@example.org"}};
    GString *path = g_string_new(pattern);
    for (size_t at = 0; at < G_N_ELEMENTS(values); at++)
        g_string_replace(path, values[at].name, values[at].value ? values[at].value : cow_member, 0);
    char *brace;
    while ((brace = strchr(path->str, '{'))) { /* a position, an id, a queue, ... */
        *brace = '1';
        g_string_erase(path, brace - path->str + 1, strchr(brace, '}') - brace);
    }
    return g_string_free(path, FALSE);
}

/* However a route is called, and whatever the parameters name: what is not of the token's list stays closed, but for
 * what everybody may know. A resource that is added without a thought of tokens is closed to them. */
static void test_every_route(void)
{
    static const char *const open[] = {"system", "system/versions", "listrunner/events", NULL};
    /* These go by list_id. */
    static const char *const of_parameter[] = {"members", "members/find", "listrunner/trace", NULL};
    Token tokens[] = {{.id = "1f0c93aa", .verbs = (char *)"", .lists = (char *)ANT, .domains = (char *)""},
                      {.id = "1f0c93ab", .verbs = (char *)"", .lists = (char *)"", .domains = (char *)"example.com"}};
    for (size_t table = 0; rest_tables[table]; table++)
        for (const RestRoute *route = rest_tables[table]; route->verb; route++)
            for (size_t at = 0; at < G_N_ELEMENTS(tokens); at++) {
                g_autofree char *path = foreign(route->path), *named = g_strconcat(path, "?list_id=" ANT, NULL);
                bool is_open = g_strv_contains(open, route->path);
                g_assert_cmpint(allowed(&tokens[at], false, route->verb, path), ==, is_open);
                if (!g_strv_contains(of_parameter, route->path))
                    g_assert_cmpint(allowed(&tokens[at], false, route->verb, named), ==, is_open);
            }
}

/* ---- lists and events ---- */

static void test_covers(void)
{
    static const struct {
        const char *lists, *domains, *list_id;
        bool covers;
    } cases[] = {
        {"", "", ANT, true},
        {"", "", "gone.example.com", true},
        {ANT, "", ANT, true},
        {ANT, "", "bee.example.com", false},
        {"gone.example.com", "", "gone.example.com", true},
        {ANT, "", "gone.example.com", false},
        {"", "example.com", ANT, true},
        {"", "example.com", COW, false},
        {"", "example.com", "gone.example.com", false},
        {"", "example.com", "gone.other.example", false},
        {"", "team.example.com", "gone.team.example.com", false},
        {"", "other.example", "gone.sub.other.example", false},
        {"", "example", "gone.gone.example", false},
        {"", "example.com", "nodot", false},
        {"", "example.com", "", false},
        {ANT, "other.example", COW, true},
        {ANT, "other.example", ANT, true},
        {ANT, "other.example", "bee.example.com", false},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        GError *error = NULL;
        bool covers = !cases[at].covers;
        Token token = {.id = "1f0c93aa", .verbs = (char *)"", .lists = (char *)cases[at].lists,
                       .domains = (char *)cases[at].domains};
        assert_ok(token_covers(&token, fixture.store, cases[at].list_id, &covers, &error), error);
        g_test_message("%s, %s: %s", cases[at].lists, cases[at].domains, cases[at].list_id);
        g_assert_cmpint(covers, ==, cases[at].covers);
    }
}

static bool sees(const char *lists, const char *domains, const EventRow *event)
{
    GError *error = NULL;
    bool is = false;
    Token token = {.id = "1f0c93aa", .verbs = (char *)"", .lists = (char *)lists, .domains = (char *)domains};
    assert_ok(token_sees(&token, fixture.store, event, &is, &error), error);
    return is;
}

/* Events of the list that is at this address now. */
static EventRow event_of(const char *list_id)
{
    GError *error = NULL;
    EventRow event = {.list_id = (char *)list_id};
    assert_ok(event_place_find(fixture.store, list_id, &event.place, &error), error);
    return event;
}

static void make_list(const char *address)
{
    GError *error = NULL;
    g_autoptr(List) list = list_create(fixture.store, address, &error);
    g_assert_no_error(error);
}

/* A list or domain that is made again under the old name has not seen what happened before. */
static void test_sees(void)
{
    GError *error = NULL;
    assert_ok(domain_create(fixture.store, "own.example", NULL, &error), error);
    make_list("dog@own.example");
    make_list("elk@own.example");
    EventRow dog = event_of("dog.own.example"), elk = event_of("elk.own.example"), cow = event_of(COW);
    const EventRow old = {.list_id = (char *)"dog.own.example", .place = {.mail_host = (char *)""}};
    g_assert_true(sees("dog.own.example", "", &dog));
    g_assert_false(sees("dog.own.example", "", &elk));
    g_assert_true(sees("", "own.example", &dog));
    g_assert_false(sees("", "own.example", &cow));
    g_assert_false(sees("", "other.example", &dog));
    g_assert_true(sees(COW, "own.example", &cow));
    g_assert_false(sees("dog.own.example", "own.example", &old)); /* of before it was noted */
    g_assert_true(sees("", "", &old));
    /* the list is removed, and made again: it is another one, in the same domain */
    assert_ok(list_remove(fixture.store, "dog.own.example", &error), error);
    g_assert_false(sees("dog.own.example", "", &dog));
    make_list("dog@own.example");
    EventRow again = event_of("dog.own.example");
    g_assert_false(sees("dog.own.example", "", &dog));
    g_assert_true(sees("", "own.example", &dog));
    g_assert_true(sees("dog.own.example", "", &again));
    /* a list that moves takes what happens from then on along, and what happened stays in the old domain */
    assert_ok(list_rename(fixture.store, "elk.own.example", "elk@other.example", &error), error);
    EventRow moved = event_of("elk.own.example");
    g_assert_true(sees("elk.own.example", "", &elk) && sees("elk.own.example", "", &moved));
    g_assert_true(sees("", "own.example", &elk) && !sees("", "own.example", &moved));
    g_assert_true(!sees("", "other.example", &elk) && sees("", "other.example", &moved));
    /* the same with the domain */
    assert_ok(list_remove(fixture.store, "dog.own.example", &error), error);
    assert_ok(domain_remove(fixture.store, "own.example", &error), error);
    g_assert_false(sees("", "own.example", &dog));
    assert_ok(domain_create(fixture.store, "own.example", NULL, &error), error);
    make_list("dog@own.example");
    EventRow last = event_of("dog.own.example");
    g_assert_false(sees("", "own.example", &dog) || sees("dog.own.example", "", &again));
    g_assert_true(sees("", "own.example", &last) && sees("", "", &dog));
    EventRow *all[] = {&dog, &elk, &cow, &again, &moved, &last};
    for (size_t at = 0; at < G_N_ELEMENTS(all); at++)
        event_place_clear(&all[at]->place);
}

SUITE("rest/scope")
{
    g_test_init(&argc, &argv, NULL);
    open_store();
    g_test_add_func("/rest/scope/verbs, lists and domains", test_scopes);
    g_test_add_func("/rest/scope/a verb and a list", test_verb_and_list);
    g_test_add_func("/rest/scope/version 3.0", test_old_version);
    g_test_add_func("/rest/scope/every route", test_every_route);
    g_test_add_func("/rest/scope/lists that are named", test_covers);
    g_test_add_func("/rest/scope/events", test_sees);
    int code = g_test_run();
    close_store();
    return code;
}
