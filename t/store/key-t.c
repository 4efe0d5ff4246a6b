/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Keys, and ids made of them. */
#include <string.h>

#include "base/clock.h"
#include "store/lists/list.h"
#include "store/moving/carry.h"
#include "store/people/member.h"
#include "store/store_internal.h"
#include "t/store/fixture.h"
#include "t/suite.h"

static void test_ids(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    assert_ok(store_begin(fixture->store, &error), error);
    char before[STORE_ID_SIZE] = "", id[STORE_ID_SIZE];
    for (int i = 0; i < 10000; i++) {
        int64_t key = store_key_new(fixture->store, &error), again;
        store_key_id(key, id);
        g_assert_cmpint(strspn(id, "0123456789abcdef"), ==, STORE_ID_SIZE - 1);
        g_assert_cmpstr(before, <, id);
        g_assert_true(store_id_key(id, &again));
        g_assert_cmpint(again, ==, key);
        strcpy(before, id);
    }
    store_rollback(fixture->store);
    int64_t key;
    id[20] = id[20] == '0' ? '1' : '0';
    g_assert_false(store_id_key(id, &key));
    g_assert_false(store_id_key("", &key));
    g_assert_false(store_id_key("0123", &key));
    g_assert_false(store_id_key("zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz", &key));
}

/* The greatest key of a table. */
static int64_t greatest_key(Store *store)
{
    GError *error = NULL;
    g_autoptr(Query) query = query_start(store, &error, "SELECT MAX(key) FROM person", NULL, 0);
    g_assert_cmpint(query_step(query, &error), ==, STEP_ROW);
    return query_integer(query, 0);
}

static char *program; /* this one */

/* Make a list with two members by another process, whose clock is ahead. Return the last key. */
static int64_t make_ahead(const Fixture *fixture, int seconds)
{
    char *arguments[] = {program, (char *)"--ahead", fixture->path, NULL};
    g_autofree char *offset = g_strdup_printf("%d", seconds);
    g_auto(GStrv) environment = g_environ_setenv(g_get_environ(), "LISTRUNNER_CLOCK_OFFSET", offset, TRUE);
    int status = -1;
    g_assert_true(g_spawn_sync(NULL, arguments, environment, 0, NULL, NULL, NULL, NULL, &status, NULL));
    g_assert_cmpint(status, ==, 0);
    int64_t last = greatest_key(fixture->store);
    g_assert_cmpint(last >> 11, >, clock_now() + (seconds - 600) * CLOCK_SECOND);
    return last;
}

/* People of another list system come in while the clock is two days behind what made the last keys: a key that is ours
 * needs no check against the clock, as one of a file does. */
static void test_import_behind(Fixture *fixture, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    bool known = true;
    int64_t last = make_ahead(fixture, 2 * 86400);
    const CarryUser user = {.display_name = "Dora", .preferences = preferences_unset};
    const CarryAddress address = {
        .email = "dora@example.org", .display_name = "", .preferences = preferences_unset, .user = &user};
    assert_ok(carry_address(fixture->store, &address, &known, &error), error);
    g_assert_false(known);
    const CarryMember member = {.list_id = "test.example.com",
                                .address = "emil@example.org",
                                .role = ROLE_MEMBER,
                                .moderation_action = ACTION_UNSET,
                                .preferences = preferences_unset,
                                .score = 100};
    assert_ok(carry_member(fixture->store, &member, &known, &error), error);
    g_assert_false(known);
    g_assert_cmpint(greatest_key(fixture->store), >, last);
}

/* Another process made keys while the clock was an hour ahead: ours come after all of them, and after those of what was
 * removed, too. */
static void test_clock(Fixture *fixture, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    int64_t last = make_ahead(fixture, 3600);
    assert_ok(member_remove(fixture->store, "test.example.com", ROLE_MEMBER, mailbox_of("b@example.org"), &error),
              error);
    assert_ok(store_begin(fixture->store, &error), error);
    g_assert_cmpint(store_key_new(fixture->store, &error), >, last);
    g_assert_cmpint(store_key_new(fixture->store, &error), >, last + 1);
    store_rollback(fixture->store);
    assert_ok(
        member_add(fixture->store, "test.example.com", ROLE_MEMBER, mailbox_of("c@example.org"), NULL, NULL, &error),
        error);
    g_assert_cmpint(greatest_key(fixture->store), >, last);
}

/* The other process. */
static int make_keys_ahead(const char *path)
{
    g_autoptr(Store) store = store_open(fixture_driver(), path, false, NULL);
    g_autoptr(List) list = store && domain_create(store, "example.com", NULL, NULL)
                               ? list_create(store, "test@example.com", NULL) : NULL;
    return list && member_add(store, list->list_id, ROLE_MEMBER, mailbox_of("a@example.org"), NULL, NULL, NULL) &&
                   member_add(store, list->list_id, ROLE_MEMBER, mailbox_of("b@example.org"), NULL, NULL, NULL)
               ? 0
               : 1;
}

SUITE("key")
{
    if (argc == 3 && strcmp(argv[1], "--ahead") == 0)
        return make_keys_ahead(argv[2]);
    g_test_init(&argc, &argv, NULL);
    program = argv[0];
    TEST("/key/ids", test_ids);
    TEST("/key/clock", test_clock);
    TEST("/key/import behind", test_import_behind);
    return g_test_run();
}
