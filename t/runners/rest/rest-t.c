/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Whole calls: who is let in, versions, verbs and paths, and the two versions' ids and links. */
#include <string.h>

#include "base/clock.h"
#include "switchboard/meta.h"
#include "t/runners/rest/restframe.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define RIGHT "Basic YTpi" /* a:b */
#define WRONG "Basic YTpj" /* a:c */
#define ATTEMPTS 5         /* a minute */

/* Answer the call, which is the test's, with the password that is right. */
static void ask(HttpCall *call, const char *verb, const char *path)
{
    *call = (HttpCall){.verb = verb, .path = path, .credentials = RIGHT};
    rest_frame_handle(call);
    g_assert_cmpuint(call->answers, ==, 1);
}

/* ---- verbs and paths ---- */

static void test_paths(void)
{
    static const struct {
        const char *verb, *path;
        int status;
        const char *allow;
    } cases[] = {
        {"GET", "/3.1/system/versions", 200, NULL},
        {"GET", "/3.0/system/versions", 200, NULL},
        {"HEAD", "/3.1/system/versions", 200, NULL},
        {"GET", "/3.1/system/versions/", 200, NULL},
        {"GET", "/3.1/system/versions//", 404, NULL},
        {"GET", "/3.1//system/versions", 404, NULL},
        {"GET", "/3.1/system/versions/x", 404, NULL},
        {"GET", "/3.1/system%2Fversions", 404, NULL},
        {"GET", "/", 404, NULL},
        {"GET", "/3.2/system", 404, NULL},
        {"GET", "/3/system", 404, NULL},
        {"GET", "/3.1x/system", 404, NULL},
        {"GET", "/3.10/system", 404, NULL},
        {"GET", "//3.1/system", 404, NULL},
        {"GET", "/system", 404, NULL},
        /* the root of a version */
        {"GET", "/3.1", 405, "OPTIONS"},
        {"GET", "/3.1/", 405, "OPTIONS"},
        {"DELETE", "/3.0", 405, "OPTIONS"},
        {"OPTIONS", "/3.1", 200, "OPTIONS"},
        /* verbs */
        {"POST", "/3.1/system/versions", 405, "GET, HEAD, OPTIONS"},
        {"DELETE", "/3.1/lists/", 405, "GET, HEAD, OPTIONS, POST"},
        {"HEAD", "/3.1/addresses/x@example.org/verify", 405, "OPTIONS, POST"},
        {"OPTIONS", "/3.1/lists", 200, "GET, HEAD, OPTIONS, POST"},
        {"OPTIONS", "/3.1/lists/nope.example.com", 200, "DELETE, GET, HEAD, OPTIONS"},
        {"OPTIONS", "/3.1/nope", 404, NULL},
        {"POST", "/3.1/nope", 404, NULL},
        /* arguments */
        {"GET", "/3.1/lists/nope.example.com", 404, NULL},
        {"HEAD", "/3.1/lists/nope.example.com", 404, NULL},
        {"GET", "/3.1/lists/x%2Fconfig", 404, NULL},
        {"GET", "/3.1/lists/%00", 404, NULL},
        {"GET", "/3.1/lists/%ff", 404, NULL},
        {"GET", "/3.1/lists/%", 404, NULL},
        {"GET", "/3.1/lists/../system", 404, NULL},
        {"GET", "/3.1/users/nobody@example.org", 404, NULL},
        /* what stands outside of versions; nobody has figures here, for there is no master */
        {"GET", "/metrics", 503, NULL},
        {"POST", "/metrics", 405, "GET, HEAD, OPTIONS"},
        {"DELETE", "/metrics", 405, "GET, HEAD, OPTIONS"},
        {"OPTIONS", "/metrics", 200, "GET, HEAD, OPTIONS"},
        {"GET", "/3.1x/metrics", 404, NULL},
        {"GET", "/3.0.1/metrics", 404, NULL},
        {"GET", "/3.1/metrics", 404, NULL},
        {"GET", "/metrics/x", 404, NULL},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        HttpCall call;
        g_test_message("%s %s", cases[at].verb, cases[at].path);
        ask(&call, cases[at].verb, cases[at].path);
        g_autofree char *allow = http_call_field(&call, "Allow");
        g_autoptr(json_t) object = NULL;
        g_assert_cmpint(call.status, ==, cases[at].status);
        g_assert_cmpstr(allow, ==, cases[at].allow);
        if (call.status >= 400) {
            g_assert_cmpstr(call.media, ==, "application/json");
            g_assert_nonnull(http_call_word(&call, "title", &object));
            g_assert_cmpuint(strlen(json_string_value(json_object_get(object, "description"))), >, 0);
        }
        http_call_clear(&call);
    }
}

