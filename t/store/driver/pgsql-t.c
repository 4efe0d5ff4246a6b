/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test what only a server can do to a store: lose its connection at any moment, be another one, refuse. Skipped unless
 * LISTRUNNER_STORE is postgresql. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/contract.h"
#include "store/driver/pgsql_connection.h"
#include "store/hosts/generation.h"
#include "store/lists/list_post.h"
#include "store/moving/foreign.h"
#include "store/people/ban.h"
#include "store/people/member.h"
#include "store/people/stranger.h"
#include "store/store_internal.h"
#include "t/store/driver/pgsql_fixture.h"
#include "t/suite.h"

static int64_t process_of(Store *store)
{
    return number(store, "SELECT pg_backend_pid()");
}

/* End the server's process of a connection and wait until it is gone. */
static void cut(Store *other, int64_t process)
{
    GError *error = NULL;
    assert_ok(query_run(other, &error, NULL, "SELECT pg_terminate_backend($1::int, 10000)", INTEGER(process)), error);
}

static void add_members(Store *store, int count)
{
    GError *error = NULL;
    assert_ok(store_begin(store, &error), error);
    for (int i = 0; i < count; i++) {
        g_autofree char *address = g_strdup_printf("member%04d@example.org", i);
        assert_ok(member_add(store, LIST, ROLE_MEMBER, mailbox_of(address), NULL, NULL, &error), error);
    }
    assert_ok(store_commit(store, &error), error);
}

/* Between transactions, nobody notices. */
static void test_comes_back(Fixture *fixture, const void *data)
{
    (void)data;
    if (!is_postgresql())
        return;
    GError *error = NULL;
    g_autoptr(Store) other = fixture_connect(fixture, &error);
    for (int i = 0; i < 3; i++) {
        g_autofree char *name = g_strdup_printf("d%d.example.net", i);
        cut(other, process_of(fixture->store));
        assert_ok(domain_create(fixture->store, name, NULL, &error), error);
        cut(other, process_of(fixture->store));
        g_autoptr(GPtrArray) domains = domain_all(fixture->store, &error);
        g_assert_no_error(error);
        g_assert_cmpuint(domains->len, ==, 2 + i);
    }
}

/* Within one, all of it fails, what comes behind the loss too; nothing of it is there, and the next one works. */
static void test_lost_within(Fixture *fixture, const void *data)
{
    (void)data;
    if (!is_postgresql())
        return;
    GError *error = NULL;
    g_autoptr(Store) other = fixture_connect(fixture, &error);
    for (int read_first = 0; read_first < 2; read_first++) {
        assert_ok(store_begin(fixture->store, &error), error);
        int64_t process = process_of(fixture->store);
        assert_ok(domain_create(fixture->store, "before.example.net", NULL, &error), error);
        g_autoptr(Query) waiting = query_start(fixture->store, &error, "DELETE FROM domain RETURNING 1", NULL, 0);
        cut(other, process);
        if (read_first) {
            g_assert_false(domain_create(fixture->store, "behind.example.net", NULL, &error));
            assert_failed(FAIL_LATER, error);
            g_assert_cmpint(query_step(waiting, &error), ==, STEP_FAILED);
            assert_failed(FAIL_LATER, error);
            g_assert_false(domain_create(fixture->store, "behind.example.net", NULL, &error));
            assert_failed(FAIL_LATER, error);
        }
        g_clear_pointer(&waiting, query_free);
        g_assert_false(store_commit(fixture->store, &error));
        assert_failed(FAIL_LATER, error);
        g_assert_cmpint(number(fixture->store, "SELECT count(*) FROM domain"), ==, 1);
    }
    assert_ok(domain_create(fixture->store, "after.example.net", NULL, &error), error);
    g_assert_cmpint(number(other, "SELECT count(*) FROM domain"), ==, 2);
}

/* Cut after each row: the cursor fails, and never says before the last row that it came to its end. Rows that came with
 * one answer of the server are there. */
