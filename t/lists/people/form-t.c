/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Nobody is bombed by forms for joining, and nobody is kept out by those that others fill in. */
#include "lists/people/join.h"
#include "lists/people/leave.h"
#include "store/people/account.h"
#include "store/store_internal.h"
#include "t/lists/fixture.h"
#include "t/lists/places.h"
#include "t/suite.h"

/* form_flood-t has the whole. */
#ifndef POSTS
#define POSTS 16000
#define NETWORKS 800
#endif
#define VICTIMS 1000
#define LISTS 3
#define MOST 600
#define AT_ONCE 1000 /* posts in a transaction */
#define HOUR 3600
#define DAY (24 * HOUR)

typedef struct Flood {
    World world;
    GPtrArray *lists;
    unsigned letters[VICTIMS]; /* of the day */
    unsigned sent, limited;
} Flood;

static int64_t offset; /* seconds that the clock is put forward */

static void set_clock(int64_t seconds)
{
    offset = seconds;
    clock_put(seconds);
}

/* Just after midnight. */
static void open_flood(Flood *flood, const void *data)
{
    GError *error = NULL;
    World *world = &flood->world;
    set_clock(0);
    set_clock(DAY + 60 - clock_now() / CLOCK_SECOND % DAY);
    world_open(world, data);
    world->site.letters_per_host = 500;
    world->site.form_letters = MOST;
    world->actor = (Actor){.role = ACTOR_ADDRESS, .door = DOOR_PAGE, .from = "form"};
    flood->lists = g_ptr_array_new_with_free_func((GDestroyNotify)list_free);
    g_ptr_array_add(flood->lists, list_by_id(world->store, LIST, &error));
    g_ptr_array_add(flood->lists, list_create(world->store, "second@example.com", &error));
    g_ptr_array_add(flood->lists, list_create(world->store, "third@example.com", &error));
    g_assert_no_error(error);
}

static void close_flood(Flood *flood, const void *data)
{
    g_ptr_array_unref(flood->lists);
    world_close(&flood->world, data);
}

static char *victim_of(unsigned number)
{
    return g_strdup_printf("victim%04u@v%u.example.org", number, number % 7);
}

static SubscriptionResult post(Flood *flood, unsigned list, const char *address, const char *host)
{
    GError *error = NULL;
    g_auto(Subscription) made = {0};
    flood->world.actor.host = host;
    const List *asked = flood->lists->pdata[list];
    const Joiner joiner = {.address = mailbox_of(address)};
    SubscriptionResult taken = SUBSCRIPTION_ASKED_PERSON;
    g_autoptr(Work) form = world_work(&flood->world), work = world_work(&flood->world);
    if (flood->world.actor.door == DOOR_PAGE) {
        assert_ok(join_form_take(form, asked, &joiner, &taken, &error), error);
        g_assert_cmpuint(work_entries(form), ==, taken == SUBSCRIPTION_ASKED_PERSON);
    }
    if (taken != SUBSCRIPTION_ASKED_PERSON)
        return taken;
    assert_ok(join_ask(work, asked, &joiner, &made, &error), error);
    g_assert_cmpuint(work_entries(work), ==, made.result == SUBSCRIPTION_ASKED_PERSON); /* no letter but that */
    return made.result;
}

/* One post of the flood: each victim from very many networks, for every list, and now and then with a detail. */
static void post_one(Flood *flood, unsigned number)
{
    unsigned victim = number % VICTIMS, round = number / VICTIMS, network = number % NETWORKS;
    g_autofree char *plain = victim_of(victim), *host = g_strdup_printf("198.%u.%u.7", network >> 8, network & 255);
    g_auto(GStrv) parts = g_strsplit(plain, "@", 2);
    g_autofree char *detail = g_strdup_printf("%s+%u@%s", parts[0], round, parts[1]);
    SubscriptionResult result = post(flood, (victim + round) % LISTS, round % 4 == 3 ? detail : plain, host);
    if (result == SUBSCRIPTION_ASKED_PERSON) {
        flood->letters[victim]++;
        flood->sent++;
    } else {
        g_assert_true(result == SUBSCRIPTION_LIMITED || result == SUBSCRIPTION_PERSON_WAITS);
        flood->limited += result == SUBSCRIPTION_LIMITED;
    }
}

