/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* /listrunner/lists/{list}/sources: who may see and set what, and what is refused. */
#include <string.h>

#include "base/clock.h"
#include "store/people/source.h"
#include "switchboard/meta.h"
#include "t/runners/rest/restframe.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define ANT "/3.1/listrunner/lists/ant.example.com/"
#define BEE "/3.1/listrunner/lists/bee.example.com/"
#define OPERATOR "Basic YTpi" /* a:b */
#define URL "name=web&kind=url&place=https%3A%2F%2Fexample.com%2Fx%3Fkey%3Dhidden"

static Store *store;
static char *of_ant; /* credentials of a token for the list ant */

/* The status; *answer, where it is not NULL, is the body. */
static int ask(const char *credentials, const char *verb, const char *path, const char *query, json_t **answer)
{
    HttpCall call = {.verb = verb, .path = path, .query = query, .credentials = credentials};
    rest_frame_handle(&call);
    g_assert_cmpuint(call.answers, ==, 1);
    if (call.text)
        g_assert_null(strstr(call.text->str, "hidden"));
    if (answer)
        *answer = json_loads(call.text->str, 0, NULL);
    int status = call.status;
    http_call_clear(&call);
    return status;
}

static void test_add_and_show(void)
{
    g_autoptr(json_t) all = NULL, one = NULL, theirs = NULL;
    g_assert_cmpint(ask(OPERATOR, "POST", ANT "sources", URL, NULL), ==, 201);
    g_assert_cmpint(ask(OPERATOR, "POST", ANT "sources", URL, NULL), ==, 409);
    g_assert_cmpint(ask(OPERATOR, "POST", BEE "sources", "name=ant&kind=list&place=ant@example.com", NULL), ==, 201);
    g_assert_cmpint(ask(OPERATOR, "GET", ANT "sources", NULL, &all), ==, 200);
    g_assert_cmpint(json_integer_value(json_object_get(all, "total_size")), ==, 1);
    g_assert_cmpint(ask(OPERATOR, "GET", ANT "sources/web", NULL, &one), ==, 200);
    g_assert_cmpstr(json_string_value(json_object_get(one, "place")), ==, "https://example.com/x?...");
    g_assert_true(json_object_get(one, "password_file"));
    g_assert_cmpint(ask(OPERATOR, "GET", ANT "sources/ant", NULL, NULL), ==, 404);
    g_assert_cmpint(ask(of_ant, "GET", ANT "sources/web", NULL, &theirs), ==, 200);
    g_assert_false(json_object_get(theirs, "password_file") || json_object_get(theirs, "query"));
}

static void test_who_may(void)
{
    g_assert_cmpint(ask(of_ant, "POST", ANT "sources", URL, NULL), ==, 403);
    g_assert_cmpint(ask(of_ant, "PATCH", ANT "sources/web", "welcome=yes", NULL), ==, 403);
    g_assert_cmpint(ask(of_ant, "DELETE", ANT "sources/web", NULL, NULL), ==, 403);
    g_assert_cmpint(ask(of_ant, "POST", ANT "sources/web/refresh", NULL, NULL), ==, 202);
    g_assert_cmpint(ask(of_ant, "GET", BEE "sources", NULL, NULL), ==, 403);
    g_assert_cmpint(ask(of_ant, "POST", BEE "sources/ant/refresh", NULL, NULL), ==, 403);
    g_assert_cmpint(ask(of_ant, "GET", BEE "why/jo@example.org", NULL, NULL), ==, 403);
}

static void test_refused(void)
{
    static const char *const wrong[] = {
        "name=x&kind=folder&place=/x",
        "name=a%20b&kind=url&place=https%3A%2F%2Fexample.com",
        "name=x&kind=url&place=https%3A%2F%2Fjo%3Ahidden@example.com%2F",
        "name=x&kind=sql&place=postgresql%3A%2F%2Fjo%3Ahidden@h%2Fd&query=SELECT+1",
        "name=x&kind=ldap&place=ldaps%3A%2F%2Fjo%3Ahidden@h%2Fdc%3Dx",
        "name=x&kind=url&place=https%3A%2F%2Fjo%3Aa%2Fhidden@example.com%2F",
        "name=x&kind=sql&place=postgresql%3A%2F%2Fjo%3Aa%2Fhidden@h%2Fd&query=SELECT+1",
        "name=x&kind=sql&place=postgresql%3A%2F%2Fjo%3A1%2Fhidden@h%2Fd&query=SELECT+1",
        "name=x&kind=ldap&place=ldaps%3A%2F%2Fjo%3Aa%2Fhidden@h%2Fdc%3Dx",
        "name=x&kind=file&place=/etc/passwd",
        "name=x&kind=list&place=ant@example.com",
        "name=x&kind=url&place=https%3A%2F%2Fexample.com&interval=1s",
        "name=x&kind=url&place=",
        "name=x&kind=url",
    };
    for (size_t at = 0; at < G_N_ELEMENTS(wrong); at++) {
        g_test_message("%s", wrong[at]);
        g_assert_cmpint(ask(OPERATOR, "POST", ANT "sources", wrong[at], NULL), ==, 400);
    }
    g_assert_cmpint(ask(OPERATOR, "POST", ANT "sources", "name=x&kind=list&place=nope@example.com", NULL), ==, 404);
    g_autoptr(json_t) all = NULL;
    g_assert_cmpint(ask(OPERATOR, "GET", ANT "sources", NULL, &all), ==, 200);
    g_assert_cmpint(json_integer_value(json_object_get(all, "total_size")), ==, 1);
    const char *good = "name=db&kind=sql&place=postgresql%3A%2F%2Fjo@a:5432,[::1]:5433%2Fd&query=SELECT+1";
    g_assert_cmpint(ask(OPERATOR, "POST", ANT "sources", good, NULL), ==, 201);
    g_assert_cmpint(ask(OPERATOR, "DELETE", ANT "sources/db", NULL, NULL), ==, 204);
}