/* HEAD answers as GET does; the HTTP library leaves the body out. */
static void test_head(void)
{
    HttpCall get, head;
    ask(&get, "GET", "/3.1/system/versions");
    ask(&head, "HEAD", "/3.1/system/versions");
    g_assert_cmpstr(head.fields->str, ==, get.fields->str);
    g_assert_cmpstr(head.text->str, ==, get.text->str);
    http_call_clear(&get);
    http_call_clear(&head);
}

/* "/3.1/lists/bee.example.org/member/una@example.net" for a path of a table; g_free(). */
static char *filled(const char *pattern)
{
    static const char *const values[][2] = {{"{list}", "bee.example.org"},
                                            {"{mail_host}", "example.org"},
                                            {"{user}", "una@example.net"},
                                            {"{email}", "una@example.net"},
                                            {"{address}", "una@example.net"},
                                            {"{role}", "member"},
                                            {"{queue}", "in"},
                                            {"{attribute}", "acceptable_aliases"},
                                            {"{position}", "0"}};
    GString *path = g_string_new("/3.1/");
    g_string_append(path, pattern);
    for (size_t at = 0; at < G_N_ELEMENTS(values); at++)
        g_string_replace(path, values[at][0], values[at][1], 0);
    return g_string_free(path, FALSE);
}

/* A parameter that is not known may have been meant to choose one thing of many: nothing is changed then. */
static void test_unknown_parameters(void)
{
    static const char *const there[] = {"/3.1/domains/example.org", "/3.1/lists/bee.example.org",
                                        "/3.1/lists/bee.example.org/member/una@example.net",
                                        "/3.1/users/una@example.net", "/3.1/addresses/una@example.net"};
    GError *error = NULL;
    HttpCall call;
    char id[STORE_ID_SIZE];
    Store *store = rest_frame_store();
    assert_ok(domain_create(store, "example.org", NULL, &error), error);
    g_autoptr(List) list = list_create(store, "bee@example.org", &error);
    g_assert_no_error(error);
    assert_ok(user_create(store, mailbox_of("una@example.net"), NULL, id, &error), error);
    assert_ok(member_add(store, "bee.example.org", ROLE_MEMBER, mailbox_of("una@example.net"), NULL, NULL, &error),
              error);
    for (size_t table = 0; rest_tables[table]; table++)
        for (const RestRoute *route = rest_tables[table]; route->verb; route++) {
            if (strcmp(route->verb, "GET") == 0)
                continue;
            g_autofree char *path = filled(route->path);
            call = (HttpCall){.verb = route->verb, .path = path, .query = "which=1", .credentials = RIGHT};
            rest_frame_handle(&call);
            g_test_message("%s %s: %d", route->verb, path, call.status);
            g_assert_true(call.status == 400 || call.status == 404); /* 404: what the path names is not there */
            http_call_clear(&call);
        }
    for (size_t at = 0; at < G_N_ELEMENTS(there); at++) {
        ask(&call, "GET", there[at]);
        g_assert_cmpint(call.status, ==, 200);
        http_call_clear(&call);
    }
    store_free(store);
}

/* ---- versions ---- */

/* Ask for it; the value of this member as it stands in the text, NULL where there is none; g_free(). */
static char *shown(const char *path, const char *host, const char *name)
{
    HttpCall call = {.verb = "GET", .path = path, .credentials = RIGHT, .host = host};
    rest_frame_handle(&call);
    g_assert_cmpint(call.status, ==, 200);
    g_autofree char *field = g_strdup_printf("\"%s\": ", name);
    const char *at = strstr(call.text->str, field);
    char *value = at ? g_strndup(at + strlen(field), strcspn(at + strlen(field), ",}")) : NULL;
    http_call_clear(&call);
    return value;
}