static void test_roster(Fixture *fixture, const void *data)
{
    (void)data;
    if (!is_postgresql())
        return;
    enum { COUNT = 1150 };
    GError *error = NULL;
    add_members(fixture->store, COUNT);
    g_autoptr(Store) other = fixture_connect(fixture, &error);
    static const int cuts[] = {0,   1,   2,   50,  98,   99,   100,  101,  350, 598,
                               599, 600, 601, 900, 1098, 1099, 1100, 1101, 1149};
    for (size_t i = 0; i < G_N_ELEMENTS(cuts); i++) {
        int after = cuts[i];
        g_autoptr(RecipientCursor) cursor = recipient_cursor_open(fixture->store, LIST, NULL, NULL, &error);
        g_assert_no_error(error);
        int seen = 0;
        while (seen < after && recipient_cursor_next(cursor, &error))
            seen++;
        g_assert_cmpint(seen, ==, after);
        if (after == 0)
            g_assert_nonnull(recipient_cursor_next(cursor, &error));
        cut(other, process_of(fixture->store));
        int all = MAX(seen, 1);
        while (recipient_cursor_next(cursor, &error))
            all++;
        if (all < COUNT || error) /* else the last rows had come before the cut */
            assert_failed(FAIL_LATER, error);
    }
    /* Whole again, and writing is possible again. */
    g_autoptr(RecipientCursor) cursor = recipient_cursor_open(fixture->store, LIST, NULL, NULL, &error);
    int seen = 0;
    while (recipient_cursor_next(cursor, &error))
        seen++;
    g_assert_no_error(error);
    g_assert_cmpint(seen, ==, COUNT);
    g_clear_pointer(&cursor, recipient_cursor_free);
    assert_ok(domain_create(fixture->store, "after.example.net", NULL, &error), error);
}

/* A statement that nobody waited for fails the transaction that it belongs to, and a savepoint undoes it. */
static void test_later(Fixture *fixture, const void *data)
{
    (void)data;
    GError *error = NULL;
    static const char insertion[] = "INSERT INTO secret (key, octets, replaced_at) VALUES ($1, $2, 0)";
    assert_ok(store_begin(fixture->store, &error), error);
    for (int i = 0; i < 1000; i++)
        assert_ok(query_later(fixture->store, &error, insertion, INTEGER(i), BLOB("x", 1)), error);
    g_assert_cmpint(number(fixture->store, "SELECT count(*) FROM secret"), ==, 1000);
    assert_ok(store_savepoint(fixture->store, &error), error);
    bool sent = query_later(fixture->store, &error, insertion, INTEGER(5), BLOB("x", 1));
    g_clear_error(&error);
    store_savepoint_end(fixture->store, false);
    assert_ok(store_commit(fixture->store, &error), error);
    g_assert_cmpint(number(fixture->store, "SELECT count(*) FROM secret"), ==, 1000);
    if (!sent) /* a driver that waits tells at once */
        return;
    assert_ok(store_begin(fixture->store, &error), error);
    assert_ok(query_later(fixture->store, &error, insertion, INTEGER(2000), BLOB("x", 1)), error);
    assert_ok(query_later(fixture->store, &error, insertion, INTEGER(7), BLOB("x", 1)), error);
    g_assert_false(store_commit(fixture->store, &error));
    assert_failed(FAIL_LATER, error);
    g_assert_cmpint(number(fixture->store, "SELECT count(*) FROM secret"), ==, 1000);
    assert_ok(domain_create(fixture->store, "after.example.net", NULL, &error), error);
}

static void run_all(Store *store, const char *const *texts)
{
    GError *error = NULL;
    for (; *texts; texts++)
        assert_ok(query_all(store, &error, NULL, *texts, NULL, 0), error);
}

static bool record_seen(Store *store, const char *id, GError **error)
{
    bool known;
    return list_record_message_id(store, LIST, &(SeenMail){id, "in:1", "spool", 1, NULL}, &known, error) && !known;
}

/* The first statement of a transaction of lists travels with its begin, and is done again with it when another
 * transaction wins. A later one is not, since only who began it could do all of it again. */