static void test_change_and_refresh(void)
{
    GError *error = NULL;
    g_autoptr(MemberSource) before = source_find(store, "ant.example.com", "web", &error);
    before->due_at = G_MAXINT64;
    assert_ok(source_end(store, before, &error), error);
    g_assert_cmpint(ask(OPERATOR, "POST", ANT "sources/web/refresh", NULL, NULL), ==, 202);
    g_autoptr(MemberSource) due = source_find(store, "ant.example.com", "web", &error);
    g_assert_cmpint(due->due_at, <=, clock_now());
    g_assert_cmpint(ask(OPERATOR, "PATCH", ANT "sources/web", "interval=2h&welcome=yes", NULL), ==, 204);
    g_assert_cmpint(ask(OPERATOR, "PATCH", ANT "sources/web", "query=SELECT", NULL), ==, 400);
    g_assert_cmpint(ask(OPERATOR, "PATCH", ANT "sources/nope", "welcome=yes", NULL), ==, 404);
    g_autoptr(MemberSource) after = source_find(store, "ant.example.com", "web", &error);
    g_assert_cmpint(after->interval, ==, 2 * 3600 * CLOCK_SECOND);
    g_assert_true(after->welcome && strstr(after->place, "hidden"));
    g_assert_cmpint(ask(OPERATOR, "PATCH", ANT "sources/web", "interval=", NULL), ==, 204);
    g_autoptr(MemberSource) last = source_find(store, "ant.example.com", "web", &error);
    g_assert_cmpint(last->interval, ==, 0);
}

/* A member who came by the source, as a refresh makes one. */
static void give(const MemberSource *source, const char *address)
{
    GError *error = NULL;
    SourceCounts counts;
    g_autoptr(SourceStage) stage = source_stage_open(store, source, &error);
    assert_ok(source_stage_add(stage, address, NULL, &error) && source_stage_close(stage, &counts, &error), error);
    g_autoptr(GPtrArray) fresh = source_stage_fresh(stage, &error);
    assert_ok(source_take(store, source, fresh, clock_now(), &error), error);
}

static void test_remove(void)
{
    GError *error = NULL;
    Member *gone;
    g_autoptr(json_t) why = NULL;
    g_autoptr(MemberSource) web = source_find(store, "ant.example.com", "web", &error);
    give(web, "anne@example.org");
    g_assert_cmpint(ask(of_ant, "GET", ANT "why/anne@example.org", NULL, &why), ==, 200);
    g_assert_true(json_is_true(json_object_get(why, "member")));
    g_assert_cmpuint(json_array_size(json_object_get(why, "sources")), ==, 1);
    g_assert_cmpint(ask(of_ant, "GET", ANT "why/nobody", NULL, NULL), ==, 400);
    g_assert_cmpint(ask(OPERATOR, "DELETE", ANT "sources/web", NULL, NULL), ==, 409);
    g_assert_cmpint(ask(OPERATOR, "DELETE", ANT "sources/web", "members=drop", NULL), ==, 204);
    assert_ok(member_look_up(store, "ant.example.com", ROLE_MEMBER, mailbox_of("anne@example.org"), &gone, &error),
              error);
    g_assert_null(gone);
    g_assert_cmpint(ask(OPERATOR, "DELETE", ANT "sources/web", NULL, NULL), ==, 404);
    g_autoptr(MemberSource) other = source_find(store, "bee.example.com", "ant", &error);
    give(other, "bob@example.org");
    g_assert_cmpint(ask(OPERATOR, "DELETE", BEE "sources/ant", "members=keep", NULL), ==, 204);
    g_autoptr(Member) stays = member_find(store, "bee.example.com", ROLE_MEMBER, mailbox_of("bob@example.org"), &error);
    g_assert_nonnull(stays);
}

static char *token_for(const char *list_id)
{
    const Token like = {
        .name = (char *)"t", .verbs = (char *)"", .lists = (char *)(uintptr_t)list_id, .domains = (char *)""};
    return rest_frame_token(store, &like);
}

static void open_site(void)
{
    GError *error = NULL;
    rest_frame_open("");
    store = rest_frame_store();
    assert_ok(domain_create(store, "example.com", NULL, &error), error);
    g_autoptr(List) ant = list_create(store, "ant@example.com", &error),
                    bee = list_create(store, "bee@example.com", &error);
    g_assert_true(ant && bee);
    of_ant = token_for("ant.example.com");
}

SUITE("rest/sources")
{
    g_test_init(&argc, &argv, NULL);
    open_site();
    g_test_add_func("/sources/added and shown, without secrets", test_add_and_show);
    g_test_add_func("/sources/the site alone sets, the list sees its own", test_who_may);
    g_test_add_func("/sources/what is wrong is refused", test_refused);
    g_test_add_func("/sources/changed, and due at once", test_change_and_refresh);
    g_test_add_func("/sources/removed, with members or without", test_remove);
    int failed = g_test_run();
    g_free(of_ant);
    store_free(store);
    rest_frame_close();
    return failed;
}