static void test_versions(void)
{
    HttpCall made = {
        .verb = "POST", .path = "/3.1/users", .credentials = RIGHT, .host = "x", .query = "email=anne@example.org"};
    rest_frame_handle(&made);
    g_assert_cmpint(made.status, ==, 201);
    g_autofree char *new_id = shown("/3.1/users/anne@example.org", "x", "user_id");
    g_autofree char *old_id = shown("/3.0/users/anne@example.org", "x", "user_id");
    g_assert_true(g_regex_match_simple("^\"[0-9a-f]{32}\"$", new_id, 0, 0));
    g_assert_true(g_regex_match_simple("^[1-9][0-9]+$", old_id, 0, 0));
    g_autofree char *hex = g_strndup(new_id + 1, 32), *location = http_call_field(&made, "Location");
    g_autofree char *new_path = g_strconcat("/3.1/users/", hex, NULL);
    g_autofree char *old_path = g_strconcat("/3.0/users/", old_id, NULL);
    g_autofree char *new_link = g_strdup_printf("\"http://x%s\"", new_path);
    g_autofree char *old_link = g_strdup_printf("\"http://x%s\"", old_path);
    g_autofree char *new_shown = shown(new_path, "x", "self_link"), *old_shown = shown(old_path, "x", "self_link");
    g_assert_cmpstr(new_shown, ==, new_link);
    g_assert_cmpstr(old_shown, ==, old_link);
    g_assert_true(g_str_has_suffix(new_path, location + strlen("http://x")));
    HttpCall call; /* the number is no id in the new version */
    g_autofree char *old_in_new = g_strconcat("/3.1/users/", old_id, NULL);
    ask(&call, "GET", old_in_new);
    g_assert_cmpint(call.status, ==, 404);
    http_call_clear(&call);
    http_call_clear(&made);
}

/* The field Host goes into links, unless it holds what no host does. */
static void test_host(void)
{
    static const struct {
        const char *host, *link;
    } cases[] = {
        {NULL, "\"http://localhost/3.1/system/versions\""},
        {"", "\"http://localhost/3.1/system/versions\""},
        {"lists.example.com", "\"http://lists.example.com/3.1/system/versions\""},
        {"127.0.0.1:8001", "\"http://127.0.0.1:8001/3.1/system/versions\""},
        {"[::1]:8001", "\"http://[::1]:8001/3.1/system/versions\""},
        {"x/y", "\"http://localhost/3.1/system/versions\""},
        {"x\"y", "\"http://localhost/3.1/system/versions\""},
        {"a@b", "\"http://localhost/3.1/system/versions\""},
        {"x y", "\"http://localhost/3.1/system/versions\""},
        {"\xc3\xa9", "\"http://localhost/3.1/system/versions\""},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *link = shown("/3.1/system/versions", cases[at].host, "self_link");
        g_assert_cmpstr(link, ==, cases[at].link);
    }
}

/* ---- who is let in ---- */

/* Ask for the path with these credentials from this peer; the status. 401, 429 and 503 say how to go on. */
static int status_for(const char *credentials, const char *peer, const char *verb, const char *path)
{
    HttpCall call = {.verb = verb, .path = path, .credentials = credentials, .peer = peer};
    g_auto(GStrv) parts = g_strsplit(path, "?", 2);
    call.path = parts[0];
    call.query = parts[1];
    rest_frame_handle(&call);
    g_assert_cmpuint(call.answers, ==, 1);
    g_autofree char *basic = http_call_field(&call, "WWW-Authenticate"), *later = http_call_field(&call, "Retry-After");
    if (call.status == 401)
        g_assert_cmpstr(basic, ==, "Basic realm=\"mailman3-rest\",charset=\"utf-8\"");
    else
        g_assert_null(basic);
    g_assert_cmpint(later != NULL, ==, call.status == 429 || call.status == 503);
    http_call_clear(&call);
    return call.status;
}

