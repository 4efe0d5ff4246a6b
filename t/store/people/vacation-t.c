/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/vacation.h"

#include <time.h>

#include "t/store/fixture.h"
#include "t/suite.h"

#define LIST "test.example.com"

static Member *anne(Fixture *fixture)
{
    GError *error = NULL;
    Member *member = member_find(fixture->store, LIST, ROLE_MEMBER, mailbox_of("anne@example.org"), &error);
    g_assert_no_error(error);
    return member;
}

static int status(Fixture *fixture)
{
    g_autoptr(Member) member = anne(fixture);
    return member->effective.delivery_status;
}

static void open_with_anne(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    fixture_open_list(fixture, data);
    assert_ok(member_add(fixture->store, LIST, ROLE_MEMBER, mailbox_of("anne@example.org"), NULL, NULL, &error), error);
}

static void test_turns(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    int64_t changed;
    Vacation found;
    g_autoptr(Member) member = anne(fixture);
    assert_ok(vacation_set(fixture->store, member->id, 200, 300, 100, &error), error);
    g_assert_cmpint(status(fixture), ==, DELIVERY_ENABLED);
    assert_ok(vacation_turn(fixture->store, 200, &changed, &error), error);
    g_assert_cmpint(changed, ==, 1);
    g_assert_cmpint(status(fixture), ==, DELIVERY_BY_USER);
    assert_ok(vacation_find(fixture->store, member->id, &found, &error), error);
    g_assert_true(found.begun && found.begins_at == 200 && found.ends_at == 300);
    assert_ok(vacation_turn(fixture->store, 299, &changed, &error), error);
    g_assert_cmpint(changed, ==, 0);
    assert_ok(vacation_turn(fixture->store, 300, &changed, &error), error);
    g_assert_cmpint(changed, ==, 1);
    g_assert_cmpint(status(fixture), ==, DELIVERY_ENABLED);
    assert_ok(vacation_find(fixture->store, member->id, &found, &error), error);
    g_assert_cmpint(found.ends_at, ==, 0);
}

static void test_at_once_and_back(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_autoptr(Member) member = anne(fixture);
    assert_ok(vacation_set(fixture->store, member->id, 50, 300, 100, &error), error);
    g_assert_cmpint(status(fixture), ==, DELIVERY_BY_USER);
    assert_ok(vacation_set(fixture->store, member->id, 200, 300, 100, &error), error); /* later after all */
    g_assert_cmpint(status(fixture), ==, DELIVERY_ENABLED);
    assert_ok(vacation_set(fixture->store, member->id, 50, 300, 100, &error), error);
    assert_ok(vacation_end(fixture->store, member->id, &error), error);
    g_assert_cmpint(status(fixture), ==, DELIVERY_ENABLED);
    assert_ok(vacation_end(fixture->store, member->id, &error), error);
    g_assert_false(vacation_set(fixture->store, member->id, 300, 200, 100, &error));
    assert_failed(FAIL_NEVER, error);
    g_assert_false(vacation_set(fixture->store, member->id, 10, 90, 100, &error));
    assert_failed(FAIL_NEVER, error);
    g_assert_false(vacation_set(fixture->store, "nobody", 10, 190, 100, &error));
    assert_failed(FAIL_MISSING, error);
}