static void run_day(Flood *flood)
{
    GError *error = NULL;
    memset(flood->letters, 0, sizeof flood->letters);
    flood->sent = flood->limited = 0;
    for (unsigned at = 0; at < POSTS; at++) {
        if (at % AT_ONCE == 0)
            assert_ok(store_begin(flood->world.store, &error), error);
        post_one(flood, at);
        if (at % AT_ONCE == AT_ONCE - 1)
            assert_ok(store_commit(flood->world.store, &error), error);
    }
    for (unsigned victim = 0; victim < VICTIMS; victim++)
        g_assert_cmpuint(flood->letters[victim], <=, LISTS);
}

static int64_t count_rows(Flood *flood, const char *sql)
{
    GError *error = NULL;
    g_autoptr(Query) query = query_start(flood->world.store, &error, sql, NULL, 0);
    g_assert_no_error(error);
    g_assert_cmpint(query_step(query, &error), ==, STEP_ROW);
    return query_integer(query, 0);
}

static int64_t refused(Flood *flood)
{
    GError *error = NULL;
    AccountSum sum;
    assert_ok(account_sum(flood->world.store, ACCOUNT_FORM_REFUSED, clock_now(), &sum, &error), error);
    return sum.total;
}

/* Counts are of victims, networks and the site, requests of those who got a letter; all of them end. */
static void assert_bounded(Flood *flood)
{
    g_assert_cmpint(count_rows(flood, "SELECT count(*) FROM account"), <=, 2 * MOST + NETWORKS + 2);
    g_assert_cmpint(count_rows(flood, "SELECT count(*) FROM pending"), <=, 2 * MOST);
    g_assert_cmpint(count_rows(flood, "SELECT count(*) FROM autoresponse"), ==, 0);
    g_assert_cmpint(count_rows(flood, "SELECT count(*) FROM member"), ==, 1); /* the owner */
    g_assert_cmpint(count_rows(flood, "SELECT count(*) FROM address"), ==, 1);
}

static void test_flood(Flood *flood, const void *data)
{
    GError *error = NULL;
    Store *store = flood->world.store;
    for (int day = 0; day < 2; day++) {
        run_day(flood);
        g_assert_cmpuint(flood->sent, <=, MOST);
        g_assert_cmpuint(flood->limited, >=, POSTS / 2);
        g_assert_cmpint(refused(flood), >, 0);
        assert_bounded(flood);
        set_clock(offset + DAY + 2 * HOUR); /* beyond the day in which a request is not asked again */
    }
    set_clock(offset + 7 * DAY);
    assert_ok(pending_expire(store, clock_now(), NULL, &error), error);
    assert_ok(account_expire(store, clock_now(), &error), error);
    g_assert_cmpint(count_rows(flood, "SELECT count(*) FROM account"), ==, 0);
    g_assert_cmpint(count_rows(flood, "SELECT count(*) FROM pending"), ==, 0);
}

#ifndef FLOOD_ALONE

/* Forms are counted whether a letter goes or not, and cost those nothing who ask by mail. */
static void test_others(Flood *flood, const void *data)
{
    World *world = &flood->world;
    world->site.form_letters = 3;
    g_assert_cmpint(post(flood, 0, "anne@example.org", "192.0.2.1"), ==, SUBSCRIPTION_ASKED_PERSON);
    g_assert_cmpint(post(flood, 0, "anne@example.org", "192.0.2.2"), ==, SUBSCRIPTION_PERSON_WAITS);
    g_assert_cmpint(refused(flood), ==, 0);
    g_assert_cmpint(post(flood, 0, "bob@example.net", "192.0.2.1"), ==, SUBSCRIPTION_ASKED_PERSON);
    g_assert_cmpint(post(flood, 0, "carl@example.net", "192.0.2.1"), ==, SUBSCRIPTION_LIMITED);
    g_assert_cmpint(post(flood, 1, "dora@example.net", "192.0.2.1"), ==, SUBSCRIPTION_LIMITED);
    g_assert_cmpint(refused(flood), ==, 2);
    world->actor = (Actor){.role = ACTOR_ADDRESS, .door = DOOR_MAIL, .address = "carl@example.net"};
    g_assert_cmpint(post(flood, 0, "carl@example.net", "192.0.2.1"), ==, SUBSCRIPTION_ASKED_PERSON);
}

/* Forms that a stranger fills in with somebody's address, with a detail and without, leave room for those of another
 * network; all networks together are bound, too. */