/* A stranger learns nothing: not which paths there are, nor which verbs. */
static void test_strangers(void)
{
    static const struct {
        const char *verb, *path;
    } cases[] = {{"GET", "/3.1/lists"},
                 {"GET", "/3.1/nope"},
                 {"GET", "/nope"},
                 {"OPTIONS", "/3.1/lists"},
                 {"BREW", "/3.1/lists"},
                 {"GET", "/metrics"},
                 {"GET", "/3.1"},
                 {"POST", "/3.1/domains?mail_host=x.org"},
                 {"GET", "/3.1/lists?count=%ff"}};
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++)
        g_assert_cmpint(status_for(NULL, "192.0.2.1", cases[at].verb, cases[at].path), ==, 401);
    g_assert_cmpint(status_for(RIGHT, NULL, "GET", "/3.1/domains/x.org"), ==, 404); /* and nothing was made */
}

/* While the database is away, what needs none is answered, and the rest comes back with it. */
static void test_database_away(void)
{
    static const struct {
        const char *verb, *path;
        int status;
    } cases[] = {{"GET", "/3.1/system/versions", 200},
                 {"GET", "/3.1/system/configuration", 200},
                 {"GET", "/3.1/listrunner/openapi", 200},
                 {"GET", "/3.1/lists/styles", 200},
                 {"GET", "/3.1/plugins", 200},
                 {"GET", "/3.1/listrunner/queues", 200},
                 {"GET", "/3.1/nope", 404},
                 {"OPTIONS", "/3.1/domains", 200},
                 {"GET", "/3.1/domains?wrong=%ff", 400},
                 {"GET", "/3.1/domains", 503},
                 {"GET", "/3.1/lists/none.example.com", 503},
                 {"POST", "/3.1/queues/in", 503},
                 {"GET", "/metrics", 503}};
    rest_frame_hide(true);
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_test_message("%s %s", cases[at].verb, cases[at].path);
        g_assert_cmpint(status_for(RIGHT, NULL, cases[at].verb, cases[at].path), ==, cases[at].status);
    }
    rest_frame_hide(false);
    g_assert_cmpint(status_for(RIGHT, NULL, "GET", "/3.1/domains"), ==, 200);
}

/* "Bearer lrt_..."; g_free(). */
static char *make_token(Store *store, const char *verbs, const char *lists, bool metrics)
{
    const Token like = {
        .name = (char *)"", .verbs = (char *)verbs, .lists = (char *)lists, .domains = (char *)"", .metrics = metrics};
    return rest_frame_token(store, &like);
}

/* Take the token away, or let it have expired. */
static void spoil(Store *store, const char *field, bool expired)
{
    GError *error = NULL;
    g_autofree char *id = g_strndup(field + strlen("Bearer lrt_"), TOKEN_ID_SIZE - 1);
    g_autoptr(Token) token = token_find(store, id, &error);
    g_assert_no_error(error);
    assert_ok(token_remove(store, id, &error), error);
    token->expires_at = clock_now() - CLOCK_SECOND;
    if (expired)
        assert_ok(token_add(store, token, &error), error);
}

/* Whether a token is right cannot be said then. What it asks for may well be there, and where the database lies is not
 * for strangers. */
static void test_token_without_database(void)
{
    g_autoptr(Store) store = rest_frame_store();
    g_autofree char *all = make_token(store, "", "", false);
    HttpCall call = {.verb = "GET", .path = "/3.1/domains", .credentials = all};
    g_assert_cmpint(status_for(all, NULL, "GET", "/3.1/domains"), ==, 200);
    rest_frame_hide(true);
    rest_frame_handle(&call);
    rest_frame_hide(false);
    g_assert_cmpint(call.status, ==, 503);
    g_assert_null(strstr(call.text->str, "database"));
    http_call_clear(&call);
    g_assert_cmpint(status_for(all, NULL, "GET", "/3.1/domains"), ==, 200);
}