/* Check that a member who is off for another reason stays so; one who switches delivery on ends the vacation. */
static void test_others_decide(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    Vacation found;
    Preferences own = preferences_unset;
    g_autoptr(Member) member = anne(fixture);
    own.delivery_status = DELIVERY_BY_BOUNCES;
    assert_ok(member_set_preferences(fixture->store, LIST, ROLE_MEMBER, mailbox_of("anne@example.org"), &own, &error),
              error);
    assert_ok(vacation_set(fixture->store, member->id, 50, 300, 100, &error), error);
    g_assert_cmpint(status(fixture), ==, DELIVERY_BY_BOUNCES);
    assert_ok(vacation_turn(fixture->store, 300, NULL, &error), error);
    g_assert_cmpint(status(fixture), ==, DELIVERY_BY_BOUNCES);
    own.delivery_status = DELIVERY_BY_USER;
    assert_ok(member_set_preferences(fixture->store, LIST, ROLE_MEMBER, mailbox_of("anne@example.org"), &own, &error),
              error);
    assert_ok(vacation_set(fixture->store, member->id, 320, 340, 310, &error), error);
    assert_ok(vacation_turn(fixture->store, 345, NULL, &error), error); /* nobody looked while it lasted */
    g_assert_cmpint(status(fixture), ==, DELIVERY_BY_USER);
    assert_ok(vacation_set(fixture->store, member->id, 350, 500, 400, &error), error);
    own.delivery_status = DELIVERY_ENABLED;
    assert_ok(member_set_preferences(fixture->store, LIST, ROLE_MEMBER, mailbox_of("anne@example.org"), &own, &error),
              error);
    assert_ok(vacation_find(fixture->store, member->id, &found, &error), error);
    g_assert_cmpint(found.ends_at, ==, 0);
    assert_ok(vacation_set(fixture->store, member->id, 350, 500, 400, &error), error);
    assert_ok(member_remove(fixture->store, LIST, ROLE_MEMBER, mailbox_of("anne@example.org"), &error), error);
    assert_ok(vacation_turn(fixture->store, 600, NULL, &error), error);
}

/* ---- all lists of a person ---- */

#define ANNE "anne@example.org"
#define BOB "bob@example.org"

static void join(Fixture *fixture, const char *list_id, const char *address, DeliveryStatus status)
{
    GError *error = NULL;
    Preferences own = preferences_unset;
    own.delivery_status = status == DELIVERY_ENABLED ? -1 : (int)status;
    assert_ok(member_add(fixture->store, list_id, ROLE_MEMBER, mailbox_of(address), NULL, &own, &error), error);
}

/* Anne is on the first list, with an address of hers on the others, each stopped for another reason; Bob is on all. */
static void open_with_lists(Fixture *fixture, const void *data)
{
    static const char *const others[] = {"bounces", "moderator", "user"};
    static const DeliveryStatus stopped[] = {DELIVERY_BY_BOUNCES, DELIVERY_BY_MODERATOR, DELIVERY_BY_USER};
    GError *error = NULL;
    open_with_anne(fixture, data);
    join(fixture, LIST, BOB, DELIVERY_ENABLED);
    assert_ok(user_link_address(fixture->store, ANNE, mailbox_of("anne@work.example"), &error), error);
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
        g_autofree char *address = g_strconcat(others[i], "@example.com", NULL);
        g_autofree char *list_id = g_strconcat(others[i], ".example.com", NULL);
        list_free(list_create(fixture->store, address, &error));
        g_assert_no_error(error);
        join(fixture, list_id, "anne@work.example", stopped[i]);
        join(fixture, list_id, BOB, stopped[i]);
    }
}

/* "0 2 3 1": of the first list, bounces, moderator, user; v: there is a vacation. */
static char *states(Fixture *fixture, const char *address, const char *other)
{
    static const char *const lists[] = {LIST, "bounces.example.com", "moderator.example.com", "user.example.com"};
    GString *all = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(lists); i++) {
        GError *error = NULL;
        Vacation found;
        g_autoptr(Member)
            member = member_find(fixture->store, lists[i], ROLE_MEMBER, mailbox_of(i ? other : address), &error);
        g_assert_no_error(error);
        assert_ok(vacation_find(fixture->store, member->id, &found, &error), error);
        g_string_append_printf(all, "%s%d%s", i ? " " : "", member->effective.delivery_status,
                               found.ends_at ? "v" : "");
    }
    return g_string_free(all, FALSE);
}

#define assert_states(anne_has)                                              \
    do {                                                                     \
        g_autofree char *anne_ = states(fixture, ANNE, "anne@work.example"); \
        g_autofree char *bob_ = states(fixture, BOB, BOB);                   \
        g_assert_cmpstr(anne_, ==, anne_has);                                \
        g_assert_cmpstr(bob_, ==, "0 2 3 1");                                \
    } while (0)

