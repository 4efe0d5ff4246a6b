/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test that a person who left comes back with all options, once and for thirty days; and of which domains too many
 * left. */
#include "store/people/departure.h"

#include <string.h>

#include "store/lists/topic.h"
#include "store/people/pending.h"
#include "store/people/vacation.h"
#include "t/store/fixture.h"
#include "t/store/sound.h"
#include "t/suite.h"

#define LIST "test.example.com"
#define OTHER "other.example.com"
#define ANNE "anne@example.org"
#define BOB "bob@example.org"
#define MINUTE (60 * CLOCK_SECOND)
#define NOW (20000 * INT64_C(86400) * CLOCK_SECOND)
#define BORROWED(text) ((char *)(uintptr_t)(text))

static void join(Fixture *fixture, const char *list_id, const char *address)
{
    GError *error = NULL;
    assert_ok(member_add(fixture->store, list_id, ROLE_MEMBER, mailbox_of(address), "Given", NULL, &error), error);
}

static Member *find(Fixture *fixture, const char *list_id, const char *address)
{
    return member_find(fixture->store, list_id, ROLE_MEMBER, mailbox_of(address), NULL);
}

static void depart_at(Fixture *fixture, const char *list_id, const char *address, const char *token, int64_t left_at)
{
    GError *error = NULL;
    const Departure departure = {
        .list_id = BORROWED(list_id), .address = mailbox_of(address), .way = 3, .counts = true, .left_at = left_at};
    assert_ok(departure_record(fixture->store, &departure, token, &error), error);
    assert_ok(member_remove(fixture->store, list_id, ROLE_MEMBER, mailbox_of(address), &error), error);
}

static void depart(Fixture *fixture, const char *list_id, const char *address, const char *token)
{
    depart_at(fixture, list_id, address, token, NOW);
}

static void undo(Fixture *fixture, const char *token)
{
    GError *error = NULL;
    assert_ok(departure_undo(fixture->store, token, NOW + MINUTE, &error), error);
    assert_sound(fixture);
}

