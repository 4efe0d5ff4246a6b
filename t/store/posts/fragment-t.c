/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <sqlite3.h>
#include <string.h>

#include "store/posts/fragment.h"
#include "store/store_internal.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define LIST "test.example.com"
#define KEY(digit) digit "123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ENTRY(digit) digit "bcdef0123456789abcdef0123456789abcdef012"

static const FragmentChoice every = {.every_state = true};

static void open_one(Fixture *fixture, const char *key, const char *sender, const char *host, int64_t at)
{
    GError *error = NULL;
    FragmentSet set = {.key = (char *)key, .list_id = (char *)LIST, .sender = (char *)sender, .id = (char *)"id@x",
                       .host = (char *)host, .opened_at = at, .expires_at = at + 100};
    assert_ok(fragment_open(fixture->store, &set, &error), error);
}

static void add_one(Fixture *fixture, const char *key, int64_t number, const char *entry, int64_t total)
{
    GError *error = NULL;
    FragmentPart part = {.number = number, .octets = 10, .entry = (char *)entry, .digest = (char *)"d"};
    assert_ok(fragment_add(fixture->store, key, &part, total, &error), error);
}

static void test_life(Fixture *fixture, gconstpointer data)
{
    GError *error = NULL;
    open_one(fixture, KEY("a"), "anne@example.org", "h1", 1000);
    add_one(fixture, KEY("a"), 2, ENTRY("2"), 0);
    add_one(fixture, KEY("a"), 1, ENTRY("1"), 3);
    g_autoptr(FragmentSet) set = fragment_find(fixture->store, KEY("a"), &error);
    g_assert_no_error(error);
    g_assert_cmpstr(set->list_id, ==, LIST);
    g_assert_cmpstr(set->sender, ==, "anne@example.org");
    g_assert_cmpstr(set->host, ==, "h1");
    g_assert_cmpint(set->state, ==, FRAGMENT_OPEN);
    g_assert_cmpint(set->total, ==, 3);
    g_assert_cmpint(set->parts, ==, 2);
    g_assert_cmpint(set->octets, ==, 20);
    g_assert_cmpint(set->expires_at, ==, 1100);
    g_autoptr(GPtrArray) parts = fragment_parts(fixture->store, KEY("a"), &error);
    g_assert_cmpuint(parts->len, ==, 2);
    g_assert_cmpint(((FragmentPart *)parts->pdata[0])->number, ==, 1);
    g_autoptr(FragmentSet) by_entry = fragment_find_entry(fixture->store, ENTRY("2"), &error);
    g_assert_cmpstr(by_entry->key, ==, KEY("a"));
    assert_ok(fragment_remove(fixture->store, KEY("a"), parts->pdata[1], &error), error);
    assert_ok(fragment_remove(fixture->store, KEY("a"), parts->pdata[1], &error), error);
    const FragmentEnd ending = {FRAGMENT_JOINED, 1050, ENTRY("1"), NULL};
    assert_ok(fragment_end(fixture->store, KEY("a"), &ending, &error), error);
    assert_ok(fragment_settle(fixture->store, KEY("a"), &error), error);
    g_autoptr(FragmentSet) ended = fragment_find(fixture->store, KEY("a"), &error);
    g_assert_cmpint(ended->parts, ==, 1);
    g_assert_cmpint(ended->octets, ==, 10);
    g_assert_cmpint(ended->state, ==, FRAGMENT_JOINED);
    g_assert_true(ended->settled);
    g_assert_cmpstr(ended->joined_by, ==, ENTRY("1"));
}

