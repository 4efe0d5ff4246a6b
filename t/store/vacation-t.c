/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/vacation.h"

#include "t/store/fixture.h"

#define LIST "test.example.com"

static Member *anne(Fixture *fixture)
{
    GError *error = NULL;
    Member *member = member_find(fixture->store, LIST, ROLE_MEMBER, "anne@example.org", &error);
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
    assert_ok(member_add(fixture->store, LIST, ROLE_MEMBER, "anne@example.org", NULL, NULL, &error), error);
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

/* Who is off for another reason stays so; who switches delivery on ends the vacation. */
static void test_others_decide(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    Vacation found;
    Preferences own = preferences_unset;
    g_autoptr(Member) member = anne(fixture);
    own.delivery_status = DELIVERY_BY_BOUNCES;
    assert_ok(member_set_preferences(fixture->store, LIST, ROLE_MEMBER, "anne@example.org", &own, &error), error);
    assert_ok(vacation_set(fixture->store, member->id, 50, 300, 100, &error), error);
    g_assert_cmpint(status(fixture), ==, DELIVERY_BY_BOUNCES);
    assert_ok(vacation_turn(fixture->store, 300, NULL, &error), error);
    g_assert_cmpint(status(fixture), ==, DELIVERY_BY_BOUNCES);
    own.delivery_status = DELIVERY_BY_USER;
    assert_ok(member_set_preferences(fixture->store, LIST, ROLE_MEMBER, "anne@example.org", &own, &error), error);
    assert_ok(vacation_set(fixture->store, member->id, 320, 340, 310, &error), error);
    assert_ok(vacation_turn(fixture->store, 345, NULL, &error), error); /* nobody looked while it lasted */
    g_assert_cmpint(status(fixture), ==, DELIVERY_BY_USER);
    assert_ok(vacation_set(fixture->store, member->id, 350, 500, 400, &error), error);
    own.delivery_status = DELIVERY_ENABLED;
    assert_ok(member_set_preferences(fixture->store, LIST, ROLE_MEMBER, "anne@example.org", &own, &error), error);
    assert_ok(vacation_find(fixture->store, member->id, &found, &error), error);
    g_assert_cmpint(found.ends_at, ==, 0);
    assert_ok(vacation_set(fixture->store, member->id, 350, 500, 400, &error), error);
    assert_ok(member_remove(fixture->store, LIST, ROLE_MEMBER, "anne@example.org", &error), error);
    assert_ok(vacation_turn(fixture->store, 600, NULL, &error), error);
}

#define ADD(path, function) g_test_add(path, Fixture, NULL, open_with_anne, function, fixture_close)

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("/vacation/begins and ends", test_turns);
    ADD("/vacation/at once, moved, ended early", test_at_once_and_back);
    ADD("/vacation/disabled otherwise, or enabled", test_others_decide);
    return g_test_run();
}