static void test_another_wins(Fixture *fixture, const void *data)
{
    (void)data;
    if (!is_postgresql())
        return;
    static const char *const loses[] = {
        "CREATE SEQUENCE tries",
        "CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF nextval(''tries'') % 3 <> 0 THEN RAISE "
        "EXCEPTION ''another won'' USING ERRCODE = ''40001''; END IF; RETURN NEW; END'",
        "CREATE TRIGGER lose BEFORE INSERT ON message_id FOR EACH ROW EXECUTE FUNCTION lose()", NULL};
    GError *error = NULL;
    store_version(fixture->store);                                   /* from now on the list's key is known, */
    assert_ok(record_seen(fixture->store, "zero@x", &error), error); /* and the statement is prepared */
    run_all(fixture->store, loses);
    g_autoptr(GPtrArray) lists = g_ptr_array_new();
    g_ptr_array_add(lists, (gpointer)LIST);
    assert_ok(store_begin_lists(fixture->store, lists, &error), error);
    assert_ok(store_savepoint(fixture->store, &error), error);
    assert_ok(record_seen(fixture->store, "one@x", &error), error);
    store_savepoint_end(fixture->store, true);
    g_assert_cmpint(number(fixture->store, "SELECT last_value FROM tries"), ==, 3);
    assert_ok(store_savepoint(fixture->store, &error), error);
    g_assert_false(record_seen(fixture->store, "two@x", &error));
    assert_failed(FAIL_LATER, error);
    store_savepoint_end(fixture->store, false);
    assert_ok(store_commit(fixture->store, &error), error);
    g_assert_cmpint(number(fixture->store, "SELECT last_value FROM tries"), ==, 4);
    g_assert_cmpint(number(fixture->store, "SELECT count(*) FROM message_id WHERE message_id = 'one@x'"), ==, 1);
    g_assert_cmpint(number(fixture->store, "SELECT count(*) FROM message_id"), ==, 2);
}

static const char division[] = "SELECT 1 / ($1 - 1)";

static void say_soon(Store *store)
{
    store_soon_forget(store);
    store_version_soon(store);
    store_find_effect_soon(store, "in:1");
    ban_check_soon(store, LIST, mailbox_of("bad@example.org"));
    ban_check_soon(store, LIST, mailbox_of("good@example.org"));
    list_knows_message_id_soon(store, LIST, "one@x", "in:9");
    recipient_soon(store, LIST, NULL);
}

static void ask(Store *store, bool recorded, int members)
{
    GError *error = NULL;
    g_autofree char *by = NULL, *none = NULL;
    bool before, known;
    int64_t effect, count;
    store_version(store);
    assert_ok(store_find_effect(store, "in:1", &before, &effect, &error), error);
    g_assert_cmpint(effect, ==, recorded ? 5 : 0);
    assert_ok(ban_check(store, LIST, mailbox_of("good@example.org"), NULL, &none, &error), error);
    assert_ok(ban_check(store, LIST, mailbox_of("bad@example.org"), NULL, &by, &error), error);
    g_assert_null(none);
    g_assert_cmpstr(by, ==, "bad@example.org");
    assert_ok(list_knows_message_id(store, LIST, "one@x", "in:9", &known, &error), error);
    g_assert_true(known == recorded);
    assert_ok(recipient_count(store, LIST, &count, &error), error);
    g_assert_cmpint(count, ==, members);
    g_autoptr(RecipientCursor) cursor = recipient_cursor_open(store, LIST, NULL, NULL, &error);
    for (count = 0; recipient_cursor_next(cursor, &error);)
        count++;
    g_assert_no_error(error);
    g_assert_cmpint(count, ==, members);
}

static void record_in_another(Store *other, const char *entry)
{
    GError *error = NULL;
    assert_ok(store_begin(other, &error), error);
    assert_ok(store_record_effect(other, entry, 5, &error), error);
    assert_ok(store_commit(other, &error), error);
}

/* Check that questions asked together are answered as each would be alone: also when the connection was lost, when
 * something was changed, and when one of them fails. The recipients are one less than come at first, and then as
 * many. */
static void test_soon(Fixture *fixture, const void *data)
{
    (void)data;
    GError *error = NULL;
    g_autoptr(Store) other = fixture_connect(fixture, &error);
    add_members(fixture->store, 99);
    assert_ok(ban_add(fixture->store, LIST, "bad@example.org", &error), error);
    for (int round = 0; round < 2; round++) {
        say_soon(fixture->store);
        if (round == 1 && g_str_equal(fixture_driver(), "postgresql"))
            cut(other, process_of(fixture->store));
        ask(fixture->store, false, 99);
    }
    say_soon(fixture->store);
    record_in_another(other, "in:1");
    g_assert_true(record_seen(other, "one@x", &error));
    assert_ok(member_add(other, LIST, ROLE_MEMBER, mailbox_of("last@example.org"), NULL, NULL, &error), error);
    ask(fixture->store, true, 100);
    say_soon(fixture->store);
    query_soon(fixture->store, division, INTEGER(1));
    ban_check_soon(fixture->store, LIST, mailbox_of("bad@example.org"));
    ask(fixture->store, true, 100);
}

