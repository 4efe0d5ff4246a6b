/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/ban.h"

#include "store/lists/list_setting.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define LIST "test.example.com"

static void assert_banned(Store *store, const char *list_id, const char *address, const char *expected)
{
    GError *error = NULL;
    g_autofree char *by = NULL;
    assert_ok(ban_check(store, list_id, mailbox_of(address), NULL, &by, &error), error);
    g_assert_cmpstr(by, ==, expected);
}

static void test_address(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    assert_ok(ban_add(fixture->store, LIST, "Eve@Example.NET", &error), error);
    assert_banned(fixture->store, LIST, "eve@example.net", "Eve@Example.NET");
    assert_banned(fixture->store, LIST, "\"eve\"@example.net", "Eve@Example.NET");
    assert_banned(fixture->store, LIST, "steve@example.net", NULL);
    assert_banned(fixture->store, LIST, "eve@example.net.org", NULL);
    assert_banned(fixture->store, NULL, "eve@example.net", NULL);
    g_assert_false(ban_add(fixture->store, LIST, "eve@example.net", &error));
    assert_failed(FAIL_EXISTS, error);
    g_assert_false(ban_remove(fixture->store, NULL, "eve@example.net", &error));
    assert_failed(FAIL_MISSING, error);
    assert_ok(ban_remove(fixture->store, LIST, "EVE@example.net", &error), error);
    assert_banned(fixture->store, LIST, "eve@example.net", NULL);
}

static void assert_found(Store *store, const char *list_id, const char *email, bool expected)
{
    GError *error = NULL;
    bool found = !expected;
    assert_ok(ban_find(store, list_id, email, &found, &error), error);
    g_assert_cmpint(found, ==, expected);
}

static void test_find(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    bool found;
    assert_ok(ban_add(fixture->store, LIST, "Eve@Example.NET", &error), error);
    assert_ok(ban_add(fixture->store, NULL, "^.*@example\\.org$", &error), error);
    assert_found(fixture->store, LIST, "eve@example.net", true);
    assert_found(fixture->store, NULL, "eve@example.net", false);
    assert_found(fixture->store, NULL, "^.*@example\\.org$", true);
    assert_found(fixture->store, LIST, "^.*@example\\.org$", false);
    assert_found(fixture->store, NULL, "adam@example.org", false);
    assert_found(fixture->store, LIST, "no address", false);
    g_assert_false(ban_find(fixture->store, "nothing.example.com", "eve@example.net", &found, &error));
    assert_failed(FAIL_MISSING, error);
}

static void test_pattern(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    assert_ok(ban_add(fixture->store, LIST, "^.*@example\\.net$", &error), error);
    assert_banned(fixture->store, LIST, "EVE@example.net", "^.*@example\\.net$");
    assert_banned(fixture->store, LIST, "eve@example.net.org", NULL);
    assert_ok(ban_add(fixture->store, LIST, "^(a|b)", &error), error);
    assert_banned(fixture->store, LIST, "bart@example.org", "^(a|b)");
    assert_banned(fixture->store, LIST, "cris@a.example.org", NULL);
}

static void test_site(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    assert_ok(ban_add(fixture->store, NULL, "eve@example.net", &error), error);
    assert_ok(ban_add(fixture->store, NULL, "^mallory@", &error), error);
    assert_banned(fixture->store, LIST, "eve@example.net", "eve@example.net");
    assert_banned(fixture->store, NULL, "mallory@example.org", "^mallory@");
    assert_ok(ban_add(fixture->store, LIST, "eve@example.net", &error), error);
    int64_t count;
    assert_ok(ban_count(fixture->store, LIST, &count, &error), error);
    g_assert_cmpint(count, ==, 1);
    assert_ok(ban_count(fixture->store, NULL, &count, &error), error);
    g_assert_cmpint(count, ==, 2);
}

static void test_refused(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    static const char *const never[] = {"", "eve", "eve@", "@example.net", "^(", "^[a", "^\xff", "a b@example.net"};
    for (size_t at = 0; at < G_N_ELEMENTS(never); at++) {
        g_assert_false(ban_add(fixture->store, LIST, never[at], &error));
        assert_failed(FAIL_NEVER, error);
    }
    g_assert_false(ban_add(fixture->store, "nothing.example.com", "eve@example.net", &error));
    assert_failed(FAIL_MISSING, error);
}

static bool collect(const Ban *ban, void *data)
{
    g_string_append_printf(data, "%s %s\n", ban->list_id ? ban->list_id : "-", ban->email);
    return true;
}

static void test_each_and_end_of_list(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_autoptr(GString) all = g_string_new(NULL);
    assert_ok(ban_add(fixture->store, LIST, "eve@example.net", &error), error);
    assert_ok(ban_add(fixture->store, LIST, "adam@example.net", &error), error);
    assert_ok(ban_add(fixture->store, NULL, "^x", &error), error);
    assert_ok(ban_each(fixture->store, LIST, collect, all, &error), error);
    assert_ok(ban_each(fixture->store, NULL, collect, all, &error), error);
    g_assert_cmpstr(all->str, ==, LIST " adam@example.net\n" LIST " eve@example.net\n- ^x\n");
    assert_ok(list_remove(fixture->store, LIST, &error), error);
    int64_t count;
    assert_ok(ban_count(fixture->store, NULL, &count, &error), error);
    g_assert_cmpint(count, ==, 1);
    g_assert_false(ban_count(fixture->store, LIST, &count, &error));
    assert_failed(FAIL_MISSING, error);
}

