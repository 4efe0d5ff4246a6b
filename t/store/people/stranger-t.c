/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Which rows of strangers go when, and which stay because somebody wants them. */
#include "store/people/stranger.h"
#include "store/posts/held.h"

#include "base/clock.h"
#include "store/lists/domain.h"
#include "store/store.h"
#include "t/store/fixture.h"
#include "t/store/sound.h"
#include "t/suite.h"

#define LIST "test.example.com"
#define OTHER "other.example.com"
#define EVE "eve@example.net"
#define FRED "fred@example.net"
#define THEN (clock_now() - STRANGER_KEPT - CLOCK_SECOND)

static void set_up(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    fixture_open_list(fixture, data);
    g_autoptr(List) list = list_create(fixture->store, "other@example.com", &error);
    g_assert_no_error(error);
}

static void note(Fixture *fixture, const char *list_id, const char *address, int64_t when)
{
    GError *error = NULL;
    assert_ok(stranger_note(fixture->store, list_id, mailbox_of(address), when, &error), error);
}

static void count_turn(void *data)
{
    ++*(int *)data;
}

static int64_t expire(Fixture *fixture)
{
    GError *error = NULL;
    int64_t removed;
    int turns = 0;
    assert_ok(stranger_expire(fixture->store, clock_now() - STRANGER_KEPT, count_turn, &turns, &removed, &error),
              error);
    g_assert_cmpint(turns, >, removed / 200); /* a portion at a time */
    assert_sound(fixture);
    return removed;
}

static bool is_nonmember(Fixture *fixture, const char *list_id, const char *address)
{
    g_autoptr(Member) member = member_find(fixture->store, list_id, ROLE_NONMEMBER, mailbox_of(address), NULL);
    return member != NULL;
}

static bool is_known(Fixture *fixture, const char *address)
{
    g_autoptr(KnownAddress) known = address_find(fixture->store, mailbox_of(address), NULL);
    g_autoptr(User) user = user_find(fixture->store, address, NULL);
    g_assert_true(known || !user);
    return known != NULL;
}

static void test_expiry(Fixture *fixture, const void *data)
{
    note(fixture, LIST, EVE, THEN);
    note(fixture, OTHER, EVE, THEN);
    note(fixture, LIST, FRED, THEN);
    note(fixture, LIST, FRED, clock_now()); /* he wrote again */
    g_assert_cmpint(expire(fixture), ==, 2);
    g_assert_false(is_known(fixture, EVE));
    g_assert_true(is_nonmember(fixture, LIST, FRED) && is_known(fixture, FRED));
    for (int at = 0; at < 500; at++) {
        g_autofree char *address = g_strdup_printf("%d@example.net", at);
        note(fixture, at % 2 ? LIST : OTHER, address, THEN);
    }
    g_assert_cmpint(expire(fixture), ==, 500);
    g_assert_false(is_known(fixture, "0@example.net") || is_known(fixture, "499@example.net"));
    g_assert_cmpint(expire(fixture), ==, 0);
}

/* Still on one list, the address stays until it is on none. */
static void test_two_lists(Fixture *fixture, const void *data)
{
    note(fixture, LIST, EVE, THEN);
    note(fixture, OTHER, EVE, clock_now());
    g_assert_cmpint(expire(fixture), ==, 1);
    g_assert_true(is_nonmember(fixture, OTHER, EVE) && is_known(fixture, EVE));
    g_assert_true(member_remove(fixture->store, OTHER, ROLE_NONMEMBER, mailbox_of(EVE), NULL));
    g_assert_cmpint(expire(fixture), ==, 0);
    g_assert_false(is_known(fixture, EVE));
}