/* The answer to a question of ours is there when another connection makes it wrong. */
static void ask_and_change(Fixture *fixture)
{
    GError *error = NULL;
    bool before;
    int64_t effect;
    g_autoptr(Store) other = fixture_connect(fixture, &error);
    store_find_effect_soon(fixture->store, "in:2");
    store_find_effect_soon(fixture->store, "in:3");
    assert_ok(store_find_effect(fixture->store, "in:3", &before, &effect, &error), error);
    record_in_another(other, "in:2");
}

/* Check that an answer from before a transaction took its locks is not used in it. */
static void test_soon_before(Fixture *fixture, const void *data)
{
    (void)data;
    GError *error = NULL;
    bool before;
    int64_t effect;
    ask_and_change(fixture);
    assert_ok(store_begin(fixture->store, &error), error);
    assert_ok(store_find_effect(fixture->store, "in:2", &before, &effect, &error), error);
    g_assert_true(before);
    assert_ok(store_commit(fixture->store, &error), error);
}

/* A question that is said again is asked again. */
static void test_soon_again(Fixture *fixture, const void *data)
{
    (void)data;
    GError *error = NULL;
    bool before;
    int64_t effect;
    ask_and_change(fixture);
    store_find_effect_soon(fixture->store, "in:2");
    assert_ok(store_find_effect(fixture->store, "in:2", &before, &effect, &error), error);
    g_assert_true(before);
}

/* A stream that fails leaves no transaction behind in which all else would fail. */
static void test_stream_fails(Fixture *fixture, const void *data)
{
    (void)data;
    if (!is_postgresql())
        return;
    GError *error = NULL;
    for (int said = 0; said < 2; said++) {
        if (said)
            query_stream_soon(fixture->store, division, INTEGER(1));
        g_autoptr(Query) query = query_stream(fixture->store, &error, division, INTEGER(1));
        g_assert_cmpint(query_step(query, &error), ==, STEP_FAILED);
        assert_failed(FAIL_LATER, error);
        g_clear_pointer(&query, query_free);
        g_assert_cmpint(number(fixture->store, "SELECT count(*) FROM domain"), ==, 1);
    }
}

/* A statement that one part sent without waiting may fail while the next part waits. It must not be taken for the fault
 * of the next part alone, with which the writes of the first would be undone. */
static void test_part_before(Fixture *fixture, const void *data)
{
    (void)data;
    if (!is_postgresql())
        return;
    GError *error = NULL;
    record_in_another(fixture->store, "in:1");
    g_autoptr(GPtrArray) lists = g_ptr_array_new();
    g_ptr_array_add(lists, (gpointer)LIST);
    for (int inner = 0; inner < 2; inner++) {
        assert_ok(store_begin_lists(fixture->store, lists, &error), error);
        assert_ok(store_savepoint(fixture->store, &error), error);
        assert_ok(record_seen(fixture->store, "one@x", &error), error);
        if (inner)
            assert_ok(store_savepoint(fixture->store, &error), error);
        assert_ok(store_record_effect(fixture->store, "in:1", 6, &error), error);
        store_savepoint_end(fixture->store, true);
        if (!inner)
            assert_ok(store_savepoint(fixture->store, &error), error);
        g_assert_false(record_seen(fixture->store, "two@x", &error));
        assert_failed(FAIL_LATER, error);
        store_savepoint_end(fixture->store, false);
        g_assert_false(store_commit(fixture->store, &error));
        assert_failed(FAIL_LATER, error);
        g_assert_cmpint(number(fixture->store, "SELECT count(*) FROM message_id"), ==, 0);
    }
    /* The fault of a part that is still open is undone with it. */
    assert_ok(store_begin_lists(fixture->store, lists, &error), error);
    assert_ok(store_savepoint(fixture->store, &error), error);
    assert_ok(record_seen(fixture->store, "one@x", &error), error);
    store_savepoint_end(fixture->store, true);
    assert_ok(store_savepoint(fixture->store, &error), error);
    assert_ok(store_record_effect(fixture->store, "in:1", 6, &error), error);
    g_assert_false(record_seen(fixture->store, "two@x", &error));
    assert_failed(FAIL_LATER, error);
    store_savepoint_end(fixture->store, false);
    assert_ok(store_commit(fixture->store, &error), error);
    g_assert_cmpint(number(fixture->store, "SELECT count(*) FROM message_id WHERE message_id = 'one@x'"), ==, 1);
}