static void test_refusals(Fixture *fixture, gconstpointer data)
{
    GError *error = NULL;
    open_one(fixture, KEY("a"), "a@x", "h1", 1);
    add_one(fixture, KEY("a"), 1, ENTRY("1"), 0);
    FragmentSet again = {.key = (char *)KEY("a"), .list_id = (char *)LIST, .sender = (char *)"", .id = (char *)"",
                         .host = (char *)""};
    g_assert_false(fragment_open(fixture->store, &again, &error));
    assert_failed(FAIL_EXISTS, error);
    FragmentPart part = {.number = 1, .octets = 1, .entry = (char *)ENTRY("2"), .digest = (char *)"d"};
    g_assert_false(fragment_add(fixture->store, KEY("a"), &part, 0, &error));
    assert_failed(FAIL_EXISTS, error);
    part = (FragmentPart){.number = 2, .octets = 1, .entry = (char *)ENTRY("1"), .digest = (char *)"d"};
    g_assert_false(fragment_add(fixture->store, KEY("a"), &part, 0, &error));
    assert_failed(FAIL_EXISTS, error);
    again.list_id = (char *)"none.example.com";
    again.key = (char *)KEY("b");
    g_assert_false(fragment_open(fixture->store, &again, &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_null(fragment_find(fixture->store, KEY("b"), &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_null(fragment_find_part(fixture->store, KEY("a"), 2, &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_false(fragment_end(fixture->store, KEY("b"), &(FragmentEnd){FRAGMENT_EXPIRED, 1, NULL, NULL}, &error));
    assert_failed(FAIL_MISSING, error);
}

static void test_prefix(Fixture *fixture, gconstpointer data)
{
    GError *error = NULL;
    open_one(fixture, KEY("a"), "a@x", "h1", 1);
    open_one(fixture, "a1234" "0000000000000000000000000000000000000000000000000000000000f", "a@x", "h1", 1);
    g_autoptr(FragmentSet) one = fragment_find_prefix(fixture->store, "a12345", &error);
    g_assert_no_error(error);
    g_assert_cmpstr(one->key, ==, KEY("a"));
    static const struct {
        const char *text;
        FailCode code;
    } cases[] = {{"a1234", FAIL_NEVER}, {"b123", FAIL_MISSING}, {"a12", FAIL_NEVER},
                 {"", FAIL_NEVER},      {"xyzz", FAIL_NEVER},   {"A12345", FAIL_NEVER}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_assert_null(fragment_find_prefix(fixture->store, cases[i].text, &error));
        g_assert_error(error, FAIL, (int)cases[i].code);
        g_clear_error(&error);
    }
}

static bool count_set(const FragmentSet *set, void *data)
{
    ++*(int *)data;
    return true;
}

static void test_counts(Fixture *fixture, gconstpointer data)
{
    GError *error = NULL;
    open_one(fixture, KEY("a"), "a@x", "h1", 50);
    open_one(fixture, KEY("b"), "a@x", "h2", 40);
    open_one(fixture, KEY("c"), "\xff@x", "h1", 30);
    open_one(fixture, KEY("d"), "a@x", "h1", 20);
    add_one(fixture, KEY("a"), 1, ENTRY("1"), 0);
    const FragmentEnd ending = {FRAGMENT_QUARANTINED, 60, NULL, "why"};
    assert_ok(fragment_end(fixture->store, KEY("d"), &ending, &error), error);
    FragmentCount count;
    assert_ok(fragment_count(fixture->store, "h1", &count, &error), error);
    g_assert_cmpint(count.sets, ==, 2);
    g_assert_cmpint(count.parts, ==, 1);
    g_assert_cmpint(count.octets, ==, 10);
    g_assert_cmpint(count.oldest, ==, 30);
    assert_ok(fragment_count(fixture->store, NULL, &count, &error), error);
    g_assert_cmpint(count.sets, ==, 3);
    int64_t sets;
    assert_ok(fragment_count_list(fixture->store, LIST, 100, &sets, &error), error);
    g_assert_cmpint(sets, ==, 3);
    assert_ok(fragment_count_list(fixture->store, LIST, 2, &sets, &error), error);
    g_assert_cmpint(sets, ==, 2);
    assert_ok(fragment_count_sender(fixture->store, "a@x", 100, &sets, &error), error);
    g_assert_cmpint(sets, ==, 2);
    assert_ok(fragment_count_sender(fixture->store, "\xff@x", 100, &sets, &error), error);
    g_assert_cmpint(sets, ==, 1);
    int seen = 0;
    const FragmentChoice choice = {.list_id = LIST, .host = "h1"};
    assert_ok(fragment_each(fixture->store, &choice, count_set, &seen, &error), error);
    g_assert_cmpint(seen, ==, 2);
    seen = 0;
    assert_ok(fragment_each(fixture->store, &every, count_set, &seen, &error), error);
    g_assert_cmpint(seen, ==, 4);
}

/* ---- what waits is counted as it changes ---- */

typedef struct Sum {
    const char *host;
    FragmentCount count;
} Sum;

static bool add_up(const FragmentSet *set, void *data)
{
    Sum *sum = data;
    if (set->state != FRAGMENT_OPEN || (sum->host && strcmp(set->host, sum->host) != 0))
        return true;
    sum->count.sets++;
    sum->count.parts += set->parts;
    sum->count.octets += set->octets;
    sum->count.oldest = sum->count.oldest == 0 ? set->opened_at : MIN(sum->count.oldest, set->opened_at);
    return true;
}

static void check_count(Fixture *fixture, const char *host)
{
    GError *error = NULL;
    Sum sum = {.host = host};
    FragmentCount count;
    assert_ok(fragment_each(fixture->store, &every, add_up, &sum, &error), error);
    assert_ok(fragment_count(fixture->store, host, &count, &error), error);
    g_assert_cmpint(count.sets, ==, sum.count.sets);
    g_assert_cmpint(count.parts, ==, sum.count.parts);
    g_assert_cmpint(count.octets, ==, sum.count.octets);
    g_assert_cmpint(count.oldest, ==, sum.count.oldest);
}

static void put_key(char key[FRAGMENT_KEY_DIGITS + 1], guint number)
{
    g_snprintf(key, FRAGMENT_KEY_DIGITS + 1, "%064x", number);
}

static void do_something(Fixture *fixture, guint set)
{
    static const char *const hosts[] = {"h1", "h2", "h3"};
    char key[FRAGMENT_KEY_DIGITS + 1];
    g_autofree char *entry = g_strdup_printf("%040x", g_test_rand_int());
    FragmentPart part = {.number = g_test_rand_int_range(1, 6), .octets = g_test_rand_int_range(0, 9), .entry = entry,
                         .digest = (char *)"d"};
    FragmentEnd end = {.state = (FragmentState)g_test_rand_int_range(0, 6), .time = 7};
    put_key(key, set);
    FragmentSet fresh = {.key = key, .list_id = (char *)LIST, .sender = (char *)"a@x", .id = (char *)"i",
                         .host = (char *)hosts[set % 3], .opened_at = 1 + g_test_rand_int_range(0, 500),
                         .expires_at = g_test_rand_int_range(500, 1000)};
    g_autoptr(FragmentPart) found = NULL;
    switch (g_test_rand_int_range(0, 8)) {
    case 0:
    case 1:
        fragment_open(fixture->store, &fresh, NULL); /* also when it is there */
        break;
    case 2:
        fragment_end(fixture->store, key, &end, NULL);
        break;
    case 3:
        found = fragment_find_part(fixture->store, key, part.number, NULL);
        if (found)
            g_assert_true(fragment_remove(fixture->store, key, found, NULL));
        break;
    case 4:
        g_assert_true(fragment_forget(fixture->store, g_test_rand_int_range(0, 520), NULL));
        break;
    case 5:
        fragment_settle(fixture->store, key, NULL);
        break;
    default:
        fragment_add(fixture->store, key, &part, 0, NULL);
    }
}

static void test_counts_always(Fixture *fixture, gconstpointer data)
{
    GError *error = NULL;
    for (int step = 0; step < 1500; step++) {
        do_something(fixture, (guint)g_test_rand_int_range(0, 12));
        if (step % 10 == 0) {
            check_count(fixture, NULL);
            check_count(fixture, "h1");
        }
        check_count(fixture, step % 2 ? "h2" : "h3");
    }
    assert_ok(list_remove(fixture->store, LIST, &error), error);
    check_count(fixture, NULL);
    check_count(fixture, "h1");
}

/* Return what the database did since the last time, in its own steps. */
static int take_steps(Fixture *fixture)
{
    sqlite3 *connection = *(sqlite3 **)store_connection(fixture->store); /* its first member */
    int steps = 0;
    for (sqlite3_stmt *one = NULL; (one = sqlite3_next_stmt(connection, one));)
        steps += sqlite3_stmt_status(one, SQLITE_STMTSTATUS_VM_STEP, 1);
    return steps;
}

static bool see_set(const FragmentSet *set, void *data)
{
    return true;
}

/* Return the cost of all that is asked for with every batch, at a start, by the door or by the hour. */
static int cost(Fixture *fixture)
{
    FragmentCount count;
    int64_t sets;
    take_steps(fixture);
    g_assert_true(fragment_count(fixture->store, "h1", &count, NULL));
    g_assert_true(fragment_count(fixture->store, NULL, &count, NULL));
    g_assert_true(fragment_count_list(fixture->store, LIST, 10, &sets, NULL));
    g_assert_true(fragment_count_sender(fixture->store, "a@x", 10, &sets, NULL));
    g_assert_true(fragment_each_unsettled(fixture->store, "h1", see_set, NULL, NULL));
    g_assert_true(fragment_forget(fixture->store, 100, NULL));
    return take_steps(fixture);
}

/* It costs the same however many sets are open or remembered. */
static void test_cost(Fixture *fixture, gconstpointer data)
{
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    int costs[2];
    char key[FRAGMENT_KEY_DIGITS + 1];
    guint made = 0;
    for (guint round = 0; round < 2; round++) {
        assert_ok(store_begin(fixture->store, &error), error);
        for (; made < (round == 0 ? 50 : 5000); made++) {
            put_key(key, made);
            open_one(fixture, key, "a@x", "h1", 1000 + made);
            const FragmentEnd end = {.state = FRAGMENT_JOINED + made % 3, .time = 200 + made};
            if (made % 2)
                assert_ok(fragment_end(fixture->store, key, &end, &error), error);
            if (end.state == FRAGMENT_JOINED)
                assert_ok(fragment_settle(fixture->store, key, &error), error);
        }
        assert_ok(store_commit(fixture->store, &error), error);
        costs[round] = cost(fixture);
    }
    g_test_message("%d steps, %d with a hundred times as many sets", costs[0], costs[1]);
    g_assert_cmpint(costs[1], <=, costs[0] + costs[0] / 10);
}

/* Ended before, or open and long expired. */
static void test_forget(Fixture *fixture, gconstpointer data)
{
    GError *error = NULL;
    open_one(fixture, KEY("a"), "a@x", "h1", 1000);
    open_one(fixture, KEY("b"), "a@x", "h1", 1000);
    open_one(fixture, KEY("c"), "a@x", "h1", 1);
    add_one(fixture, KEY("c"), 1, ENTRY("1"), 0);
    const FragmentEnd ending = {FRAGMENT_EXPIRED, 500, NULL, NULL};
    assert_ok(fragment_end(fixture->store, KEY("b"), &ending, &error), error);
    assert_ok(fragment_forget(fixture->store, 501, &error), error);
    int seen = 0;
    assert_ok(fragment_each(fixture->store, &every, count_set, &seen, &error), error);
    g_assert_cmpint(seen, ==, 1);
    g_assert_null(fragment_find_entry(fixture->store, ENTRY("1"), &error));
    assert_failed(FAIL_MISSING, error);
    assert_ok(list_remove(fixture->store, LIST, &error), error);
    seen = 0;
    assert_ok(fragment_each(fixture->store, &every, count_set, &seen, &error), error);
    g_assert_cmpint(seen, ==, 0);
}

SUITE("fragment")
{
    g_test_init(&argc, &argv, NULL);
    TEST_WITH_LIST("/fragment/life", test_life);
    TEST_WITH_LIST("/fragment/refusals", test_refusals);
    TEST_WITH_LIST("/fragment/prefix", test_prefix);
    TEST_WITH_LIST("/fragment/counts", test_counts);
    TEST_WITH_LIST("/fragment/counts-always", test_counts_always);
    TEST_WITH_LIST("/fragment/cost", test_cost);
    TEST_WITH_LIST("/fragment/forget", test_forget);
    return g_test_run();
}