/* A list bans so many patterns, any number of addresses, and the site what it likes. */
static void test_bound(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    for (int at = 0; at <= LIST_PATTERNS_MAX; at++) {
        g_autofree char *pattern = g_strdup_printf("^x%d@", at), *address = g_strdup_printf("x%d@example.org", at);
        assert_ok(ban_add(fixture->store, NULL, pattern, &error), error);
        assert_ok(ban_add(fixture->store, LIST, address, &error), error);
        g_assert_cmpint(ban_add(fixture->store, LIST, pattern, &error), ==, at < LIST_PATTERNS_MAX);
    }
    assert_failed(FAIL_NEVER, error);
    assert_ok(ban_remove(fixture->store, LIST, "^x0@", &error), error);
    assert_ok(ban_add(fixture->store, LIST, "^new@", &error), error);
}

/* How the address stands to the list, as "BAN member user verified", each where it is so. */
static void assert_stands(Store *store, const char *list_id, const char *address, const char *expected)
{
    GError *error = NULL;
    g_auto(AddressStanding) standing = {0};
    assert_ok(standing_read(store, list_id, mailbox_of(address), &standing, &error), error);
    g_autofree char *shown = g_strdup_printf("%s%s%s%s", standing.banned ? standing.banned : "-",
                                             standing.is_member ? " member" : "", standing.has_user ? " user" : "",
                                             standing.verified_at != 0 ? " verified" : "");
    g_assert_cmpstr(shown, ==, expected);
}

static void test_standing(Fixture *fixture, const void *data)
{
    Store *store = fixture->store;
    GError *error = NULL;
    char id[STORE_ID_SIZE];
    g_auto(AddressStanding) standing = {0};
    g_autoptr(List) other = list_create(store, "other@example.com", &error);
    g_assert_no_error(error);
    assert_ok(ban_add(store, NULL, "^mallory@", &error), error);
    assert_ok(ban_add(store, LIST, "eve@example.net", &error), error);
    assert_ok(user_create(store, mailbox_of("Eve@example.net"), NULL, id, &error), error);
    assert_ok(address_add(store, mailbox_of("anne@example.org"), NULL, &error), error);
    assert_ok(member_add(store, LIST, ROLE_MEMBER, mailbox_of("bob@example.org"), NULL, NULL, &error), error);
    assert_ok(member_add(store, LIST, ROLE_OWNER, mailbox_of("olga@example.org"), NULL, NULL, &error), error);
    assert_stands(store, LIST, "nobody@example.org", "-");
    assert_stands(store, LIST, "mallory@example.org", "^mallory@");
    assert_stands(store, LIST, "EVE@example.net", "eve@example.net user");
    assert_stands(store, other->list_id, "eve@example.net", "- user");
    assert_stands(store, LIST, "anne@example.org", "-");
    assert_stands(store, LIST, "Bob@Example.ORG", "- member user");
    assert_stands(store, other->list_id, "bob@example.org", "- user");
    assert_stands(store, LIST, "olga@example.org", "- user");
    assert_ok(address_note_verified(store, mailbox_of("Anne@example.org"), 7, &error), error);
    assert_ok(address_note_verified(store, mailbox_of("anne@example.org"), 8, &error), error);
    assert_ok(address_note_verified(store, mailbox_of("nobody@example.org"), 8, &error), error);
    assert_stands(store, LIST, "anne@example.org", "- verified");
    assert_stands(store, LIST, "nobody@example.org", "-");
    assert_stands(store, LIST, "bob@example.org", "- member user");
    g_assert_cmpint(fixture_verified_at(store, "anne@example.org"), ==, 7);
    g_assert_false(standing_read(store, "none.example.com", mailbox_of("bob@example.org"), &standing, &error));
    assert_failed(FAIL_MISSING, error);
}

/* A member by user has the address that the user prefers, and no other one of it. */
static void test_standing_by_user(Fixture *fixture, const void *data)
{
    Store *store = fixture->store;
    GError *error = NULL;
    char id[STORE_ID_SIZE];
    assert_ok(user_create(store, mailbox_of("one@example.org"), NULL, id, &error), error);
    assert_ok(user_link_address(store, id, mailbox_of("two@example.org"), &error), error);
    assert_ok(user_set_preferred(store, mailbox_of("one@example.org"), &error), error);
    assert_ok(member_add_user(store, LIST, ROLE_MEMBER, mailbox_of("one@example.org"), &error), error);
    assert_stands(store, LIST, "one@example.org", "- member user");
    assert_stands(store, LIST, "two@example.org", "- user");
    assert_ok(user_set_preferred(store, mailbox_of("two@example.org"), &error), error);
    assert_stands(store, LIST, "one@example.org", "- user");
    assert_stands(store, LIST, "two@example.org", "- member user");
}

SUITE("ban")
{
    g_test_init(&argc, &argv, NULL);
    TEST_WITH_LIST("/ban/address", test_address);
    TEST_WITH_LIST("/ban/find", test_find);
    TEST_WITH_LIST("/ban/pattern", test_pattern);
    TEST_WITH_LIST("/ban/site", test_site);
    TEST_WITH_LIST("/ban/refused", test_refused);
    TEST_WITH_LIST("/ban/bound", test_bound);
    TEST_WITH_LIST("/ban/each, and the end of the list", test_each_and_end_of_list);
    TEST_WITH_LIST("/ban/standing", test_standing);
    TEST_WITH_LIST("/ban/standing of a member by user", test_standing_by_user);
    return g_test_run();
}