/* A text of mail that is no UTF-8, or has a zero byte, is kept with replacement characters: it neither fails nor ends
 * early, and what stands beside it is not touched. */
static void test_wrong_bytes(Fixture *fixture, const void *data)
{
    (void)data;
    if (!is_postgresql())
        return;
    GError *error = NULL;
    Store *store = fixture->store;
    assert_ok(
        member_add(store, LIST, ROLE_MEMBER, mailbox_of("jose@example.org"), "Jos\xe9 P\xc3\xa9rez", NULL, &error),
        error);
    g_autoptr(Member) jose = NULL;
    assert_ok(member_look_up(store, LIST, ROLE_MEMBER, mailbox_of("jose@example.org"), &jose, &error), error);
    g_assert_cmpstr(jose->display_name, ==, "Jos\xef\xbf\xbd P\xc3\xa9rez");
    static const struct {
        const char *octets, *kept;
        size_t length;
    } texts[] = {{"a\0b",
                  "a\xef\xbf\xbd"
                  "b",
                  3},
                 {"\xff", "\xef\xbf\xbd", 1},
                 {"\xc3\xa9", "\xc3\xa9", 2},
                 {"", "", 0}};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        const Value values[] = {{.type = VALUE_TEXT, .data = texts[i].octets, .length = texts[i].length},
                                TEXT("beside")};
        g_autoptr(Query) query = query_start(store, &error, "SELECT $1, $2", values, G_N_ELEMENTS(values));
        g_assert_no_error(error);
        g_assert_cmpint(query_step(query, &error), ==, STEP_ROW);
        g_assert_cmpstr(query_text(query, 0), ==, texts[i].kept);
        g_assert_cmpstr(query_text(query, 1), ==, "beside");
    }
}

/* Outside of a transaction a statement that lost against another one is no fault: it is done again. */
static void test_another_wins_outside(Fixture *fixture, const void *data)
{
    (void)data;
    if (!is_postgresql())
        return;
    static const char *const loses[] = {
        "CREATE SEQUENCE tries",
        "CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF nextval(''tries'') % 3 <> 0 THEN RAISE "
        "EXCEPTION ''another won'' USING ERRCODE = ''40001''; END IF; RETURN NEW; END'",
        "CREATE TRIGGER lose BEFORE INSERT ON secret FOR EACH ROW EXECUTE FUNCTION lose()", NULL};
    GError *error = NULL;
    run_all(fixture->store, loses);
    for (int i = 1; i <= 2; i++) {
        int64_t changed = 0;
        assert_ok(query_run(fixture->store, &error, &changed,
                            "INSERT INTO secret (key, octets, replaced_at) VALUES ($1, $2, 0)", INTEGER(i),
                            BLOB("x", 1)),
                  error);
        g_assert_cmpint(changed, ==, 1);
        g_assert_cmpint(number(fixture->store, "SELECT last_value FROM tries"), ==, 3 * i);
    }
    g_assert_cmpint(number(fixture->store, "SELECT count(*) FROM secret"), ==, 2);
}

/* A transaction in which a statement failed is not committed, also where nobody heeded the fault: the server undoes it,
 * and its end says so. */
static void test_spoiled(Fixture *fixture, const void *data)
{
    (void)data;
    if (!is_postgresql())
        return;
    GError *error = NULL;
    for (int last = 0; last < 2; last++) {
        assert_ok(store_begin(fixture->store, &error), error);
        assert_ok(domain_create(fixture->store, "before.example.net", NULL, &error), error);
        g_assert_false(query_run(fixture->store, &error, NULL, division, INTEGER(1)));
        assert_failed(FAIL_LATER, error);
        if (!last) {
            g_assert_false(domain_create(fixture->store, "behind.example.net", NULL, &error));
            g_clear_error(&error);
        }
        g_assert_false(store_commit(fixture->store, &error));
        assert_failed(FAIL_LATER, error);
        g_assert_cmpint(number(fixture->store, "SELECT count(*) FROM domain"), ==, 1);
    }
    assert_ok(domain_create(fixture->store, "after.example.net", NULL, &error), error);
    /* The driver alone says so, too. */
    PgsqlConnection *connection = store_connection(fixture->store);
    assert_ok(pgsql_begin(connection, &error), error);
    libpq.PQclear(pgsql_exec(connection, "DELETE FROM domain"));
    libpq.PQclear(pgsql_exec(connection, "SELECT 1 / 0"));
    g_assert_false(pgsql_commit(connection, &error));
    assert_failed(FAIL_LATER, error);
    g_assert_cmpint(number(fixture->store, "SELECT count(*) FROM domain"), ==, 2);
}

