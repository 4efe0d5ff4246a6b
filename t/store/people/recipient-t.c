/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "store/lists/topic.h"
#include "store/store.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define LIST "test.example.com"

static void add(Fixture *fixture, const char *address, Preferences own)
{
    GError *error = NULL;
    assert_ok(member_add(fixture->store, LIST, ROLE_MEMBER, mailbox_of(address), NULL, &own, &error), error);
}

/* Return what the cursor gives, joined by blanks. */
static char *recipients(Fixture *fixture, const char *sender, const char *const *copied)
{
    GError *error = NULL;
    g_autoptr(RecipientCursor) cursor = recipient_cursor_open(fixture->store, LIST, sender, copied, &error);
    g_assert_no_error(error);
    g_autoptr(GString) all = g_string_new(NULL);
    for (const char *address; (address = recipient_cursor_next(cursor, &error));)
        g_string_append_printf(all, "%s%s", all->len ? " " : "", address);
    g_assert_no_error(error);
    g_assert_null(recipient_cursor_next(cursor, &error)); /* the end stays the end */
    g_assert_no_error(error);
    return g_string_free(g_steal_pointer(&all), FALSE);
}

#define assert_recipients(fixture, sender, copied, expected) \
    do { \
        g_autofree char *found_ = recipients(fixture, sender, copied); \
        g_assert_cmpstr(found_, ==, expected); \
    } while (0)

static void test_order(Fixture *fixture, const void *data)
{
    assert_recipients(fixture, NULL, NULL, "");
    const char *const addresses[] = {
        "zoe@b.org", "Al@B.org", "jo@a-b.org", "jo@a.org", "jo@a.org.uk", "m\303\274@\303\274.de", NULL};
    for (const char *const *address = addresses; *address; address++)
        add(fixture, *address, preferences_unset);
    assert_recipients(fixture, NULL, NULL, "jo@a-b.org jo@a.org jo@a.org.uk Al@B.org zoe@b.org m\303\274@\303\274.de");
}

static void test_own_level(Fixture *fixture, const void *data)
{
    Preferences off = preferences_unset, digest = preferences_unset, on = preferences_unset;
    off.delivery_status = DELIVERY_BY_USER;
    digest.delivery_mode = MODE_MIME_DIGESTS;
    on.delivery_status = DELIVERY_ENABLED;
    add(fixture, "a@example.org", preferences_unset);
    add(fixture, "b@example.org", off);
    add(fixture, "c@example.org", digest);
    add(fixture, "d@example.org", on);
    assert_recipients(fixture, NULL, NULL, "a@example.org d@example.org");
}

static void test_inheritance(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    Preferences off = preferences_unset, on = preferences_unset;
    off.delivery_status = DELIVERY_BY_USER;
    on.delivery_status = DELIVERY_ENABLED;
    add(fixture, "a@example.org", preferences_unset);
    assert_ok(user_set_preferences(fixture->store, "A@example.org", &off, &error), error);
    assert_recipients(fixture, NULL, NULL, "");
    assert_ok(address_set_preferences(fixture->store, mailbox_of("a@example.org"), &on, &error), error);
    assert_recipients(fixture, NULL, NULL, "a@example.org");
    assert_ok(member_set_preferences(fixture->store, LIST, ROLE_MEMBER, mailbox_of("a@example.org"), &off, &error),
              error);
    assert_recipients(fixture, NULL, NULL, "");
    assert_ok(member_set_preferences(fixture->store, LIST, ROLE_MEMBER, mailbox_of("a@example.org"), &preferences_unset,
                                     &error),
              error);
    assert_recipients(fixture, NULL, NULL, "a@example.org");
    assert_ok(address_set_preferences(fixture->store, mailbox_of("a@example.org"), &preferences_unset, &error), error);
    assert_recipients(fixture, NULL, NULL, "");
    assert_ok(user_set_preferences(fixture->store, "a@example.org", &preferences_unset, &error), error);
    assert_recipients(fixture, NULL, NULL, "a@example.org");
}

