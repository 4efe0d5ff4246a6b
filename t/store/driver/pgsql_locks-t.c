/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test the locks of transactions on a server: their order, their width, and one whose holder stands still. Skipped
 * unless LISTRUNNER_STORE is postgresql. */
#include <string.h>

#include "store/driver/pgsql_connection.h"
#include "store/lists/list_post.h"
#include "store/people/member.h"
#include "store/people/stranger.h"
#include "t/store/driver/pgsql_fixture.h"
#include "t/suite.h"

/* Keys of lists of which the first and the last have the same lock. */
static const int64_t first_key = INT64_C(1) << 11, second_key = INT64_C(2) << 11, third_key = INT64_C(0x80000000) << 11;

typedef struct Both {
    const char *path;
    int64_t keys[2];
    GError *error;
} Both;

static bool begin_keys(Store *store, const int64_t *keys, size_t count, GError **error)
{
    PgsqlConnection *connection = store_connection(store);
    return pgsql_begin_lists(connection, keys, count, false, error) && pgsql_settle(connection, error);
}

static void *begin_both(void *data)
{
    Both *both = data;
    g_autoptr(Store) store = store_open("postgresql", both->path, false, &both->error);
    if (store && begin_keys(store, both->keys, 2, &both->error))
        pgsql_rollback(store_connection(store));
    return NULL;
}

#define LOCKS "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND "
#define WAITER "(SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND NOT granted)"

/* While another transaction has the lock of `held`, begin one of two lists. Return how many locks of lists it had when
 * it had to wait. */
static int64_t locks_before(Fixture *fixture, Store *other, int64_t held, int64_t one, int64_t two)
{
    GError *error = NULL;
    assert_ok(begin_keys(fixture->store, &held, 1, &error), error);
    Both both = {fixture->path, {one, two}, NULL};
    GThread *thread = g_thread_new("both", begin_both, &both);
    while (number(other, LOCKS "NOT granted") == 0)
        g_usleep(1000);
    int64_t had = number(other, LOCKS "granted AND pid = " WAITER);
    pgsql_rollback(store_connection(fixture->store));
    g_thread_join(thread);
    g_assert_no_error(both.error);
    return had;
}

/* The locks of lists are taken in one order, also where lists far apart have the same one: so no two transactions have
 * what the other waits for. */
static void test_locks_in_order(Fixture *fixture, const void *data)
{
    (void)data;
    if (!is_postgresql())
        return;
    GError *error = NULL;
    g_autoptr(Store) other = fixture_connect(fixture, &error);
    g_assert_no_error(error);
    g_assert_cmpint(locks_before(fixture, other, first_key, first_key, second_key), ==, 0);
    g_assert_cmpint(locks_before(fixture, other, second_key, first_key, second_key), ==, 1);
    g_assert_cmpint(locks_before(fixture, other, first_key, second_key, third_key), ==, 0);
    g_assert_cmpint(locks_before(fixture, other, second_key, second_key, third_key), ==, 1);
}

typedef struct Noting {
    const char *path, *list;
    int *begun; /* how many threads hold their transaction */
    GError *error;
} Noting;

static void *note_elsewhere(void *data)
{
    Noting *own = data;
    g_autoptr(Store) store = store_open("postgresql", own->path, false, &own->error);
    g_autoptr(GPtrArray) lists = g_ptr_array_new();
    g_ptr_array_add(lists, (gpointer)own->list);
    bool held = store && store_begin_lists(store, lists, &own->error);
    g_atomic_int_inc(own->begun);
    while (g_atomic_int_get(own->begun) < 2)
        g_usleep(1000);
    bool done = held && stranger_note(store, own->list, mailbox_of("stranger@example.org"), 1, &own->error);
    g_usleep(200000);
    if (done)
        store_commit(store, &own->error);
    return NULL;
}

/* Two transactions of different lists meet at what belongs to the site: one waits for the other. */
static void test_stranger_of_two_lists(Fixture *fixture, const void *data)
{
    (void)data;
    if (!is_postgresql())
        return;
    GError *error = NULL;
    int begun = 0;
    g_autoptr(List) other = list_create(fixture->store, "other@example.com", &error);
    g_assert_no_error(error);
    Noting one = {fixture->path, LIST, &begun, NULL}, two = {fixture->path, "other.example.com", &begun, NULL};
    GThread *thread = g_thread_new("other", note_elsewhere, &one);
    note_elsewhere(&two);
    g_thread_join(thread);
    g_assert_no_error(one.error);
    g_assert_no_error(two.error);
    g_assert_cmpint(number(fixture->store, "SELECT count(*) FROM address"), ==, 1);
    g_assert_cmpint(number(fixture->store, "SELECT count(*) FROM member"), ==, 2);
}