/* A server that keeps the connection and answers nothing is as good as away, and comes back by itself. A door learns
 * that at once from then on. */
static void test_stalled(Fixture *fixture, const void *data)
{
    (void)data;
    if (!is_postgresql())
        return;
    GError *error = NULL;
    g_autoptr(Store) stalled = fixture_connect(fixture, &error);
    store_set_deadline(stalled, CLOCK_SECOND);
    for (int within = 0; within < 2; within++) {
        pid_t process = (pid_t)process_of(stalled);
        if (kill(process, SIGSTOP) != 0) {
            g_test_skip("the server is not on this machine, or not ours");
            return;
        }
        int64_t version;
        for (int tries = 0; tries < 100; tries++) {
            g_assert_false(store_read_version(stalled, &version, &error));
            assert_failed(FAIL_LATER, error);
            g_assert_false(store_reachable(stalled));
        }
        kill(process, SIGCONT);
        while (!store_reachable(stalled))
            g_usleep(10000);
        assert_ok(store_read_version(stalled, &version, &error), error);
    }
}

static void refused(const char *where, bool create, int code, const char *words)
{
    GError *error = NULL;
    g_autoptr(Store) store = store_open("postgresql", where, create, &error);
    g_assert_null(store);
    if (!strstr(error->message, words))
        g_error("%s: does not say \"%s\"", error->message, words);
    g_assert_null(strstr(error->message, "Pa55word"));
    assert_failed(code, error);
}

static void test_refused(Fixture *fixture, const void *data)
{
    (void)data;
    if (!is_postgresql())
        return;
    GError *error = NULL;
    refused("postgresql://user:Pa55word@127.0.0.1:1/db", false, FAIL_LATER, "127.0.0.1");
    refused("postgresql://user:Pa55word@127.0.0.1:1/db?ssl=maybe", false, FAIL_CONFIG, "ssl");
    g_autofree char *fresh = fixture_where(fixture->directory, "new");
    refused(fresh, false, FAIL_MISSING, "listrunner store create");
    /* Another schema of the same database, in which somebody else works. */
    g_autofree char *theirs = fixture_where(fixture->directory, "theirs"), *name = NULL;
    g_autofree char *base = g_path_get_basename(fixture->directory);
    name = g_strdup_printf("CREATE SCHEMA \"%s-theirs\"", base);
    assert_ok(query_all(fixture->store, &error, NULL, name, NULL, 0), error);
    g_autofree char *table = g_strdup_printf("CREATE TABLE \"%s-theirs\".invoice (x int)", base);
    assert_ok(query_all(fixture->store, &error, NULL, table, NULL, 0), error);
    refused(theirs, true, FAIL_CONFIG, "invoice");
    g_assert_false(store_find("postgresql", theirs, &error));
    assert_failed(FAIL_CONFIG, error);
}

/* The site's database is compared with what its spool knows, at each connection, and the databases that others keep on
 * a server are not. A comparison to which no answer came refuses nobody for being old. */
