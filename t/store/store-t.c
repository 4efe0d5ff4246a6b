/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/store.h"

#include <signal.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/lists/list_post.h"
#include "store/store_internal.h"
#include "t/store/fixture.h"
#include "t/suite.h"

/* Behind the back of the store. */
static void sql(const char *path, const char *text)
{
    sqlite3 *database;
    g_assert_cmpint(sqlite3_open(path, &database), ==, SQLITE_OK);
    char *message = NULL;
    sqlite3_exec(database, text, NULL, NULL, &message);
    g_assert_cmpstr(message, ==, NULL);
    sqlite3_close(database);
}

/* ---- opening ---- */

static void test_open_creates(Fixture *fixture, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    struct stat status;
    g_autofree char *path = g_strconcat(fixture->path, ".new", NULL);
    Store *made = store_open("sqlite", path, true, &error);
    g_assert_no_error(error);
    g_assert_cmpint(stat(path, &status), ==, 0);
    g_assert_cmpint(status.st_mode & 07, ==, 0); /* members are nobody else's business */
    assert_ok(domain_create(made, "example.com", NULL, &error), error);
    store_free(made);
    g_autoptr(Store) again = store_open("sqlite", path, false, &error);
    g_assert_no_error(error);
    g_assert_true(fixture_has_domain(again, "example.com"));
}

static int64_t size_of_log(const Fixture *fixture)
{
    struct stat status;
    g_autofree char *log = g_strconcat(fixture->path, "-wal", NULL);
    g_assert_cmpint(stat(log, &status), ==, 0);
    return status.st_size;
}

/* Opening writes nothing, so it needs neither the lock of a writer nor room on the disk. */
static void test_open_beside_writer(Fixture *fixture, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    assert_ok(domain_create(fixture->store, "example.com", NULL, &error), error);
    int64_t before = size_of_log(fixture);
    assert_ok(store_begin(fixture->store, &error), error);
    g_autoptr(Store) other = store_open(fixture_driver(), fixture->path, false, &error);
    g_assert_no_error(error);
    g_assert_true(fixture_has_domain(other, "example.com"));
    assert_ok(store_commit(fixture->store, &error), error);
    g_autoptr(Store) third = store_open(fixture_driver(), fixture->path, true, &error);
    g_assert_no_error(error);
    g_assert_cmpint(size_of_log(fixture), ==, before);
}