static void test_sender(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    Preferences quiet = preferences_unset;
    quiet.receive_own_postings = 0;
    add(fixture, "a@example.org", quiet);
    add(fixture, "b@example.org", preferences_unset);
    assert_recipients(fixture, "A@EXAMPLE.ORG", NULL, "b@example.org");
    assert_recipients(fixture, "b@example.org", NULL, "a@example.org b@example.org");
    assert_recipients(fixture, "stranger@example.org", NULL, "a@example.org b@example.org");
    assert_recipients(fixture, "no address", NULL, "a@example.org b@example.org");
    /* From another address of the same user. */
    assert_ok(user_link_address(fixture->store, "a@example.org", mailbox_of("other@example.net"), &error), error);
    assert_recipients(fixture, "other@example.net", NULL, "b@example.org");
}

static void test_copied(Fixture *fixture, const void *data)
{
    Preferences once = preferences_unset;
    once.receive_list_copy = 0;
    add(fixture, "a@example.org", once);
    add(fixture, "b@example.org", preferences_unset);
    add(fixture, "c@example.org", once);
    assert_recipients(fixture, NULL, ((const char *[]){"A@Example.org", "b@example.org", "nonsense", NULL}),
                      "b@example.org c@example.org");
    assert_recipients(fixture, NULL, ((const char *[]){NULL}), "a@example.org b@example.org c@example.org");
}

static void test_each_address_once(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    add(fixture, "a@example.org", preferences_unset);
    assert_ok(member_add_user(fixture->store, LIST, ROLE_MEMBER, mailbox_of("a@example.org"), &error), error);
    int64_t count;
    assert_ok(recipient_count(fixture->store, LIST, &count, &error), error);
    g_assert_cmpint(count, ==, 2);
    assert_recipients(fixture, NULL, NULL, "a@example.org");
    /* Disabled one way, the other way still delivers. */
    assert_ok(user_link_address(fixture->store, "a@example.org", mailbox_of("b@example.org"), &error), error);
    assert_ok(user_set_preferred(fixture->store, mailbox_of("b@example.org"), &error), error);
    assert_recipients(fixture, NULL, NULL, "a@example.org b@example.org");
}

static void test_roles(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    assert_ok(member_add(fixture->store, LIST, ROLE_OWNER, mailbox_of("owner@example.org"), NULL, NULL, &error), error);
    assert_ok(member_add(fixture->store, LIST, ROLE_NONMEMBER, mailbox_of("non@example.org"), NULL, NULL, &error),
              error);
    assert_recipients(fixture, NULL, NULL, "");
}

static void test_missing_list(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_assert_null(recipient_cursor_open(fixture->store, "none.example.com", NULL, NULL, &error));
    assert_failed(FAIL_MISSING, error);
    recipient_cursor_free(NULL);
}

/* A cursor half read, others opened beside it, none disturbed. */
static void test_many_cursors(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    for (int i = 0; i < 10; i++) {
        g_autofree char *address = g_strdup_printf("m%d@example.org", i);
        add(fixture, address, preferences_unset);
    }
    g_autoptr(RecipientCursor) first = recipient_cursor_open(fixture->store, LIST, NULL, NULL, &error);
    g_assert_cmpstr(recipient_cursor_next(first, &error), ==, "m0@example.org");
    g_autoptr(RecipientCursor) second = recipient_cursor_open(fixture->store, LIST, NULL, NULL, &error);
    g_assert_cmpstr(recipient_cursor_next(second, &error), ==, "m0@example.org");
    g_assert_cmpstr(recipient_cursor_next(first, &error), ==, "m1@example.org");
    g_assert_cmpstr(recipient_cursor_next(second, &error), ==, "m1@example.org");
}

/* A cursor sees the list as it was when it began. */
static void test_snapshot(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    add(fixture, "a@example.org", preferences_unset);
    add(fixture, "c@example.org", preferences_unset);
    g_autoptr(RecipientCursor) cursor = recipient_cursor_open(fixture->store, LIST, NULL, NULL, &error);
    g_assert_cmpstr(recipient_cursor_next(cursor, &error), ==, "a@example.org");
    g_autoptr(Store) other = fixture_connect(fixture, &error);
    assert_ok(member_add(other, LIST, ROLE_MEMBER, mailbox_of("b@example.org"), NULL, NULL, &error), error);
    g_assert_cmpstr(recipient_cursor_next(cursor, &error), ==, "c@example.org");
    g_assert_null(recipient_cursor_next(cursor, &error));
    assert_recipients(fixture, NULL, NULL, "a@example.org b@example.org c@example.org");
}