static void test_tokens(void)
{
    GError *error = NULL;
    Store *store = rest_frame_store();
    g_autoptr(List) ant = NULL;
    assert_ok(domain_create(store, "example.com", NULL, &error), error);
    ant = list_create(store, "ant@example.com", &error);
    g_assert_no_error(error);
    g_autofree char *all = make_token(store, "", "", false), *reads = make_token(store, "GET", "", false);
    g_autofree char *own = make_token(store, "", "ant.example.com", false);
    g_autofree char *metrics = make_token(store, "", "", true), *revoked = make_token(store, "", "", false);
    g_autofree char *expired = make_token(store, "", "", false);
    g_autofree char *user = g_strconcat("any:", all + strlen("Bearer "), NULL);
    g_autofree char *octets = g_base64_encode((const guchar *)user, strlen(user));
    g_autofree char *basic = g_strconcat("Basic ", octets, NULL);
    spoil(store, revoked, false);
    spoil(store, expired, true);
    const struct {
        const char *credentials, *verb, *path;
        int status;
    } cases[] = {
        {all, "GET", "/3.1/lists", 200},
        {basic, "GET", "/3.1/lists", 200},
        {reads, "GET", "/3.1/lists", 200},
        {reads, "HEAD", "/3.1/lists", 200},
        {reads, "OPTIONS", "/3.1/lists", 200},
        {reads, "POST", "/3.1/lists?fqdn_listname=bee@example.com", 403},
        {reads, "GET", "/3.1/lists/bee.example.com", 404}, /* it was not made */
        {own, "GET", "/3.1/lists/ant@example.com/config", 200},
        {own, "GET", "/3.1/lists", 403},
        {own, "GET", "/3.1/members?list_id=ant.example.com", 403}, /* the members of all lists */
        {own, "GET", "/3.1/members/find?list_id=ant.example.com", 200},
        {own, "GET", "/3.1/nope", 404},
        {own, "GET", "/metrics", 403},
        {metrics, "GET", "/metrics", 503},
        {metrics, "GET", "/3.1/system/versions", 403},
        {expired, "GET", "/3.1/lists", 401},
        {revoked, "GET", "/3.1/lists", 401},
        {"Bearer x", "GET", "/3.1/lists", 401},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_test_message("%s %s", cases[at].verb, cases[at].path);
        g_assert_cmpint(status_for(cases[at].credentials, "192.0.2.2", cases[at].verb, cases[at].path), ==,
                        cases[at].status);
    }
    store_free(store);
}

/* A guesser is told to wait; who was let in lately is not, and a token is always looked at. */
static void test_guessing(void)
{
    static const char peer[] = "192.0.2.3";
    Store *store = rest_frame_store();
    g_autofree char *token = make_token(store, "", "", false);
    g_assert_cmpint(status_for(RIGHT, peer, "GET", "/3.1/lists"), ==, 200);
    int refused = 0;
    for (int at = 0; at < 2 * ATTEMPTS + 1 && refused != 429; at++) /* a minute may end meanwhile */
        refused = status_for(WRONG, peer, "GET", "/3.1/lists");
    g_assert_cmpint(refused, ==, 429);
    g_assert_cmpint(status_for(RIGHT, peer, "GET", "/3.1/lists"), ==, 200);
    g_assert_cmpint(status_for(token, peer, "GET", "/3.1/lists"), ==, 200);
    g_assert_cmpint(status_for(WRONG, "192.0.2.4", "GET", "/3.1/lists"), ==, 401);
    store_free(store);
}

SUITE("rest/rest")
{
    g_test_init(&argc, &argv, NULL);
    rest_frame_open("attempts_per_minute = " G_STRINGIFY(ATTEMPTS) "\n");
    g_test_add_func("/rest/paths and verbs", test_paths);
    g_test_add_func("/rest/head", test_head);
    g_test_add_func("/rest/unknown parameters", test_unknown_parameters);
    g_test_add_func("/rest/versions", test_versions);
    g_test_add_func("/rest/host", test_host);
    g_test_add_func("/rest/strangers", test_strangers);
    g_test_add_func("/rest/database away", test_database_away);
    g_test_add_func("/rest/tokens", test_tokens);
    g_test_add_func("/rest/token without database", test_token_without_database);
    g_test_add_func("/rest/guessing", test_guessing);
    int code = g_test_run();
    rest_frame_close();
    return code;
}
