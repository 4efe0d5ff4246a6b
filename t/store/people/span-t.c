/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/span.h"

#include "store/people/user.h"
#include "t/store/sound.h"
#include "t/suite.h"

#define LIST "test.example.com"
#define PEOPLE 3500

static char *address_of(int number)
{
    return g_strdup_printf("m%04d@example.org", number);
}

/* In an order that is neither that of the addresses nor random. */
static void fill(Fixture *fixture)
{
    GError *error = NULL;
    assert_ok(store_begin(fixture->store, &error), error);
    for (int at = 0; at < PEOPLE; at++) {
        g_autofree char *address = address_of(at * 1237 % PEOPLE);
        assert_ok(member_add(fixture->store, LIST, ROLE_MEMBER, mailbox_of(address), NULL, NULL, &error), error);
    }
    assert_ok(store_commit(fixture->store, &error), error);
}

static int64_t spans_of(Fixture *fixture, int kind)
{
    g_autoptr(Query) query =
        query_open(fixture->store, NULL, "SELECT count(*) FROM span WHERE kind = $1", INTEGER(kind));
    g_assert_cmpint(query_step(query, NULL), ==, STEP_ROW);
    return query_integer(query, 0);
}

/* Pages of members, addresses and users from any place are what all of them have there. */
static void assert_places(Fixture *fixture)
{
    GError *error = NULL;
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    criteria.list_id = LIST;
    criteria.roles = 1u << ROLE_MEMBER;
    g_autoptr(GPtrArray) members = member_page(fixture->store, &criteria, NULL, G_MAXINT, NULL, &error);
    g_autoptr(GPtrArray) addresses = address_page(fixture->store, NULL, NULL, 0, G_MAXINT, &error);
    g_autoptr(GPtrArray) users = user_page(fixture->store, &(UserCriteria){0}, NULL, G_MAXINT, &error);
    int64_t count;
    assert_ok(member_count(fixture->store, LIST, ROLE_MEMBER, &count, &error), error);
    g_assert_cmpint(count, ==, members->len);
    assert_ok(address_count(fixture->store, &count, &error), error);
    g_assert_cmpint(count, ==, addresses->len);
    assert_ok(user_count(fixture->store, &(UserCriteria){0}, &count, &error), error);
    g_assert_cmpint(count, ==, users->len);
    for (unsigned place = 1; place <= members->len; place += place % 500 < 3 || place % 500 > 496 ? 1 : 61) {
        criteria.skip = place;
        g_autoptr(GPtrArray) page = member_page(fixture->store, &criteria, NULL, 1, NULL, &error);
        g_assert_cmpint(page->len, ==, place < members->len);
        if (page->len > 0)
            g_assert_cmpstr(((Member *)page->pdata[0])->id, ==, ((Member *)members->pdata[place])->id);
        g_autoptr(GPtrArray) some = address_page(fixture->store, NULL, NULL, place, 1, &error);
        g_assert_cmpint(some->len, ==, place < addresses->len);
        if (some->len > 0)
            g_assert_cmpstr(((KnownAddress *)some->pdata[0])->email, ==,
                            ((KnownAddress *)addresses->pdata[place])->email);
        g_autoptr(GPtrArray) persons = user_page(fixture->store, &(UserCriteria){.skip = place}, NULL, 1, &error);
        g_assert_cmpint(persons->len, ==, place < users->len);
        if (persons->len > 0)
            g_assert_cmpstr(((User *)persons->pdata[0])->id, ==, ((User *)users->pdata[place])->id);
    }
}

static void test_grow(Fixture *fixture, const void *data)
{
    fill(fixture);
    assert_sound(fixture);
    assert_places(fixture);
    g_assert_cmpint(spans_of(fixture, ROLE_MEMBER), >=, 4);
    g_assert_cmpint(spans_of(fixture, ROLE_MEMBER), <=, 8);
}

/* One address is a member by itself and as its user's: both are in one span, wherever it is cut. */
static void test_twice(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    assert_ok(store_begin(fixture->store, &error), error);
    for (int at = 0; at < 1200; at++) {
        g_autofree char *address = address_of(at);
        assert_ok(member_add(fixture->store, LIST, ROLE_MEMBER, mailbox_of(address), NULL, NULL, &error), error);
        assert_ok(member_add_user(fixture->store, LIST, ROLE_MEMBER, mailbox_of(address), &error), error);
    }
    assert_ok(store_commit(fixture->store, &error), error);
    assert_sound(fixture);
    assert_places(fixture);
}

static void test_shrink(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    fill(fixture);
    int64_t before = spans_of(fixture, ROLE_MEMBER);
    assert_ok(store_begin(fixture->store, &error), error);
    for (int at = 300; at < PEOPLE - 300; at++) {
        g_autofree char *address = address_of(at);
        assert_ok(at % 3 == 0   ? member_remove(fixture->store, LIST, ROLE_MEMBER, mailbox_of(address), &error)
                  : at % 3 == 1 ? address_remove(fixture->store, mailbox_of(address), &error)
                                : user_remove(fixture->store, address, &error),
                  error);
    }
    assert_ok(store_commit(fixture->store, &error), error);
    assert_sound(fixture);
    assert_places(fixture);
    g_assert_cmpint(spans_of(fixture, ROLE_MEMBER), <, before);
}

/* From one span into another. */
static void test_move(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    fill(fixture);
    assert_ok(member_add_user(fixture->store, LIST, ROLE_MEMBER, mailbox_of("m0001@example.org"), &error), error);
    assert_ok(user_link_address(fixture->store, "m0001@example.org", mailbox_of("zz@example.org"), &error), error);
    assert_ok(user_set_preferred(fixture->store, mailbox_of("zz@example.org"), &error), error);
    assert_sound(fixture);
    g_autoptr(Member) member = member_find(fixture->store, LIST, ROLE_MEMBER, mailbox_of("m3400@example.org"), &error);
    assert_ok(member_set_address(fixture->store, member->id, mailbox_of("a@example.org"), &error), error);
    assert_ok(address_unlink(fixture->store, mailbox_of("m0500@example.org"), &error), error);
    assert_ok(address_add(fixture->store, mailbox_of("alone@example.org"), NULL, &error), error);
    assert_ok(user_merge(fixture->store, "m0600@example.org", "m0700@example.org", &error), error);
    assert_sound(fixture);
    assert_places(fixture);
}

static void test_list_goes(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    fill(fixture);
    assert_ok(list_remove(fixture->store, LIST, &error), error);
    assert_sound(fixture);
}

SUITE("span")
{
    g_test_init(&argc, &argv, NULL);
    TEST_WITH_LIST("/span/grow", test_grow);
    TEST_WITH_LIST("/span/twice", test_twice);
    TEST_WITH_LIST("/span/shrink", test_shrink);
    TEST_WITH_LIST("/span/move", test_move);
    TEST_WITH_LIST("/span/list-goes", test_list_goes);
    return g_test_run();
}