/* Check that a person's decisions about somebody stay. */
static void test_wanted(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    Preferences wants = preferences_unset;
    wants.hide_address = 1;
    assert_ok(member_add(fixture->store, LIST, ROLE_NONMEMBER, mailbox_of("made@example.net"), NULL, NULL, &error),
              error);
    assert_ok(member_add(fixture->store, OTHER, ROLE_MEMBER, mailbox_of("member@example.net"), NULL, NULL, &error),
              error);
    assert_ok(member_remove(fixture->store, OTHER, ROLE_MEMBER, mailbox_of("member@example.net"), &error), error);
    static const char *const all[] = {"made@example.net", "member@example.net", "judged@example.net",
                                      "prefers@example.net", "verified@example.net", "joined@example.net",
                                      "held@example.net"};
    for (size_t at = 0; at < G_N_ELEMENTS(all); at++)
        note(fixture, LIST, all[at], THEN);
    assert_ok(member_set_moderation(fixture->store, LIST, ROLE_NONMEMBER, mailbox_of("judged@example.net"),
                                    ACTION_DEFER, &error),
              error);
    assert_ok(address_set_preferences(fixture->store, mailbox_of("prefers@example.net"), &wants, &error), error);
    assert_ok(address_set_verified(fixture->store, mailbox_of("verified@example.net"), clock_now(), &error), error);
    assert_ok(member_add(fixture->store, OTHER, ROLE_MEMBER, mailbox_of("joined@example.net"), NULL, NULL, &error),
              error);
    g_autoptr(GBytes) message = g_bytes_new_static("x", 1);
    Held held = {.list_id = (char *)LIST, .sender = (char *)"Held@example.net", .held_at = THEN, .message = message};
    assert_ok(held_add(fixture->store, &held, &error), error);
    g_assert_cmpint(expire(fixture), ==, 4); /* as nonmembers: member, prefers, verified, joined */
    for (size_t at = 0; at < G_N_ELEMENTS(all); at++)
        g_assert_true(is_known(fixture, all[at]));
    g_assert_true(is_nonmember(fixture, LIST, "made@example.net"));
    g_assert_true(is_nonmember(fixture, LIST, "judged@example.net"));
    g_assert_true(is_nonmember(fixture, LIST, "held@example.net"));
    assert_ok(held_remove(fixture->store, held.number, &error), error);
    g_assert_cmpint(expire(fixture), ==, 0); /* from now on it is kept for a while */
    int64_t removed;
    int turns = 0;
    assert_ok(stranger_expire(fixture->store, clock_now() + CLOCK_SECOND, count_turn, &turns, &removed, &error), error);
    g_assert_cmpint(removed, ==, 1);
    g_assert_false(is_known(fixture, "held@example.net"));
    g_assert_true(is_known(fixture, "joined@example.net") && is_known(fixture, "made@example.net"));
}

/* Nobody is on a list any more, but somebody has done something for the address or its user. */
static void test_cared_for(Fixture *fixture, const void *data)
{
    static const char *const all[] = {"named@example.net", "called@example.net", "first@example.net",
                                      "linked@example.net", "main@example.net"};
    GError *error = NULL;
    char id[STORE_ID_SIZE];
    for (size_t at = 0; at < G_N_ELEMENTS(all); at++)
        note(fixture, LIST, all[at], THEN);
    note(fixture, LIST, EVE, THEN);
    assert_ok(user_set_name(fixture->store, "named@example.net", "Nora", &error), error);
    assert_ok(address_set_name(fixture->store, mailbox_of("called@example.net"), "Carl", &error), error);
    assert_ok(user_set_preferred(fixture->store, mailbox_of("first@example.net"), &error), error);
    assert_ok(user_create(fixture->store, mailbox_of("bob@example.net"), NULL, id, &error), error);
    assert_ok(user_link_address(fixture->store, "bob@example.net", mailbox_of("linked@example.net"), &error), error);
    assert_ok(user_link_address(fixture->store, "main@example.net", mailbox_of("other@example.net"), &error), error);
    expire(fixture);
    for (size_t at = 0; at < G_N_ELEMENTS(all); at++)
        g_assert_true(is_known(fixture, all[at]));
    g_assert_false(is_known(fixture, EVE));
}

SUITE("stranger")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/stranger/expiry", Fixture, NULL, set_up, test_expiry, fixture_close);
    g_test_add("/stranger/on two lists", Fixture, NULL, set_up, test_two_lists, fixture_close);
    g_test_add("/stranger/wanted", Fixture, NULL, set_up, test_wanted, fixture_close);
    g_test_add("/stranger/cared for", Fixture, NULL, set_up, test_cared_for, fixture_close);
    return g_test_run();
}