static TokenFate fate_of(Fixture *fixture, const char *token, int64_t now)
{
    GError *error = NULL;
    TokenFate fate;
    g_assert_null(departure_find_token(fixture->store, token, now, &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_false(departure_undo(fixture->store, token, now, &error));
    assert_failed(FAIL_MISSING, error);
    assert_ok(pending_token_fate(fixture->store, token, now, &fate, &error), error);
    return fate;
}

static void open_two(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    fixture_open_list(fixture, data);
    list_free(list_create(fixture->store, "other@example.com", &error));
    g_assert_no_error(error);
    join(fixture, LIST, ANNE);
    join(fixture, LIST, BOB);
    join(fixture, OTHER, ANNE);
}

static void test_every_option(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    Store *store = fixture->store;
    static const char *const topics[] = {"one", "two words", NULL};
    const Preferences own = {1, 0, 0, 0, MODE_SUMMARY_DIGESTS, -1, "de"};
    assert_ok(member_set_preferences(store, LIST, ROLE_MEMBER, mailbox_of(ANNE), &own, &error), error);
    assert_ok(member_set_moderation(store, LIST, ROLE_MEMBER, mailbox_of(ANNE), ACTION_HOLD, &error), error);
    {
        g_autoptr(Member) before = find(fixture, LIST, ANNE);
        assert_ok(topic_set(store, before->id, topics, true, &error), error);
        assert_ok(vacation_set(store, before->id, NOW - MINUTE, NOW + 2 * MINUTE, NOW, &error), error);
    }
    depart(fixture, LIST, ANNE, "token");
    g_autoptr(Departure) departure = departure_find_token(store, "TOKEN", NOW, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(departure->list_id, ==, LIST);
    g_assert_cmpstr(departure->address->text, ==, ANNE);
    g_assert_cmpint(departure->way, ==, 3);
    g_assert_true(departure->counts);
    g_assert_cmpint(departure->expires_at, ==, NOW + DEPARTURE_KEPT);
    undo(fixture, "token");
    g_autoptr(Member) after = find(fixture, LIST, ANNE);
    g_auto(TopicChoice) choice = {0};
    Vacation vacation;
    g_assert_cmpstr(after->given_name, ==, "Given");
    g_assert_cmpint(after->moderation_action, ==, ACTION_HOLD);
    g_assert_true(after->own.acknowledge_posts == 1 && after->own.hide_address == 0);
    g_assert_true(after->own.receive_list_copy == 0 && after->own.receive_own_postings == 0);
    g_assert_cmpint(after->own.delivery_mode, ==, MODE_SUMMARY_DIGESTS);
    g_assert_cmpint(after->own.delivery_status, ==, DELIVERY_BY_USER);
    g_assert_cmpstr(after->own.preferred_language, ==, "de");
    assert_ok(topic_read(store, after->id, &choice, &error), error);
    g_assert_cmpstr(choice.names[1], ==, "two words");
    g_assert_true(choice.unmatched);
    assert_ok(vacation_find(store, after->id, &vacation, &error), error);
    g_assert_true(vacation.begun && vacation.ends_at == NOW + 2 * MINUTE);
    assert_ok(vacation_turn(store, NOW + 2 * MINUTE, NULL, &error), error);
    g_autoptr(Member) back = find(fixture, LIST, ANNE);
    g_assert_cmpint(back->own.delivery_status, ==, -1);
    g_autoptr(Member) bob = find(fixture, LIST, BOB);
    g_assert_true(preferences_are_unset(&bob->own) && bob->moderation_action == ACTION_UNSET);
}

/* The vacation is over when who left comes back, and bounces count no more. */
static void test_time_went_on(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    Vacation vacation;
    Preferences own = preferences_unset;
    own.delivery_status = DELIVERY_BY_BOUNCES;
    assert_ok(member_set_preferences(fixture->store, LIST, ROLE_MEMBER, mailbox_of(BOB), &own, &error), error);
    {
        g_autoptr(Member) before = find(fixture, LIST, ANNE);
        assert_ok(vacation_set(fixture->store, before->id, NOW - MINUTE, NOW + MINUTE, NOW, &error), error);
    }
    depart(fixture, LIST, ANNE, "anne");
    depart(fixture, LIST, BOB, "bob");
    undo(fixture, "anne");
    undo(fixture, "bob");
    g_autoptr(Member) anne = find(fixture, LIST, ANNE), bob = find(fixture, LIST, BOB);
    assert_ok(vacation_find(fixture->store, anne->id, &vacation, &error), error);
    g_assert_cmpint(vacation.ends_at, ==, 0);
    g_assert_cmpint(anne->own.delivery_status, ==, -1);
    g_assert_cmpint(bob->own.delivery_status, ==, -1);
}

/* By the address and by the user: both come back, each with its options, by the address that is preferred now. */
static void test_as_user(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    char id[STORE_ID_SIZE];
    Store *store = fixture->store;
    assert_ok(user_create(store, mailbox_of("carl@example.org"), "Carl", id, &error), error);
    assert_ok(address_set_verified(store, mailbox_of("carl@example.org"), NOW, &error), error);
    assert_ok(user_set_preferred(store, mailbox_of("carl@example.org"), &error), error);
    assert_ok(member_add_user(store, LIST, ROLE_MEMBER, mailbox_of("carl@example.org"), &error), error);
    depart(fixture, LIST, "carl@example.org", "first");
    undo(fixture, "first");
    {
        g_autoptr(Member) carl = find(fixture, LIST, "carl@example.org");
        g_assert_true(carl->as_user);
        assert_ok(
            member_set_moderation(store, LIST, ROLE_MEMBER, mailbox_of("carl@example.org"), ACTION_ACCEPT, &error),
            error);
    }
    join(fixture, LIST, "carl@example.org");
    depart(fixture, LIST, "carl@example.org", "second");
    g_assert_null(find(fixture, LIST, "carl@example.org"));
    assert_ok(user_link_address(store, id, mailbox_of("carl@new.example"), &error), error);
    assert_ok(address_set_verified(store, mailbox_of("carl@new.example"), NOW, &error), error);
    assert_ok(user_set_preferred(store, mailbox_of("carl@new.example"), &error), error);
    undo(fixture, "second");
    g_autoptr(Member) own = find(fixture, LIST, "carl@example.org"), users = find(fixture, LIST, "carl@new.example");
    g_assert_false(own->as_user);
    g_assert_cmpint(own->moderation_action, ==, ACTION_UNSET);
    g_assert_true(users->as_user);
    g_assert_cmpint(users->moderation_action, ==, ACTION_ACCEPT);
}

static void test_once(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    int64_t removed;
    depart(fixture, LIST, ANNE, "list");
    depart(fixture, OTHER, ANNE, "other");
    undo(fixture, "list");
    g_autoptr(Member) anne = find(fixture, LIST, ANNE);
    g_assert_nonnull(anne);
    g_assert_null(find(fixture, OTHER, ANNE));
    g_assert_cmpint(fate_of(fixture, "list", NOW + MINUTE), ==, TOKEN_USED);
    g_assert_cmpint(fate_of(fixture, "nobody's", NOW + MINUTE), ==, TOKEN_UNKNOWN);
    /* thirty days later, before and after the timer came by */
    g_assert_cmpint(fate_of(fixture, "other", NOW + DEPARTURE_KEPT), ==, TOKEN_EXPIRED);
    assert_ok(departure_expire(fixture->store, NOW + DEPARTURE_KEPT - 1, &removed, &error), error);
    g_assert_cmpint(removed, ==, 0);
    assert_ok(departure_expire(fixture->store, NOW + DEPARTURE_KEPT, &removed, &error), error);
    g_assert_cmpint(removed, ==, 1);
    g_assert_cmpint(fate_of(fixture, "other", NOW + DEPARTURE_KEPT), ==, TOKEN_EXPIRED);
    g_assert_null(find(fixture, OTHER, ANNE));
}

/* Of several departures the last counts, with a letter of its own or by that of an earlier one. */
static void test_again(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    depart(fixture, LIST, ANNE, "first");
    join(fixture, LIST, ANNE);
    g_assert_false(departure_undo(fixture->store, "first", NOW, &error));
    assert_failed(FAIL_EXISTS, error); /* a member again by other ways; the token stays good */
    depart_at(fixture, LIST, ANNE, "second", NOW + 1);
    g_assert_cmpint(fate_of(fixture, "first", NOW + 2), ==, TOKEN_REPLACED);
    join(fixture, LIST, ANNE);
    assert_ok(member_set_moderation(fixture->store, LIST, ROLE_MEMBER, mailbox_of(ANNE), ACTION_HOLD, &error), error);
    depart_at(fixture, LIST, ANNE, NULL, NOW + 2);
    undo(fixture, "second");
    g_autoptr(Member) anne = find(fixture, LIST, ANNE);
    g_assert_cmpint(anne->moderation_action, ==, ACTION_HOLD);
    const Departure stranger = {.list_id = BORROWED(OTHER), .address = mailbox_of(BOB), .left_at = NOW};
    g_assert_false(departure_record(fixture->store, &stranger, "stranger", &error));
    assert_failed(FAIL_MISSING, error);
}

/* Somebody else took the address off the list; it asked to be forgotten; the list is gone and made anew. */
static void test_no_more(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    depart(fixture, LIST, ANNE, "list");
    depart(fixture, OTHER, ANNE, "other");
    depart(fixture, LIST, BOB, "bob");
    assert_ok(departure_withdraw(fixture->store, LIST, mailbox_of(ANNE), &error), error);
    assert_ok(departure_withdraw(fixture->store, LIST, mailbox_of("nobody@example.org"), &error), error);
    g_assert_cmpint(fate_of(fixture, "list", NOW), ==, TOKEN_EXPIRED);
    assert_ok(address_remove(fixture->store, mailbox_of(BOB), &error), error);
    g_assert_cmpint(fate_of(fixture, "bob", NOW), ==, TOKEN_UNKNOWN);
    assert_ok(list_remove(fixture->store, OTHER, &error), error);
    list_free(list_create(fixture->store, "other@example.com", &error));
    g_assert_no_error(error);
    g_assert_cmpint(fate_of(fixture, "other", NOW), ==, TOKEN_UNKNOWN);
}

static int64_t counted(Fixture *fixture, const char *list_id, const char *domain, int64_t since)
{
    GError *error = NULL;
    int64_t count;
    assert_ok(departure_count(fixture->store, list_id, domain, since, &count, &error), error);
    return count;
}

static int64_t members(Fixture *fixture, const char *domain, int64_t most)
{
    GError *error = NULL;
    int64_t count;
    assert_ok(member_count_at(fixture->store, LIST, domain, most, &count, &error), error);
    return count;
}

static void test_counts(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    join(fixture, LIST, "x@example.org.au");
    join(fixture, LIST, "x@sub.example.org");
    g_assert_cmpint(members(fixture, "example.org", 100), ==, 2);
    g_assert_cmpint(members(fixture, "example.org", 1), ==, 1);
    depart(fixture, LIST, ANNE, "list");
    depart(fixture, OTHER, ANNE, "other");
    depart(fixture, LIST, "x@sub.example.org", "sub");
    const Departure answered = {.list_id = BORROWED(LIST), .address = mailbox_of(BOB), .left_at = NOW};
    assert_ok(departure_record(fixture->store, &answered, "bob", &error), error); /* counts for nothing */
    g_assert_cmpint(counted(fixture, LIST, "example.org", NOW - 1), ==, 1);
    g_assert_cmpint(counted(fixture, LIST, "example.org", NOW), ==, 0);
    undo(fixture, "list");
    g_assert_cmpint(counted(fixture, LIST, "example.org", NOW - 1), ==, 0);
    g_assert_cmpint(counted(fixture, OTHER, "example.org", NOW - 1), ==, 1);
}

static LeaveBrake close_brake(Fixture *fixture, const char *domain, int64_t gone, int64_t now)
{
    GError *error = NULL;
    LeaveBrake brake = {.closed_until = now + 10 * MINUTE, .gone = gone};
    assert_ok(leave_brake_close(fixture->store, LIST, domain, &brake, now, &error), error);
    assert_ok(leave_brake_find(fixture->store, LIST, domain, &brake, &error), error);
    return brake;
}

static bool told(Fixture *fixture, const char *domain, int64_t now)
{
    GError *error = NULL;
    bool due;
    assert_ok(leave_brake_tell(fixture->store, LIST, domain, now, &due, &error), error);
    return due;
}

static void test_brake(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    int64_t closed, waiting;
    LeaveBrake brake = {1, 1, 1};
    assert_ok(leave_brake_find(fixture->store, LIST, "example.org", &brake, &error), error);
    g_assert_cmpint(brake.closed_until, ==, 0);
    brake = close_brake(fixture, "example.org", 10, NOW);
    g_assert_true(brake.closed_until == NOW + 10 * MINUTE && brake.gone == 10 && brake.waiting == 1);
    brake = close_brake(fixture, "example.org", 99, NOW + MINUTE);
    g_assert_true(brake.closed_until == NOW + 11 * MINUTE && brake.gone == 10 && brake.waiting == 2);
    close_brake(fixture, "example.net", 20, NOW + MINUTE);
    assert_ok(leave_brake_sum(fixture->store, NOW + 2 * MINUTE, &closed, &waiting, &error), error);
    g_assert_true(closed == 2 && waiting == 3);
    g_assert_true(told(fixture, "example.org", NOW));
    g_assert_false(told(fixture, "example.org", NOW + 59 * MINUTE));
    g_assert_false(told(fixture, "example.net", NOW + 59 * MINUTE)); /* the owners are the same */
    g_assert_true(told(fixture, "example.net", NOW + 60 * MINUTE));
    brake = close_brake(fixture, "example.org", 30, NOW + 30 * MINUTE); /* it was open */
    g_assert_true(brake.gone == 30 && brake.waiting == 1);
    assert_ok(leave_brake_expire(fixture->store, NOW + 20 * MINUTE, &error), error);
    assert_ok(leave_brake_sum(fixture->store, NOW, &closed, &waiting, &error), error);
    g_assert_true(closed == 1 && waiting == 1);
}

#define DEPARTURE_TEST(path, function) g_test_add(path, Fixture, NULL, open_two, function, fixture_close)

SUITE("departure")
{
    g_test_init(&argc, &argv, NULL);
    DEPARTURE_TEST("/departure/every-option", test_every_option);
    DEPARTURE_TEST("/departure/time-went-on", test_time_went_on);
    DEPARTURE_TEST("/departure/as-user", test_as_user);
    DEPARTURE_TEST("/departure/once", test_once);
    DEPARTURE_TEST("/departure/again", test_again);
    DEPARTURE_TEST("/departure/no-more", test_no_more);
    DEPARTURE_TEST("/departure/counts", test_counts);
    DEPARTURE_TEST("/departure/brake", test_brake);
    return g_test_run();
}
