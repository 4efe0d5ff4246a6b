/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test that people's names stay with the list to which they said them: two lists in two domains, and a token for
 * each. */
#include <string.h>

#include "base/clock.h"
#include "runners/rest/resources.h"
#include "store/people/pending.h"
#include "t/runners/rest/restframe.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define SITE "Basic YTpi" /* a:b */

static Store *store;
static char *of_ant, *of_bee, *of_bee_domain;

static char *make_token(const char *lists, const char *domains)
{
    const Token like = {.name = (char *)"t", .verbs = (char *)"", .lists = (char *)lists, .domains = (char *)domains};
    return rest_frame_token(store, &like);
}

/* The answer's text; g_free(). */
static char *ask(const char *who, const char *verb, const char *path, const char *query, int status)
{
    HttpCall call = {.verb = verb, .path = path, .query = query, .credentials = who};
    rest_frame_handle(&call);
    char *text = g_strdup(call.text ? call.text->str : "");
    g_test_message("%s %s?%s: %d %s", verb, path, query ? query : "", call.status, text);
    g_assert_cmpint(call.status, ==, status);
    http_call_clear(&call);
    return text;
}

static void assert_shows(const char *who, const char *path, const char *query, const char *shown, const char *hidden)
{
    g_autofree char *text = ask(who, "GET", path, query, 200);
    g_assert_true(!shown || strstr(text, shown));
    g_assert_true(!hidden || !strstr(text, hidden));
}

static const char *name_of(const char *address)
{
    GError *error = NULL;
    static char name[100];
    g_autoptr(KnownAddress) known = address_find(store, mailbox_of(address), &error);
    g_assert_no_error(error);
    g_strlcpy(name, known->display_name ? known->display_name : "", sizeof name);
    return name;
}

static void add_moderator(const char *who, const char *list_id, const char *address, const char *name)
{
    g_autofree char *query = g_strdup_printf("list_id=%s&subscriber=%s&display_name=%s&pre_verified=yes&"
                                             "pre_confirmed=yes&pre_approved=yes&role=moderator",
                                             list_id, address, name);
    g_autofree char *text = ask(who, "POST", "/3.1/members", query, 201);
}

/* Each list reads the name that it was given, and the site the person's own. */
static void test_read(void)
{
    static const char one[] = "/3.1/lists/one.ant.example/roster/moderator";
    static const char two[] = "/3.1/lists/two.bee.example/roster/moderator";
    add_moderator(SITE, "one.ant.example", "anne@home.example", "Anne%20Ant");
    add_moderator(SITE, "two.bee.example", "anne@home.example", "");
    add_moderator(SITE, "two.bee.example", "bea@home.example", "Bea%20Bee");
    assert_shows(of_ant, one, NULL, "Anne Ant", NULL);
    assert_shows(of_bee, two, NULL, "Bea Bee", "Anne Ant");
    assert_shows(of_bee_domain, two, NULL, "Bea Bee", "Anne Ant");
    assert_shows(SITE, two, NULL, "Anne Ant", NULL);
    assert_shows(of_bee, "/3.1/lists/two.bee.example/moderator/anne@home.example", NULL, "anne@home", "Anne Ant");
    /* nor is it found by the name */
    assert_shows(of_bee, "/3.1/members/find", "list_id=two.bee.example&subscriber=*bea*", "bea@home", NULL);
    assert_shows(of_bee, "/3.1/members/find", "list_id=two.bee.example&subscriber=*ant*", NULL, "anne@home");
    assert_shows(SITE, "/3.1/members/find", "list_id=two.bee.example&subscriber=*ant*", "anne@home", NULL);
}

/* Check that the owner of a list names nobody for others, but addresses that it makes. */
static void test_set(void)
{
    GError *error = NULL;
    add_moderator(SITE, "one.ant.example", "carl@home.example", "");
    add_moderator(of_bee, "two.bee.example", "carl@home.example", "Fool");
    g_assert_cmpstr(name_of("carl@home.example"), ==, "");
    assert_shows(of_bee, "/3.1/lists/two.bee.example/moderator/carl@home.example", NULL, "Fool", NULL);
    assert_shows(of_ant, "/3.1/lists/one.ant.example/moderator/carl@home.example", NULL, "carl@home", "Fool");
    assert_shows(SITE, "/3.1/lists/one.ant.example/moderator/carl@home.example", NULL, "carl@home", "Fool");
    /* known by its posts alone, without a user */
    assert_ok(member_add(store, "one.ant.example", ROLE_NONMEMBER, mailbox_of("dora@home.example"), NULL, NULL, &error),
              error);
    add_moderator(of_bee, "two.bee.example", "dora@home.example", "Fool");
    g_autofree char *user = ask(SITE, "GET", "/3.1/users/dora@home.example", NULL, 200);
    g_assert_null(strstr(user, "Fool"));
    add_moderator(of_bee, "two.bee.example", "new@home.example", "New");
    g_assert_cmpstr(name_of("new@home.example"), ==, "New");
}

/* A request shows the name that came with it. */
static void test_requests(void)
{
    GError *error = NULL;
    const int64_t now = clock_now();
    static const char *const names[] = {NULL, "Given"};
    static const char *const people[] = {"anne@home.example", "zoe@home.example"};
    for (size_t at = 0; at < G_N_ELEMENTS(people); at++) {
        Pending pending = {.kind = PENDING_JOIN,
                           .list_id = (char *)"two.bee.example",
                           .address = mailbox_of(people[at]),
                           .display_name = (char *)names[at],
                           .waits_for = PENDING_MODERATOR,
                           .made_at = now,
                           .asked_at = now,
                           .delivery_mode = -1,
                           .delivery_status = -1,
                           .expires_at = now + 3600 * CLOCK_SECOND};
        assert_ok(pending_put(store, &pending, NULL, &error), error);
        g_autofree char *token = request_token(pending.number);
        g_autofree char *path = g_strdup_printf("/3.1/lists/two.bee.example/requests/%s", token);
        assert_shows(of_bee, path, NULL, names[at], "Anne Ant");
        assert_shows(SITE, path, NULL, at == 0 ? "Anne Ant" : "Given", NULL);
    }
    assert_shows(of_bee, "/3.1/lists/two.bee.example/requests", NULL, "Given", "Anne Ant");
}

SUITE("rest/names")
{
    GError *error = NULL;
    g_test_init(&argc, &argv, NULL);
    rest_frame_open("");
    store = rest_frame_store();
    assert_ok(domain_create(store, "ant.example", NULL, &error), error);
    assert_ok(domain_create(store, "bee.example", NULL, &error), error);
    g_autoptr(List) one = list_create(store, "one@ant.example", &error);
    g_autoptr(List) two = list_create(store, "two@bee.example", &error);
    g_assert_true(one && two);
    of_ant = make_token("one.ant.example", "");
    of_bee = make_token("two.bee.example", "");
    of_bee_domain = make_token("", "bee.example");
    g_test_add_func("/rest/names/read", test_read);
    g_test_add_func("/rest/names/set", test_set);
    g_test_add_func("/rest/names/requests", test_requests);
    int code = g_test_run();
    g_free(of_ant);
    g_free(of_bee);
    g_free(of_bee_domain);
    store_free(store);
    rest_frame_close();
    return code;
}