static void test_open_missing(Fixture *fixture, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    g_autofree char *path = g_build_filename(fixture->directory, "none.db", NULL);
    g_assert_null(store_open(fixture_driver(), path, false, &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
    g_autofree char *below = g_build_filename(fixture->directory, "none", "t.db", NULL);
    g_assert_null(store_open(fixture_driver(), below, true, &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_null(store_open("oracle", path, true, &error));
    g_assert_nonnull(strstr(error->message, "sqlite"));
    assert_failed(FAIL_CONFIG, error);
}

static void test_open_newer(Fixture *fixture, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    g_clear_pointer(&fixture->store, store_free);
    sql(fixture->path, "INSERT INTO schema_migration (number, name, applied_at) VALUES (900, 'future', 0)");
    g_assert_null(fixture_connect(fixture, &error));
    g_assert_nonnull(strstr(error->message, "newer"));
    g_assert_nonnull(strstr(error->message, "900"));
    assert_failed(FAIL_CONFIG, error);
}

static void test_open_not_a_database(Fixture *fixture, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    g_autofree char *path = g_build_filename(fixture->directory, "text", NULL);
    g_autofree char *text = g_strnfill(8192, 'x');
    g_file_set_contents(path, text, -1, &error);
    g_assert_null(store_open(fixture_driver(), path, false, &error));
    g_assert_nonnull(strstr(error->message, path));
    assert_failed(FAIL_CONFIG, error);
}

static void test_open_strangers(Fixture *fixture, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    g_autofree char *path = g_build_filename(fixture->directory, "other.db", NULL);
    sql(path, "CREATE TABLE theirs (x)");
    g_assert_null(store_open(fixture_driver(), path, true, &error));
    g_assert_nonnull(strstr(error->message, "not one of Listrunner's"));
    assert_failed(FAIL_CONFIG, error);
    sql(path, "INSERT INTO theirs VALUES (1)"); /* untouched */
}

/* A page in the middle is overwritten: what needs it fails, and says what to do. */
static void test_corrupt(Fixture *fixture, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    assert_ok(domain_create(fixture->store, "example.com", NULL, &error), error);
    g_autoptr(List) list = list_create(fixture->store, "test@example.com", &error);
    assert_ok(store_begin(fixture->store, &error), error);
    for (int i = 0; i < 2000; i++) {
        g_autofree char *address = g_strdup_printf("member%d@example.org", i);
        assert_ok(member_add(fixture->store, list->list_id, ROLE_MEMBER, mailbox_of(address), NULL, NULL, &error),
                  error);
    }
    assert_ok(store_commit(fixture->store, &error), error);
    g_clear_pointer(&fixture->store, store_free); /* the last one out empties the log */
    g_autofree char *octets = NULL;
    size_t length;
    g_assert_true(g_file_get_contents(fixture->path, &octets, &length, NULL));
    size_t half = length / 2 / 4096 * 4096; /* behind the schema, which opening reads */
    memset(octets + half, 0xa5, length - half);
    g_assert_true(g_file_set_contents(fixture->path, octets, (gssize)length, NULL));
    fixture->store = fixture_connect(fixture, &error);
    g_assert_no_error(error);
    g_autoptr(RecipientCursor) cursor = recipient_cursor_open(fixture->store, "test.example.com", NULL, NULL, &error);
    while (cursor && recipient_cursor_next(cursor, &error))
        ;
    g_assert_nonnull(strstr(error->message, ".recover"));
    assert_failed(FAIL_LATER, error);
}

/* Eight processes find no database at the same moment. */
static void test_open_at_once(Fixture *fixture, const void *data)
{
    g_autofree char *path = fixture_where(fixture->directory, "race");
    for (int i = 0; i < 8; i++)
        if (fork() == 0) {
            g_autofree char *domain = g_strdup_printf("example%d.com", i);
            GError *error = NULL;
            Store *store = store_open(fixture_driver(), path, true, &error);
            bool ok = store && domain_create(store, domain, NULL, &error);
            if (!ok)
                g_printerr("%s\n", error->message);
            _exit(ok ? 0 : 1);
        }
    int status;
    while (wait(&status) > 0)
        g_assert_cmpint(status, ==, 0);
    g_autoptr(Store) store = store_open(fixture_driver(), path, false, NULL);
    g_autoptr(GPtrArray) domains = domain_all(store, NULL);
    g_assert_cmpint(domains->len, ==, 8);
    g_clear_pointer(&store, store_free);
    g_remove(path);
}

/* ---- transactions ---- */

static void test_rollback(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    assert_ok(store_begin(fixture->store, &error), error);
    assert_ok(domain_create(fixture->store, "a.example", NULL, &error), error);
    g_assert_true(fixture_has_domain(fixture->store, "a.example"));
    store_rollback(fixture->store);
    g_assert_false(fixture_has_domain(fixture->store, "a.example"));
}

static void test_nested(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    assert_ok(store_begin(fixture->store, &error), error);
    assert_ok(store_begin(fixture->store, &error), error);
    assert_ok(domain_create(fixture->store, "a.example", NULL, &error), error);
    assert_ok(store_commit(fixture->store, &error), error);
    assert_ok(store_commit(fixture->store, &error), error);
    g_assert_true(fixture_has_domain(fixture->store, "a.example"));

    assert_ok(store_begin(fixture->store, &error), error);
    assert_ok(store_begin(fixture->store, &error), error);
    assert_ok(domain_create(fixture->store, "b.example", NULL, &error), error);
    store_rollback(fixture->store);
    g_assert_false(domain_create(fixture->store, "c.example", NULL, &error)); /* doomed */
    assert_failed(FAIL_LATER, error);
    g_assert_false(store_commit(fixture->store, &error));
    assert_failed(FAIL_LATER, error);
    g_assert_false(fixture_has_domain(fixture->store, "b.example"));
    assert_ok(domain_create(fixture->store, "d.example", NULL, &error), error); /* sound again */
}

/* A refusal inside a batch does not cost the batch. */
static void test_refusal_keeps_transaction(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    assert_ok(store_begin(fixture->store, &error), error);
    assert_ok(domain_create(fixture->store, "a.example", NULL, &error), error);
    g_assert_false(domain_create(fixture->store, "A.example", NULL, &error));
    assert_failed(FAIL_EXISTS, error);
    g_assert_null(list_create(fixture->store, "x@b.example", &error));
    assert_failed(FAIL_MISSING, error);
    assert_ok(store_commit(fixture->store, &error), error);
    g_assert_true(fixture_has_domain(fixture->store, "a.example"));
}

/* Check that the domain is ASCII in List-Id and in senders. */
static void test_international_domain(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_assert_false(domain_create(fixture->store, "b\303\274cher.example", NULL, &error));
    g_assert_nonnull(strstr(error->message, "xn--"));
    assert_failed(FAIL_NEVER, error);
    assert_ok(domain_create(fixture->store, "XN--bcher-kva.example", NULL, &error), error);
    g_assert_true(fixture_has_domain(fixture->store, "xn--bcher-kva.example"));
}

static void test_savepoint(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    assert_ok(store_begin(fixture->store, &error), error);
    assert_ok(domain_create(fixture->store, "a.example", NULL, &error), error);
    assert_ok(store_savepoint(fixture->store, &error), error);
    assert_ok(domain_create(fixture->store, "b.example", NULL, &error), error);
    assert_ok(store_savepoint(fixture->store, &error), error);
    assert_ok(domain_create(fixture->store, "c.example", NULL, &error), error);
    store_savepoint_end(fixture->store, true);
    store_savepoint_end(fixture->store, false);
    assert_ok(store_savepoint(fixture->store, &error), error);
    assert_ok(domain_create(fixture->store, "d.example", NULL, &error), error);
    store_savepoint_end(fixture->store, true);
    assert_ok(store_commit(fixture->store, &error), error);
    g_assert_true(fixture_has_domain(fixture->store, "a.example"));
    g_assert_false(fixture_has_domain(fixture->store, "b.example"));
    g_assert_false(fixture_has_domain(fixture->store, "c.example"));
    g_assert_true(fixture_has_domain(fixture->store, "d.example"));
}

static void test_savepoint_undoes_doom(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    assert_ok(store_begin(fixture->store, &error), error);
    assert_ok(domain_create(fixture->store, "a.example", NULL, &error), error);
    assert_ok(store_savepoint(fixture->store, &error), error);
    assert_ok(store_begin(fixture->store, &error), error);
    store_rollback(fixture->store);
    g_assert_false(store_savepoint(fixture->store, &error));
    assert_failed(FAIL_LATER, error);
    store_savepoint_end(fixture->store, false);
    assert_ok(store_commit(fixture->store, &error), error);
    g_assert_true(fixture_has_domain(fixture->store, "a.example"));
}

/* ---- effects ---- */

/* Records it with the number 7 unless it was, which is expected or not. */
static void record(Store *store, const char *entry, bool expected)
{
    GError *error = NULL;
    bool before = !expected;
    int64_t number = -1;
    assert_ok(store_begin(store, &error), error);
    assert_ok(store_find_effect(store, entry, &before, &number, &error), error);
    if (!before)
        assert_ok(store_record_effect(store, entry, 7, &error), error);
    assert_ok(store_commit(store, &error), error);
    g_assert_cmpint(before, ==, expected);
    g_assert_cmpint(number, ==, expected ? 7 : 0);
}

static void test_effect_once(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    record(fixture->store, "in:1", false);
    record(fixture->store, "in:1", true);
    record(fixture->store, "pipeline:1", false);
    assert_ok(store_begin(fixture->store, &error), error);
    assert_ok(store_record_effect(fixture->store, "in:2", 7, &error), error);
    bool told = !store_record_effect(fixture->store, "in:1", 8, &error);
    if (told)
        store_rollback(fixture->store);
    g_assert_true(told || !store_commit(fixture->store, &error));
    assert_failed(FAIL_LATER, error);
    record(fixture->store, "in:2", false); /* what was rolled back did not happen */
    assert_ok(store_begin(fixture->store, &error), error);
    assert_ok(store_savepoint(fixture->store, &error), error);
    assert_ok(store_record_effect(fixture->store, "in:3", 7, &error), error);
    store_savepoint_end(fixture->store, false);
    assert_ok(store_commit(fixture->store, &error), error);
    record(fixture->store, "in:3", false);
}

/* Four processes try the same 200 effects: each is made once. */
static void test_effect_at_once(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    assert_ok(domain_create(fixture->store, "example.com", NULL, &error), error);
    g_autoptr(List) list = list_create(fixture->store, "test@example.com", &error);
    for (int i = 0; i < 4; i++)
        if (fork() == 0) {
            Store *store = fixture_connect(fixture, NULL);
            bool ok = store != NULL;
            for (int n = 0; ok && n < 200; n++) {
                char entry[16];
                g_snprintf(entry, sizeof entry, "in:%d", n);
                bool before;
                int64_t post;
                ok = store_begin(store, NULL) && store_find_effect(store, entry, &before, &post, NULL) &&
                     (before || (list_count_post(store, "test.example.com", 1, &post, NULL) &&
                                 store_record_effect(store, entry, post, NULL))) &&
                     store_commit(store, NULL);
            }
            _exit(ok ? 0 : 1);
        }
    int status;
    while (wait(&status) > 0)
        g_assert_cmpint(status, ==, 0);
    g_autoptr(List) after = list_by_id(fixture->store, "test.example.com", &error);
    g_assert_cmpint(after->post_id, ==, 201);
}

typedef struct Elsewhere {
    const char *path, *list_id;
    bool whole;
    int done; /* atomic */
} Elsewhere;

/* Adds to a list's number as soon as it may. */
static gpointer count_elsewhere(gpointer data)
{
    Elsewhere *self = data;
    g_autoptr(Store) store = store_open(fixture_driver(), self->path, false, NULL);
    g_autoptr(GPtrArray) lists = g_ptr_array_new();
    int64_t number = 0;
    g_ptr_array_add(lists, (gpointer)self->list_id);
    g_assert_true(self->whole ? store_begin(store, NULL) : store_begin_lists(store, lists, NULL));
    g_assert_true(list_count_post(store, self->list_id, 1, &number, NULL) && store_commit(store, NULL));
    g_atomic_int_set(&self->done, 1);
    return NULL;
}

static bool is_done(Elsewhere *self, int milliseconds)
{
    for (; milliseconds > 0 && !g_atomic_int_get(&self->done); milliseconds--)
        g_usleep(1000);
    return g_atomic_int_get(&self->done);
}

/* Check that a writer for one list keeps out those who write for the same one, or for all; where the driver can, those
 * who write for another go on. */
static void test_begin_lists(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    assert_ok(domain_create(fixture->store, "example.com", NULL, &error), error);
    g_autoptr(List) one = list_create(fixture->store, "one@example.com", &error);
    g_autoptr(List) two = list_create(fixture->store, "two@example.com", &error);
    g_autoptr(GPtrArray) lists = g_ptr_array_new();
    const char *const ids[] = {"one.example.com", "gone.example.com", "one.example.com"};
    for (size_t i = 0; i < G_N_ELEMENTS(ids); i++)
        g_ptr_array_add(lists, (gpointer)ids[i]);
    for (int round = 0; round < 3; round++) {
        bool same = round == 0, whole = round == 2;
        Elsewhere other = {fixture->path, same ? "one.example.com" : "two.example.com", whole, 0};
        int64_t number;
        assert_ok(store_begin_lists(fixture->store, lists, &error), error);
        assert_ok(list_count_post(fixture->store, "one.example.com", 1, &number, &error), error);
        GThread *thread = g_thread_new("other", count_elsewhere, &other);
        if (!same && !whole && !g_str_equal(fixture_driver(), "sqlite"))
            g_assert_true(is_done(&other, 9000)); /* less than anybody waits for a lock */
        else
            g_assert_false(is_done(&other, 300));
        assert_ok(store_commit(fixture->store, &error), error);
        g_thread_join(thread);
        g_assert_true(is_done(&other, 1));
    }
    g_autoptr(List) after = list_by_id(fixture->store, "one.example.com", &error);
    g_assert_cmpint(after->post_id, ==, 5); /* 1, three here and one there */
}

static void test_effect_outside(void)
{
    if (g_test_subprocess()) {
        g_autofree char *directory = g_dir_make_tmp("store-XXXXXX", NULL);
        g_autofree char *path = g_build_filename(directory, "t.db", NULL);
        g_autoptr(Store) store = store_open("sqlite", path, true, NULL);
        g_unlink(path);
        g_autofree char *wal = g_strconcat(path, "-wal", NULL), *shm = g_strconcat(path, "-shm", NULL);
        g_unlink(wal);
        g_unlink(shm);
        g_rmdir(directory);
        store_record_effect(store, "in:1", 1, NULL);
        return;
    }
    g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
    g_test_trap_assert_failed();
    g_test_trap_assert_stderr("*outside a transaction*");
}

static int64_t record_some(Store *store, int first, int count)
{
    GError *error = NULL;
    int64_t added;
    g_autoptr(GPtrArray) entries = g_ptr_array_new_with_free_func(g_free);
    for (int at = first; at < first + count; at++)
        g_ptr_array_add(entries, g_strdup_printf("old:caf\303\251%d@example.com", at));
    assert_ok(store_record_effects(store, entries, &added, &error), error);
    return added;
}

/* Of many at once those count that were not there. */
static void test_effects_by_sets(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    int64_t sum;
    assert_ok(store_begin(fixture->store, &error), error);
    g_assert_cmpint(record_some(fixture->store, 0, 0), ==, 0);
    g_assert_cmpint(record_some(fixture->store, 0, 1), ==, 1);
    g_assert_cmpint(record_some(fixture->store, 0, 45), ==, 44);
    g_assert_cmpint(record_some(fixture->store, 40, 40), ==, 35);
    g_assert_cmpint(record_some(fixture->store, 0, 80), ==, 0);
    assert_ok(store_add_effect(fixture->store, "old", 3, &sum, &error), error);
    g_assert_cmpint(sum, ==, 3);
    assert_ok(store_add_effect(fixture->store, "old", 4, &sum, &error), error);
    g_assert_cmpint(sum, ==, 7);
    assert_ok(store_commit(fixture->store, &error), error);
    record(fixture->store, "old", true);
}

static void test_expire(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    bool known;
    assert_ok(domain_create(fixture->store, "example.com", NULL, &error), error);
    g_autoptr(List) list = list_create(fixture->store, "test@example.com", &error);
    assert_ok(store_begin(fixture->store, &error), error);
    for (int n = 0; n < 25000; n++) {
        char entry[16];
        g_snprintf(entry, sizeof entry, "old:%d", n);
        assert_ok(store_record_effect(fixture->store, entry, 7, &error), error);
    }
    assert_ok(store_record_effect(fixture->store, "old", 7, &error), error);
    assert_ok(store_record_effect(fixture->store, "older:1", 7, &error), error);
    assert_ok(store_commit(fixture->store, &error), error);
    assert_ok(list_record_message_id(fixture->store, list->list_id, &(SeenMail){"<old>", "in:1", "spool", 1, NULL},
                                     &known, &error),
              error);
    assert_ok(list_record_message_id(fixture->store, list->list_id,
                                     &(SeenMail){"<new>", "in:1", "spool", INT64_MAX, NULL}, &known, &error),
              error);
    assert_ok(store_expire(fixture->store, 3600 * INT64_C(1000000), &error), error);
    record(fixture->store, "old:0", true);
    assert_ok(store_expire(fixture->store, -1000000, &error), error);
    record(fixture->store, "old:0", false);
    record(fixture->store, "old:24999", false);
    assert_ok(list_record_message_id(fixture->store, list->list_id, &(SeenMail){"<old>", "in:2", "spool", 1, NULL},
                                     &known, &error),
              error);
    g_assert_false(known);
    assert_ok(list_record_message_id(fixture->store, list->list_id, &(SeenMail){"<new>", "in:2", "spool", 1, NULL},
                                     &known, &error),
              error);
    g_assert_true(known);
}

/* ---- two connections ---- */

/* Counts what processes keep in memory, whoever changed it, and nothing that each post changes. */
static void test_version(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_autoptr(Store) other = fixture_connect(fixture, &error);
    int64_t first = store_version(fixture->store), number;
    g_assert_cmpint(store_version(fixture->store), ==, first);
    assert_ok(domain_create(fixture->store, "mine.example", NULL, &error), error);
    int64_t second = store_version(fixture->store);
    g_assert_cmpint(second, !=, first);
    assert_ok(domain_create(other, "theirs.example", NULL, &error), error);
    int64_t third = store_version(fixture->store);
    g_assert_cmpint(third, !=, second);
    assert_ok(store_begin(other, &error), error);
    assert_ok(domain_create(other, "never.example", NULL, &error), error);
    store_rollback(other);
    g_assert_cmpint(store_version(fixture->store), ==, third);
    g_autoptr(List) list = list_create(other, "x@mine.example", &error);
    g_assert_no_error(error);
    int64_t fourth = store_version(fixture->store);
    g_assert_cmpint(fourth, !=, third);
    assert_ok(list_count_post(other, list->list_id, 1, &number, &error), error);
    assert_ok(member_add(other, list->list_id, ROLE_MEMBER, mailbox_of("anne@example.org"), NULL, NULL, &error), error);
    g_assert_cmpint(store_version(fixture->store), ==, fourth);
    assert_ok(list_set(other, list->list_id, "subject_prefix", "[y]", &error), error);
    int64_t fifth = store_version(fixture->store);
    g_assert_cmpint(fifth, !=, fourth);
    assert_ok(list_remove(other, list->list_id, &error), error);
    g_assert_cmpint(store_version(fixture->store), !=, fifth);
}

static bool query_in_stream(const Member *member, void *data)
{
    Fixture *fixture = data;
    GError *error = NULL;
    bool exists = false;
    assert_ok(list_exists(fixture->store, "test", "example.com", &exists, NULL, &error), error);
    g_assert_true(exists);
    g_assert_false(store_begin(fixture->store, &error));
    assert_failed(FAIL_LATER, error);
    g_assert_false(domain_create(fixture->store, "a.example", NULL, &error));
    assert_failed(FAIL_LATER, error);
    return true;
}

/* While rows stream, other queries run, but no transaction begins or ends: a driver may need one for the stream. */
static void test_stream(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    assert_ok(
        member_add(fixture->store, "test.example.com", ROLE_MEMBER, mailbox_of("anne@example.org"), NULL, NULL, &error),
        error);
    assert_ok(member_each(fixture->store, "test.example.com", ROLE_MEMBER, query_in_stream, fixture, &error), error);
    assert_ok(store_begin(fixture->store, &error), error);
    g_autoptr(RecipientCursor) cursor =
        recipient_cursor_open(fixture->store, "test.example.com", NULL, NULL, &error);
    g_assert_cmpstr(recipient_cursor_next(cursor, &error), ==, "anne@example.org");
    g_assert_false(store_commit(fixture->store, &error));
    assert_failed(FAIL_LATER, error);
    g_clear_pointer(&cursor, recipient_cursor_free);
    assert_ok(domain_create(fixture->store, "b.example", NULL, &error), error);
}

/* One writes, the other reads what was, and waits with its own write. */
static void test_busy(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    int ready[2];
    g_assert_cmpint(pipe(ready), ==, 0);
    pid_t child = fork();
    if (child == 0) {
        Store *other = fixture_connect(fixture, NULL);
        bool ok =
            store_begin(other, NULL) && domain_create(other, "a.example", NULL, NULL) && write(ready[1], "r", 1) == 1;
        g_usleep(400000);
        _exit(ok && store_commit(other, NULL) ? 0 : 1);
    }
    char octet;
    g_assert_cmpint(read(ready[0], &octet, 1), ==, 1);
    g_assert_false(fixture_has_domain(fixture->store, "a.example"));
    assert_ok(domain_create(fixture->store, "b.example", NULL, &error), error);
    g_assert_true(fixture_has_domain(fixture->store, "a.example"));
    int status;
    waitpid(child, &status, 0);
    g_assert_cmpint(status, ==, 0);
    close(ready[0]);
    close(ready[1]);
}

static void test_busy_too_long(Fixture *fixture, const void *data)
{
    if (!g_test_thorough()) { /* it takes the 10 s of the time-out */
        g_test_skip("run with -m thorough");
        return;
    }
    GError *error = NULL;
    g_autoptr(Store) other = fixture_connect(fixture, &error);
    assert_ok(store_begin(other, &error), error);
    g_assert_false(domain_create(fixture->store, "b.example", NULL, &error));
    g_assert_nonnull(strstr(error->message, "10 s"));
    assert_failed(FAIL_LATER, error);
    store_rollback(other);
    assert_ok(domain_create(fixture->store, "b.example", NULL, &error), error);
}

/* ---- faults ---- */

/* Killed with a transaction open that has spilled to the log: nothing of it is there, all before it is. */
static void test_killed(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    int ready[2];
    g_assert_cmpint(pipe(ready), ==, 0);
    assert_ok(domain_create(fixture->store, "example.com", NULL, &error), error);
    g_autoptr(List) list = list_create(fixture->store, "test@example.com", &error);
    pid_t child = fork();
    if (child == 0) {
        Store *other = fixture_connect(fixture, NULL);
        bool ok = member_add(other, list->list_id, ROLE_MEMBER, mailbox_of("kept@example.org"), NULL, NULL, NULL) &&
                  store_begin(other, NULL) && store_record_effect(other, "in:1", 1, NULL);
        for (int n = 0; ok && n < 20000; n++) {
            g_autofree char *address = g_strdup_printf("lost%d@example.org", n);
            ok = member_add(other, list->list_id, ROLE_MEMBER, mailbox_of(address), NULL, NULL, NULL);
        }
        if (ok && write(ready[1], "r", 1) == 1)
            pause();
        _exit(1);
    }
    close(ready[1]);
    char octet;
    g_assert_cmpint(read(ready[0], &octet, 1), ==, 1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(ready[0]);
    int64_t count;
    assert_ok(member_count(fixture->store, list->list_id, ROLE_MEMBER, &count, &error), error);
    g_assert_cmpint(count, ==, 1);
    record(fixture->store, "in:1", false);
    g_autoptr(Member)
        kept = member_find(fixture->store, list->list_id, ROLE_MEMBER, mailbox_of("kept@example.org"), &error);
    g_assert_nonnull(kept);
}

/* No room: FAIL_LATER, nothing by halves, and on again when there is room. */
static void test_full(Fixture *fixture, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    assert_ok(domain_create(fixture->store, "example.com", NULL, &error), error);
    g_autoptr(List) list = list_create(fixture->store, "test@example.com", &error);
    void *connection = store_connection(fixture->store);
    assert_ok(store_sqlite.script(connection, "PRAGMA max_page_count = 60", &error), error);
    assert_ok(store_begin(fixture->store, &error), error);
    int n = 0;
    bool ok = true;
    for (; ok && n < 100000; n++) {
        g_autofree char *address = g_strdup_printf("member%d@example.org", n);
        ok = member_add(fixture->store, list->list_id, ROLE_MEMBER, mailbox_of(address), NULL, NULL, &error);
    }
    g_assert_cmpint(n, >, 10);
    assert_failed(FAIL_LATER, error);
    g_assert_false(
        member_add(fixture->store, list->list_id, ROLE_MEMBER, mailbox_of("more@example.org"), NULL, NULL, &error));
    assert_failed(FAIL_LATER, error);
    g_assert_false(store_commit(fixture->store, &error));
    assert_failed(FAIL_LATER, error);
    int64_t count;
    assert_ok(member_count(fixture->store, list->list_id, ROLE_MEMBER, &count, &error), error);
    g_assert_cmpint(count, ==, 0);
    assert_ok(store_sqlite.script(connection, "PRAGMA max_page_count = 1000000", &error), error);
    assert_ok(member_add(fixture->store, list->list_id, ROLE_MEMBER, mailbox_of("a@example.org"), NULL, NULL, &error),
              error);
}

/* The database ended the transaction by itself: what follows is refused, and
 * does not become transactions of its own. */
static void test_given_up(Fixture *fixture, const void *data)
{
    if (!fixture_is_sqlite())
        return;
    GError *error = NULL;
    assert_ok(store_begin(fixture->store, &error), error);
    assert_ok(domain_create(fixture->store, "a.example", NULL, &error), error);
    assert_ok(store_sqlite.script(store_connection(fixture->store), "ROLLBACK", &error), error);
    g_assert_false(query_all(fixture->store, &error, NULL,
                             "INSERT INTO list_setting (list, name, value) VALUES (1, 'x', 'x')", NULL, 0));
    g_clear_error(&error);
    g_assert_false(domain_create(fixture->store, "b.example", NULL, &error));
    assert_failed(FAIL_LATER, error);
    g_assert_false(store_commit(fixture->store, &error));
    assert_failed(FAIL_LATER, error);
    g_assert_false(fixture_has_domain(fixture->store, "a.example"));
    g_assert_false(fixture_has_domain(fixture->store, "b.example"));
}

SUITE("store")
{
    g_test_init(&argc, &argv, NULL);
    TEST("/store/open/creates", test_open_creates);
    TEST("/store/open/beside a writer", test_open_beside_writer);
    TEST("/store/open/missing", test_open_missing);
    TEST("/store/open/newer", test_open_newer);
    TEST("/store/open/not-a-database", test_open_not_a_database);
    TEST("/store/open/strangers", test_open_strangers);
    TEST("/store/open/at-once", test_open_at_once);
    TEST("/store/corrupt", test_corrupt);
    TEST("/store/rollback", test_rollback);
    TEST("/store/nested", test_nested);
    TEST("/store/refusal-keeps-transaction", test_refusal_keeps_transaction);
    TEST("/store/international domain", test_international_domain);
    TEST("/store/savepoint", test_savepoint);
    TEST("/store/savepoint-undoes-doom", test_savepoint_undoes_doom);
    TEST("/store/effect/once", test_effect_once);
    TEST("/store/effect/at-once", test_effect_at_once);
    TEST("/store/begin for lists", test_begin_lists);
    g_test_add_func("/store/effect/outside", test_effect_outside);
    TEST("/store/effects by sets", test_effects_by_sets);
    TEST("/store/expire", test_expire);
    TEST("/store/version", test_version);
    TEST_WITH_LIST("/store/stream", test_stream);
    TEST("/store/busy", test_busy);
    TEST("/store/busy-too-long", test_busy_too_long);
    TEST("/store/killed", test_killed);
    TEST("/store/full", test_full);
    TEST("/store/given-up", test_given_up);
    return g_test_run();
}