static void test_of_a_stranger(Flood *flood, const void *data)
{
    static const char *const forms[] = {"anne@example.org", "an.ne+x@example.org", "anne+y@example.org"};
    flood->world.site.answers_a_day = 5;
    for (unsigned at = 0; at < G_N_ELEMENTS(forms); at++)
        g_assert_cmpint(post(flood, at, forms[at], "192.0.2.1"), ==, SUBSCRIPTION_ASKED_PERSON);
    g_assert_cmpint(post(flood, 1, "anne@example.org", "192.0.2.1"), ==, SUBSCRIPTION_LIMITED);
    g_assert_cmpint(post(flood, 1, "anne@example.org", "192.0.2.2"), ==, SUBSCRIPTION_ASKED_PERSON);
    g_assert_cmpint(post(flood, 2, "anne@example.org", "192.0.2.3"), ==, SUBSCRIPTION_ASKED_PERSON);
    g_assert_cmpint(post(flood, 2, "anne@example.org", "192.0.2.4"), ==, SUBSCRIPTION_LIMITED);
    g_assert_cmpint(post(flood, 2, "bob@example.org", "192.0.2.4"), ==, SUBSCRIPTION_ASKED_PERSON);
}

/* A form is filled in with the address of a list: all who read it would get the letter. */
static void test_own_address(Flood *flood, const void *data)
{
    g_assert_cmpint(post(flood, 0, "second@example.com", "192.0.2.1"), ==, SUBSCRIPTION_OWN_ADDRESS);
    g_assert_cmpint(post(flood, 0, "third-owner@example.com", "192.0.2.1"), ==, SUBSCRIPTION_OWN_ADDRESS);
}

static void test_network(Flood *flood, const void *data)
{
    flood->world.site.letters_per_host = 2;
    for (unsigned at = 0; at < 4; at++) {
        g_autofree char *address = victim_of(at);
        g_assert_cmpint(post(flood, 0, address, "2001:db8::1"), ==,
                        at < 2 ? SUBSCRIPTION_ASKED_PERSON : SUBSCRIPTION_LIMITED);
    }
    g_assert_cmpint(post(flood, 0, "anne@example.org", "2001:db8:0:1::1"), ==, SUBSCRIPTION_ASKED_PERSON);
}

/* By forms, members are asked about leaving more than one list on a day, but not without end. */
static void test_members(Flood *flood, const void *data)
{
    GError *error = NULL;
    World *world = &flood->world;
    static const char *const members[] = {"anne@example.org", "bob@example.org"};
    world->site.answers_a_day = 2;
    for (size_t who = 0; who < G_N_ELEMENTS(members); who++)
        for (unsigned at = 0; at < LISTS; at++) {
            const List *list = flood->lists->pdata[at];
            g_auto(Subscription) made = {0};
            assert_ok(
                member_add(world->store, list->list_id, ROLE_MEMBER, mailbox_of(members[who]), NULL, NULL, &error),
                error);
            g_autoptr(Work) work = world_work(world);
            assert_ok(leave_ask(work, list, mailbox_of(members[who]), 0, &made, &error), error);
            g_assert_cmpint(made.result, ==, at < 2 ? SUBSCRIPTION_ASKED_PERSON : SUBSCRIPTION_LIMITED);
            g_assert_cmpuint(work_entries(work), ==, at < 2);
        }
}

static void test_store_fails(Flood *flood, const void *data)
{
    GError *error = NULL;
    SubscriptionResult taken;
    if (!fixture_is_sqlite())
        return;
    assert_ok(query_all(flood->world.store, &error, NULL, "ALTER TABLE account RENAME TO away", NULL, 0), error);
    g_autoptr(Work) work = world_work(&flood->world);
    assert_ok(work_begin(work, &error), error);
    g_assert_false(join_form_take(work, flood->lists->pdata[0], &(Joiner){.address = mailbox_of("a@example.org")},
                                  &taken, &error));
    assert_failed(FAIL_LATER, error);
    work_cancel(work);
}

#endif

#define FLOOD_TEST(path, function) g_test_add(path, Flood, NULL, open_flood, function, close_flood)

SUITE("form")
{
    g_test_init(&argc, &argv, NULL);
    FLOOD_TEST("/form/a flood of posts", test_flood);
#ifndef FLOOD_ALONE
    FLOOD_TEST("/form/others are not concerned", test_others);
    FLOOD_TEST("/form/what a stranger sends", test_of_a_stranger);
    FLOOD_TEST("/form/addresses of our own", test_own_address);
    FLOOD_TEST("/form/a network", test_network);
    FLOOD_TEST("/form/members", test_members);
    FLOOD_TEST("/form/the store fails", test_store_fails);
#endif
    return clock_run_tests();
}