/* Check that a member who chose topics gets posts of those alone; one who chose none, or only topics that are gone,
 * gets all. */
static void test_topics(Fixture *fixture, const void *data)
{
    static const struct {
        const char *address, *names[3];
        bool unmatched;
    } members[] = {{"all@x.org", {NULL}, false}, {"cats@x.org", {"Cats", NULL}, false},
                   {"dogs@x.org", {"dogs", "gone", NULL}, true}, {"gone@x.org", {"gone", NULL}, false}};
    static const struct {
        const char *of[3], *expected;
    } cases[] = {{{NULL}, "all@x.org dogs@x.org gone@x.org"},
                 {{"cats", NULL}, "all@x.org cats@x.org gone@x.org"},
                 {{"cats", "dogs", NULL}, "all@x.org cats@x.org dogs@x.org gone@x.org"}};
    static const char *const known[] = {"cats", "dogs", NULL};
    GError *error = NULL;
    for (size_t at = 0; at < G_N_ELEMENTS(members); at++) {
        add(fixture, members[at].address, preferences_unset);
        g_autoptr(Member)
            member = member_find(fixture->store, LIST, ROLE_MEMBER, mailbox_of(members[at].address), &error);
        g_auto(TopicChoice) choice = {0};
        assert_ok(topic_set(fixture->store, member->id, members[at].names, members[at].unmatched, &error), error);
        assert_ok(topic_read(fixture->store, member->id, &choice, &error), error);
        g_assert_true(g_strv_equal((const char *const *)choice.names, members[at].names));
        g_assert_true(choice.unmatched == members[at].unmatched);
    }
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autoptr(RecipientCursor) cursor = recipient_cursor_open_named(fixture->store, LIST, NULL, NULL, &error);
        g_autoptr(GString) all = g_string_new(NULL);
        recipient_cursor_choose_topics(cursor, known, cases[at].of);
        for (const char *address; (address = recipient_cursor_next(cursor, &error));)
            g_string_append_printf(all, "%s%s", all->len ? " " : "", address);
        g_assert_no_error(error);
        g_assert_cmpstr(all->str, ==, cases[at].expected);
    }
    g_autoptr(List) other = list_create(fixture->store, "other@example.com", &error);
    assert_ok(member_add(fixture->store, other->list_id, ROLE_MEMBER, mailbox_of("dogs@x.org"), NULL, NULL, &error),
              error);
    assert_ok(topic_copy(fixture->store, LIST, other->list_id, &error), error);
    g_autoptr(Member)
        copied = member_find(fixture->store, other->list_id, ROLE_MEMBER, mailbox_of("dogs@x.org"), &error);
    g_auto(TopicChoice) choice = {0};
    assert_ok(topic_read(fixture->store, copied->id, &choice, &error), error);
    g_assert_true(g_strv_equal((const char *const *)choice.names, members[2].names) && choice.unmatched);
    g_assert_false(topic_set(fixture->store, "00000000000000000000000000000000", known, false, &error));
    g_assert_error(error, FAIL, FAIL_MISSING);
    g_clear_error(&error);
}

SUITE("recipient")
{
    g_test_init(&argc, &argv, NULL);
    TEST_WITH_LIST("/recipient/order", test_order);
    TEST_WITH_LIST("/recipient/own-level", test_own_level);
    TEST_WITH_LIST("/recipient/inheritance", test_inheritance);
    TEST_WITH_LIST("/recipient/sender", test_sender);
    TEST_WITH_LIST("/recipient/copied", test_copied);
    TEST_WITH_LIST("/recipient/each-address-once", test_each_address_once);
    TEST_WITH_LIST("/recipient/roles", test_roles);
    TEST_WITH_LIST("/recipient/missing-list", test_missing_list);
    TEST_WITH_LIST("/recipient/many-cursors", test_many_cursors);
    TEST_WITH_LIST("/recipient/snapshot", test_snapshot);
    TEST_WITH_LIST("/recipient/topics", test_topics);
    return g_test_run();
}