static void test_everywhere(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    Store *store = fixture->store;
    const Vacation later = {200, 300, false}, now = {50, 300, false}, over = {10, 90, false};
    assert_states("0 2 3 1");
    assert_ok(vacation_switch_everywhere(store, mailbox_of(ANNE), false, &error), error);
    assert_states("1 1 3 1");
    assert_ok(vacation_switch_everywhere(store, mailbox_of("anne@work.example"), true, &error), error);
    assert_states("0 0 3 0");
    assert_ok(vacation_set_everywhere(store, mailbox_of(ANNE), &later, 100, &error), error);
    assert_states("0v 0v 3v 0v");
    assert_ok(vacation_set_everywhere(store, mailbox_of(ANNE), &now, 100, &error), error);
    assert_states("1v 1v 3v 1v");
    assert_ok(vacation_set_everywhere(store, mailbox_of(ANNE), &later, 100, &error), error); /* later after all */
    assert_states("0v 0v 3v 0v");
    assert_ok(vacation_turn(store, 200, NULL, &error), error);
    assert_states("1v 1v 3v 1v");
    /* Stopped for good meanwhile, mail does not come when the vacation would be over. */
    assert_ok(vacation_switch_everywhere(store, mailbox_of(ANNE), false, &error), error);
    assert_ok(vacation_turn(store, 400, NULL, &error), error);
    assert_states("1 1 3 1");
    assert_ok(vacation_switch_everywhere(store, mailbox_of(ANNE), true, &error), error);
    assert_states("0 0 3 0");
    g_assert_false(vacation_set_everywhere(store, mailbox_of(ANNE), &over, 100, &error));
    assert_failed(FAIL_NEVER, error);
    assert_ok(vacation_set_everywhere(store, mailbox_of("nobody@example.org"), &now, 100, &error), error);
    assert_ok(vacation_switch_everywhere(store, mailbox_of("nobody@example.org"), false, &error), error);
    assert_states("0 0 3 0");
}

/* Processor seconds that a vacation from now on for all lists takes, then an end to it. */
static double seconds_for(Fixture *fixture, const char *address, int from, int until)
{
    GError *error = NULL;
    const Vacation away = {50, 300, false};
    Store *store = fixture->store;
    assert_ok(store_begin(store, &error), error);
    for (int i = from; i < until; i++) {
        g_autofree char *name = g_strdup_printf("many%d@example.com", i),
                        *id = g_strdup_printf("many%d.example.com", i);
        list_free(list_create(store, name, &error));
        join(fixture, id, address, DELIVERY_ENABLED);
    }
    assert_ok(store_commit(store, &error), error);
    clock_t begun = clock();
    assert_ok(vacation_set_everywhere(store, mailbox_of(address), &away, 100, &error), error);
    assert_ok(vacation_switch_everywhere(store, mailbox_of(address), true, &error), error);
    return (double)(clock() - begun) / CLOCKS_PER_SEC;
}

/* Eight times as many lists take eight times as long, not 64 times. */
static void test_everywhere_many(Fixture *fixture, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    double few = seconds_for(fixture, "few@example.org", 0, 250);
    double many = seconds_for(fixture, "many@example.org", 250, 2250);
    g_assert_cmpfloat(many, <, 30 * few + 0.05);
}

#define ADD(path, function) g_test_add(path, Fixture, NULL, open_with_anne, function, fixture_close)

SUITE("vacation")
{
    g_test_init(&argc, &argv, NULL);
    ADD("/vacation/begins and ends", test_turns);
    ADD("/vacation/at once, moved, ended early", test_at_once_and_back);
    ADD("/vacation/disabled otherwise, or enabled", test_others_decide);
    g_test_add("/vacation/all lists of a person", Fixture, NULL, open_with_lists, test_everywhere, fixture_close);
    ADD("/vacation/many lists of a person", test_everywhere_many);
    return g_test_run();
}