/* A process that holds the locks stands still for ever, between two statements or in the midst of sending one. The
 * server ends its transaction, others go on, and it finds that nothing of it was done, and goes on, too. */
static void test_frozen(Fixture *fixture, const void *data)
{
    (void)data;
    if (!is_postgresql())
        return;
    GError *error = NULL;
    for (int sending = 0; sending < 2; sending++) {
        g_autoptr(Store) frozen = fixture_connect(fixture, &error);
        assert_ok(store_begin(frozen, &error), error);
        assert_ok(domain_create(frozen, "frozen.example.net", NULL, &error), error);
        PgsqlConnection *connection = store_connection(frozen);
        if (sending) {
            assert_ok(pgsql_may_send(connection, &error) && pgsql_send_text(connection, "SELECT 1", &error), error);
            while (libpq.PQflush(connection->server) != 0)
                g_usleep(1000);
            g_assert_false(store_begin(fixture->store, &error)); /* which ends the other one */
            assert_failed(FAIL_LATER, error);
        }
        assert_ok(store_begin(fixture->store, &error), error);
        assert_ok(store_commit(fixture->store, &error), error);
        if (sending) {
            g_assert_false(domain_create(frozen, "after.example.net", NULL, &error));
            assert_failed(FAIL_LATER, error);
        }
        g_assert_false(store_commit(frozen, &error));
        assert_failed(FAIL_LATER, error);
        g_assert_false(store_commit_unknown(frozen));
        g_assert_cmpint(number(frozen, "SELECT count(*) FROM domain"), ==, 1);
        g_autofree char *name = g_strdup_printf("again%d.example.net", sending);
        assert_ok(domain_create(frozen, name, NULL, &error), error);
        assert_ok(domain_remove(frozen, name, &error), error);
    }
}

/* A change of a member holds up neither posts of other lists nor those who only read, and they hold up nobody. */
static void test_people_and_posts(Fixture *fixture, const void *data)
{
    (void)data;
    if (!is_postgresql())
        return;
    GError *error = NULL;
    g_autoptr(List) other = list_create(fixture->store, "other@example.com", &error);
    g_assert_no_error(error);
    g_autoptr(Store) posts = fixture_connect(fixture, &error);
    g_autoptr(GPtrArray) lists = g_ptr_array_new();
    g_ptr_array_add(lists, (gpointer) "other.example.com");
    static const char *const of[] = {LIST, NULL};
    for (size_t i = 0; i < G_N_ELEMENTS(of); i++) {
        g_autofree char *address = g_strdup_printf("joins%zu@example.org", i);
        assert_ok(store_begin_people(fixture->store, of[i], &error), error);
        assert_ok(member_add(fixture->store, LIST, ROLE_MEMBER, mailbox_of(address), NULL, NULL, &error), error);
        bool known;
        assert_ok(store_begin_lists(posts, lists, &error), error);
        SeenMail seen = {address, "in:1", "spool", 1, NULL};
        assert_ok(list_record_message_id(posts, "other.example.com", &seen, &known, &error), error);
        assert_ok(store_commit(posts, &error), error);
        assert_ok(store_commit(fixture->store, &error), error); /* not ended: the other did not wait */
    }
    g_assert_cmpint(number(posts, "SELECT count(*) FROM member"), ==, 2);
    g_assert_cmpint(number(posts, "SELECT count(*) FROM message_id"), ==, 2);
}

SUITE("pgsql_locks")
{
    g_test_init(&argc, &argv, NULL);
    TEST("/pgsql_locks/locks in one order", test_locks_in_order);
    TEST_WITH_LIST("/pgsql_locks/a stranger of two lists", test_stranger_of_two_lists);
    TEST_WITH_LIST("/pgsql_locks/a frozen holder of locks", test_frozen);
    TEST_WITH_LIST("/pgsql_locks/people and posts", test_people_and_posts);
    return g_test_run();
}
