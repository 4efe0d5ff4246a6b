/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/people/ban.h"

#include "lists/people/join.h"
#include "t/lists/fixture.h"
#include "t/suite.h"

static SubscriptionResult join(World *world, const char *address, unsigned facts)
{
    GError *error = NULL;
    g_auto(Subscription) made = {0};
    g_autoptr(Work) work = world_work(world);
    Joiner joiner = {.address = mailbox_of(address), .facts = facts};
    assert_ok(join_ask(work, world->list, &joiner, &made, &error), error);
    g_autofree char *letters = world_letters(world, work);
    g_assert_true(made.result != SUBSCRIPTION_BANNED || strlen(letters) == 0);
    return made.result;
}

static void impose(World *world, const List *list, const char *email)
{
    GError *error = NULL;
    g_autoptr(Work) work = world_work(world);
    assert_ok(ban_impose(work, list, email, &error), error);
}

static void test_join(World *world, const void *data)
{
    GError *error = NULL;
    unsigned all = FACT_VERIFIED | FACT_CONFIRMED | FACT_APPROVED;
    impose(world, world->list, "eve@example.net");
    impose(world, NULL, "^mallory@");
    g_assert_cmpint(join(world, "Eve@example.net", 0), ==, SUBSCRIPTION_BANNED);
    g_assert_cmpint(join(world, "eve@example.net", all), ==, SUBSCRIPTION_BANNED);
    g_assert_cmpint(join(world, "mallory@example.org", all), ==, SUBSCRIPTION_BANNED);
    g_assert_cmpint(join(world, "anne@example.org", all), ==, SUBSCRIPTION_DONE);
    g_autoptr(Work) work = world_work(world);
    assert_ok(ban_lift(work, world->list, "eve@example.net", &error), error);
    g_assert_cmpint(join(world, "eve@example.net", all), ==, SUBSCRIPTION_DONE);
    g_assert_false(ban_lift(work, world->list, "eve@example.net", &error));
    assert_failed(FAIL_MISSING, error);
}

/* The site learns nothing of somebody whose request is refused, though the caller vouches for the address. */
static void test_refused_unknown(World *world, const void *data)
{
    GError *error = NULL;
    g_auto(Subscription) refused = {0}, asked = {0};
    Joiner joiner = {.address = mailbox_of("eve@example.net"), .facts = FACT_VERIFIED, .registers = true};
    g_autoptr(Work) work = world_work(world);
    impose(world, world->list, "eve@example.net");
    assert_ok(join_ask(work, world->list, &joiner, &refused, &error), error);
    g_assert_cmpint(refused.result, ==, SUBSCRIPTION_BANNED);
    g_assert_null(user_find(world->store, "eve@example.net", &error));
    assert_failed(FAIL_MISSING, error);
    joiner.address = mailbox_of("anne@example.org");
    assert_ok(join_ask(work, world->list, &joiner, &asked, &error), error);
    g_assert_cmpint(asked.result, ==, SUBSCRIPTION_ASKED_PERSON);
    g_assert_cmpint(asked.request, >, 0);
    g_autoptr(User) anne = user_find(world->store, "anne@example.org", &error);
    assert_ok(anne != NULL, error);
    g_assert_cmpint(fixture_verified_at(world->store, "anne@example.org"), >, 0);
    g_autofree char *letters = world_letters(world, work);
}

/* An address may look like a pattern, and a poster choose it for that. */
static void test_address_like_a_pattern(World *world, const void *data)
{
    GError *error = NULL;
    unsigned all = FACT_VERIFIED | FACT_CONFIRMED | FACT_APPROVED;
    g_autoptr(Work) work = world_work(world);
    assert_ok(ban_address(work, world->list, "^.*@example.org", &error), error);
    assert_ok(ban_address(work, world->list, "^.*@example.org", &error), error);
    g_assert_cmpint(join(world, "^.*@example.org", all), ==, SUBSCRIPTION_BANNED);
    g_assert_cmpint(join(world, "anne@example.org", all), ==, SUBSCRIPTION_DONE);
    g_assert_false(ban_address(work, world->list, "nonsense", &error));
    assert_failed(FAIL_NEVER, error);
}

static void test_banned_while_asked(World *world, const void *data)
{
    GError *error = NULL;
    g_auto(Subscription) made = {0}, answered = {0};
    g_autoptr(Work) work = world_work(world);
    assert_ok(join_ask(work, world->list, &(Joiner){.address = mailbox_of("eve@example.net")}, &made, &error), error);
    g_assert_cmpint(made.result, ==, SUBSCRIPTION_ASKED_PERSON);
    g_autofree char *letters = world_letters(world, work);
    impose(world, world->list, "eve@example.net");
    g_autofree char *token = world_token(letters);
    assert_ok(confirm_token(work, world->list, token, CONSENT_ANSWER, &answered, &error), error);
    g_assert_cmpint(answered.result, ==, SUBSCRIPTION_BANNED);
    g_assert_null(member_find(world->store, LIST, ROLE_MEMBER, mailbox_of("eve@example.net"), NULL));
}

SUITE("ban")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/ban/join", World, NULL, world_open, test_join, world_close);
    g_test_add("/ban/address like a pattern", World, NULL, world_open, test_address_like_a_pattern, world_close);
    g_test_add("/ban/banned while asked", World, NULL, world_open, test_banned_while_asked, world_close);
    g_test_add("/ban/refused and unknown", World, NULL, world_open, test_refused_unknown, world_close);
    return g_test_run();
}