static void test_older(Fixture *fixture, const void *data)
{
    (void)data;
    if (!is_postgresql())
        return;
    GError *error = NULL;
    g_autoptr(Store) other = fixture_connect(fixture, &error);
    g_autofree char *noted = g_build_filename(fixture->directory, GENERATION_FILE, NULL);
    g_autofree char *theirs = fixture_where(fixture->directory, "theirs");
    g_assert_true(g_file_set_contents(noted, "7301 1 1790000000000000 generation@a1\n", -1, &error));
    generation_expect(fixture->directory, fixture->path);
    refused(fixture->path, false, FAIL_LATER, "it is not the database that this host worked with");
    g_autoptr(Foreign) foreign = foreign_open(theirs, &error);
    g_assert_no_error(error);
    g_assert_nonnull(foreign);
    PgsqlConnection *connection = store_connection(fixture->store);
    g_auto(Generation) found = {0}, lost = {0};
    assert_ok(pgsql_read_generation(connection, "generation@a1", &found, &error), error);
    g_assert_nonnull(found.system);
    g_assert_cmpint(found.timeline, >, 0);
    g_assert_cmpint(found.count, ==, 0);
    cut(other, process_of(fixture->store));
    g_assert_false(pgsql_read_generation(connection, "generation@a1", &lost, &error));
    assert_failed(FAIL_LATER, error);
    generation_accept();
    g_autoptr(Store) taken = store_open("postgresql", fixture->path, false, &error);
    g_assert_no_error(error);
}

/* Asks for more than the time that there is for an answer. */
static void stall(Store *store)
{
    GError *error = NULL;
    store_set_deadline(store, CLOCK_SECOND / 10);
    g_autoptr(Query) query = query_start(store, &error, "SELECT pg_sleep(60)", NULL, 0);
    g_assert_true(!query || query_step(query, &error) == STEP_FAILED);
    assert_failed(FAIL_LATER, error);
}

static void speak(const Fixture *fixture, bool both)
{
    Store *one = fixture_connect(fixture, NULL), *other = fixture_connect(fixture, NULL);
    stall(one);
    if (both)
        stall(other);
    store_free(one);
    child_beat(1, 0, 0, 0, NULL);
    store_free(other);
    child_beat(2, 0, 0, 0, NULL);
}

/* The notice to the master is over when the last store that had given one is closed. */
static void test_notice_ends(Fixture *fixture, const void *data)
{
    (void)data;
    if (!is_postgresql())
        return;
    for (int both = 0; both < 2; both++) {
        int ends[2];
        char text[4 * CHILD_LINE_MAX] = "";
        size_t length = 0;
        g_assert_cmpint(pipe(ends), ==, 0);
        pid_t pid = fork();
        if (pid == 0) {
            dup2(ends[1], CHILD_STATUS_FD);
            g_setenv(CHILD_ENV_RUNNER, "test", TRUE);
            g_assert_nonnull(child_init("test", NULL));
            speak(fixture, both);
            _exit(0);
        }
        close(ends[1]);
        for (ssize_t got; (got = read(ends[0], text + length, sizeof text - length - 1)) > 0;)
            length += (size_t)got;
        close(ends[0]);
        g_assert_cmpint(waitpid(pid, NULL, 0), ==, pid);
        g_test_message("%s", text);
        const char *first = strstr(text, "beat progress=1"), *second = strstr(text, "beat progress=2");
        g_assert_true(first && second && strstr(text, "is away since") < first);
        const char *again = strstr(first, "is away since");
        g_assert_true(both ? again && again < second : !again);
        g_assert_null(strstr(second, "is away since"));
    }
}

SUITE("pgsql")
{
    g_test_init(&argc, &argv, NULL);
    TEST_WITH_LIST("/pgsql/a connection comes back", test_comes_back);
    TEST_WITH_LIST("/pgsql/a transaction is lost whole", test_lost_within);
    TEST_WITH_LIST("/pgsql/a roster that is cut", test_roster);
    TEST("/pgsql/nobody waited", test_later);
    TEST_WITH_LIST("/pgsql/another wins", test_another_wins);
    TEST_WITH_LIST("/pgsql/wrong bytes in a text", test_wrong_bytes);
    TEST_WITH_LIST("/pgsql/another wins outside of a transaction", test_another_wins_outside);
    TEST_WITH_LIST("/pgsql/a spoiled transaction", test_spoiled);
    TEST_WITH_LIST("/pgsql/asked together", test_soon);
    TEST_WITH_LIST("/pgsql/asked before", test_soon_before);
    TEST_WITH_LIST("/pgsql/asked again", test_soon_again);
    TEST_WITH_LIST("/pgsql/a stream fails", test_stream_fails);
    TEST_WITH_LIST("/pgsql/a part before", test_part_before);
    TEST_WITH_LIST("/pgsql/a server that stands still", test_stalled);
    TEST("/pgsql/a notice ends with its store", test_notice_ends);
    TEST("/pgsql/refused", test_refused);
    TEST("/pgsql/an older one", test_older);
    return g_test_run();
}
