/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Links begin one session each, sessions end, and nobody has another's. */
#include "store/people/session.h"

#include "store/people/user.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define ANNE "Anne@example.org"
#define BOB "bob@example.org"
#define NOW (20000 * INT64_C(86400) * CLOCK_SECOND)

static void link_to(Fixture *fixture, const char *address, const char *token, int64_t now)
{
    GError *error = NULL;
    assert_ok(session_add_link(fixture->store, mailbox_of(address), token, now, &error), error);
}

static void begin(Fixture *fixture, const char *link, const char *token, int64_t now)
{
    GError *error = NULL;
    assert_ok(session_begin(fixture->store, link, token, "Browser", now, &error), error);
}

/* Return whose session that is; "": nobody's. */
static char *whose(Fixture *fixture, const char *token, int64_t now)
{
    GError *error = NULL;
    g_autoptr(Session) session = session_find(fixture->store, token, now, &error);
    if (session)
        return g_strdup(session->address->text);
    assert_failed(FAIL_MISSING, error);
    return g_strdup("");
}

static void expect(Fixture *fixture, const char *token, int64_t now, const char *address)
{
    g_autofree char *found = whose(fixture, token, now);
    g_assert_cmpstr(found, ==, address);
}

static void refuse_link(Fixture *fixture, const char *link, int64_t now)
{
    GError *error = NULL;
    g_assert_null(session_find_link(fixture->store, link, now, &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_false(session_begin(fixture->store, link, "never", "Browser", now, &error));
    assert_failed(FAIL_MISSING, error);
    expect(fixture, "never", now, "");
}

static void test_links(Fixture *fixture, const void *data)
{
    (void)data;
    GError *error = NULL;
    link_to(fixture, ANNE, "first", NOW);
    link_to(fixture, ANNE, "second", NOW);
    link_to(fixture, BOB, "bob's", NOW);
    expect(fixture, "first", NOW, ""); /* a link is no session */
    g_autoptr(Session) link = session_find_link(fixture->store, "first", NOW, &error);
    g_assert_cmpstr(link->address->text, ==, ANNE);
    begin(fixture, "first", "session of anne", NOW);
    expect(fixture, "session of anne", NOW, ANNE);
    refuse_link(fixture, "first", NOW);
    refuse_link(fixture, "second", NOW); /* goes with it */
    refuse_link(fixture, "session of anne", NOW);
    refuse_link(fixture, "bob's", NOW + SESSION_LINK_LIFE);
    begin(fixture, "bob's", "session of bob", NOW + SESSION_LINK_LIFE - 1);
    expect(fixture, "session of bob", NOW, BOB);
    g_assert_false(session_add_link(fixture->store, mailbox_of("no address"), "x", NOW, &error));
    assert_failed(FAIL_NEVER, error);
}

static void test_end(Fixture *fixture, const void *data)
{
    (void)data;
    GError *error = NULL;
    for (int i = 0; i < 3; i++) {
        g_autofree char *token = g_strdup_printf("session %d", i);
        link_to(fixture, ANNE, "link", NOW);
        begin(fixture, "link", token, NOW + i);
    }
    link_to(fixture, BOB, "link", NOW);
    begin(fixture, "link", "bob's", NOW);
    /* A session that is used lasts. */
    g_autoptr(Session) used = session_find(fixture->store, "session 0", NOW, &error);
    assert_ok(session_touch(fixture->store, used->key, NOW + 1000, &error), error);
    g_autoptr(GPtrArray) all = session_all(fixture->store, mailbox_of("ANNE@example.ORG"), NOW + 1000, &error);
    g_assert_cmpuint(all->len, ==, 3);
    g_assert_cmpint(((Session *)all->pdata[0])->key, ==, used->key);
    g_assert_cmpstr(((Session *)all->pdata[1])->agent, ==, "Browser");
    expect(fixture, "session 1", NOW + SESSION_LIFE, ANNE);
    expect(fixture, "session 1", NOW + SESSION_LIFE + 1, "");
    expect(fixture, "session 0", NOW + SESSION_LIFE + 999, ANNE);
    g_autoptr(GPtrArray) living = session_all(fixture->store, mailbox_of(ANNE), NOW + SESSION_LIFE + 999, &error);
    g_assert_cmpuint(living->len, ==, 1);
    /* One of somebody else's is not ended. */
    g_autoptr(Session) bobs = session_find(fixture->store, "bob's", NOW, &error);
    assert_ok(session_end(fixture->store, mailbox_of(ANNE), bobs->key, 0, &error), error);
    expect(fixture, "bob's", NOW, BOB);
    const Session *second = all->pdata[1];
    assert_ok(session_end(fixture->store, mailbox_of(ANNE), second->key, 0, &error), error);
    expect(fixture, "session 2", NOW, "");
    assert_ok(session_end(fixture->store, mailbox_of(ANNE), 0, used->key, &error), error);
    expect(fixture, "session 1", NOW, "");
    expect(fixture, "session 0", NOW, ANNE);
    assert_ok(session_end(fixture->store, mailbox_of(ANNE), 0, 0, &error), error);
    expect(fixture, "session 0", NOW, "");
    expect(fixture, "bob's", NOW, BOB);
    assert_ok(session_expire(fixture->store, NOW + SESSION_LIFE, &error), error);
    expect(fixture, "bob's", NOW, "");
}

/* Nothing is kept of an address that is removed, and whoever had a session has none. */
static void test_forgotten(Fixture *fixture, const void *data)
{
    (void)data;
    GError *error = NULL;
    const char *const both[][2] = {{ANNE, "anne's"}, {BOB, "bob's"}};
    for (size_t i = 0; i < G_N_ELEMENTS(both); i++) {
        assert_ok(address_add(fixture->store, mailbox_of(both[i][0]), NULL, &error), error);
        link_to(fixture, both[i][0], "first", NOW);
        begin(fixture, "first", both[i][0], NOW);
        link_to(fixture, both[i][0], both[i][1], NOW);
    }
    assert_ok(address_remove(fixture->store, mailbox_of("anne@EXAMPLE.org"), &error), error);
    expect(fixture, ANNE, NOW, "");
    refuse_link(fixture, "anne's", NOW);
    expect(fixture, BOB, NOW, BOB);
    begin(fixture, "bob's", "another", NOW);
}

SUITE("session")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/session/links", Fixture, NULL, fixture_open, test_links, fixture_close);
    g_test_add("/session/forgotten", Fixture, NULL, fixture_open, test_forgotten, fixture_close);
    g_test_add("/session/end", Fixture, NULL, fixture_open, test_end, fixture_close);
    return g_test_run();
}
