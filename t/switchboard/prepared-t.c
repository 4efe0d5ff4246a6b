/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "switchboard/prepared.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/fs.h"
#include "t/suite.h"
#include "t/switchboard/fixture.h"

/* Holds what a database would know: tags that were committed, and those that were given up. */
typedef struct Decisions {
    GHashTable *committed, *given_up;
    bool fails;
    unsigned asked;
} Decisions;

static void decisions_init(Decisions *known)
{
    *known = (Decisions){.committed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                         .given_up = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
}

static void decisions_clear(Decisions *known)
{
    g_hash_table_unref(known->committed);
    g_hash_table_unref(known->given_up);
}

static bool decide(void *data, const char *tag, bool *committed, GError **error)
{
    Decisions *known = data;
    known->asked++;
    if (known->fails)
        return fail(error, FAIL_LATER, "the database is away");
    *committed = g_hash_table_contains(known->committed, tag);
    if (!*committed)
        g_hash_table_add(known->given_up, g_strdup(tag));
    return true;
}

static GPtrArray *drafts_for(const char *const *queues, const char *text)
{
    GPtrArray *drafts = g_ptr_array_new_with_free_func((GDestroyNotify)draft_free);
    for (; *queues; queues++)
        g_ptr_array_add(drafts, fixture_draft(*queues, "test.example.com", text));
    return drafts;
}

static const char *const two[] = {"virgin", "hooks", NULL};

static Prepared *write_two(Spool *spool, const char *text)
{
    GError *error = NULL;
    Prepared *prepared = prepared_new(spool, &error);
    g_assert_no_error(error);
    g_autoptr(GPtrArray) drafts = drafts_for(two, text);
    g_assert_true(prepared_write(prepared, drafts, &error));
    g_assert_no_error(error);
    return prepared;
}

static unsigned count(Fixture *fixture, const char *suffix)
{
    return fixture_count(fixture, "virgin", suffix) + fixture_count(fixture, "hooks", suffix);
}

static bool settle(Fixture *fixture, Decisions *known, GHashTable *left, GError **error)
{
    bool done = true;
    for (const char *const *name = two; *name; name++)
        done = prepared_settle(spool_queue(fixture->spool, *name, NULL), decide, known, left, done ? error : NULL) &&
               done;
    return done;
}

static void assert_settled(Fixture *fixture, Decisions *known, unsigned published)
{
    GError *error = NULL;
    g_assert_true(settle(fixture, known, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(count(fixture, ".tmp"), ==, 0);
    g_assert_cmpuint(count(fixture, ".msg"), ==, published);
}

static void test_publishes(Fixture *fixture, gconstpointer data)
{
    g_autoptr(Prepared) one = write_two(fixture->spool, "one"), other = write_two(fixture->spool, "one");
    g_autofree char *queues = prepared_queues(one), *virgin = fixture_files(fixture, "virgin", ".tmp");
    g_assert_cmpstr(queues, ==, "virgin hooks");
    g_assert_nonnull(strstr(virgin, prepared_tag(one)));
    g_assert_nonnull(strstr(virgin, prepared_tag(other)));
    g_assert_cmpuint(count(fixture, ".msg"), ==, 0);
    prepared_publish(one);
    g_assert_cmpuint(count(fixture, ".msg"), ==, 2);
    prepared_withdraw(other);
    g_assert_cmpuint(count(fixture, ".tmp"), ==, 0);
    g_assert_cmpuint(count(fixture, ".msg"), ==, 2);
}

/* More than are open at a time. */
static void test_many(Fixture *fixture, gconstpointer data)
{
    GError *error = NULL;
    g_autoptr(Prepared) prepared = prepared_new(fixture->spool, &error);
    g_autoptr(GPtrArray) drafts = g_ptr_array_new_with_free_func((GDestroyNotify)draft_free);
    for (int i = 0; i < 301; i++)
        g_ptr_array_add(drafts, fixture_draft("virgin", "test.example.com", "text"));
    g_assert_true(prepared_write(prepared, drafts, &error));
    g_assert_cmpuint(fixture_count(fixture, "virgin", ".tmp"), ==, 301);
    prepared_publish(prepared);
    g_assert_cmpuint(fixture_count(fixture, "virgin", ".msg"), ==, 301);
}

/* A dead writer leaves both of its files. */
static void test_settles(Fixture *fixture, gconstpointer data)
{
    Decisions known;
    decisions_init(&known);
    Prepared *good = write_two(fixture->spool, "good"), *bad = write_two(fixture->spool, "bad");
    g_hash_table_add(known.committed, g_strdup(prepared_tag(good)));
    prepared_free(good);
    prepared_free(bad);
    assert_settled(fixture, &known, 2);
    g_autofree char *hook = fixture_files(fixture, "hooks", ".msg");
    g_autofree char *path = fixture_file_path(fixture, "hooks", hook), *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_assert_nonnull(strstr(text, "good"));
    unsigned asked = known.asked;
    assert_settled(fixture, &known, 2);
    g_assert_cmpuint(known.asked, ==, asked);
    decisions_clear(&known);
}

/* A writer that lives is left alone, one that published a part of its entries and died is not. */
static void test_living(Fixture *fixture, gconstpointer data)
{
    Decisions known;
    decisions_init(&known);
    Prepared *prepared = write_two(fixture->spool, "text");
    g_hash_table_add(known.committed, g_strdup(prepared_tag(prepared)));
    g_autoptr(GHashTable) left = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_assert_true(settle(fixture, &known, left, NULL));
    g_assert_cmpuint(count(fixture, ".tmp"), ==, 2);
    g_assert_true(g_hash_table_contains(left, prepared_tag(prepared)));
    g_assert_cmpuint(known.asked, ==, 0);
    prepared_free(prepared);
    assert_settled(fixture, &known, 2);
    decisions_clear(&known);
}

/* Nothing is decided while nobody can be asked, and it holds no other queue up. */
static void test_cannot_decide(Fixture *fixture, gconstpointer data)
{
    GError *error = NULL;
    Decisions known;
    decisions_init(&known);
    known.fails = true;
    prepared_free(write_two(fixture->spool, "text"));
    g_autoptr(GHashTable) left = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_assert_false(settle(fixture, &known, left, &error));
    g_assert_error(error, FAIL, FAIL_LATER);
    g_clear_error(&error);
    g_assert_cmpuint(known.asked, ==, 2);
    g_assert_cmpuint(g_hash_table_size(left), ==, 1);
    g_assert_cmpuint(count(fixture, ".tmp"), ==, 2);
    known.fails = false;
    assert_settled(fixture, &known, 0);
    decisions_clear(&known);
}

/* The n-th call fails. */
static int calls_left;

static int fail_call(const FsEvent *event, void *data)
{
    return calls_left-- == 0 ? ENOSPC : 0;
}

/* Whatever call fails while it is written, nothing of it is left. */
static void test_faults(Fixture *fixture, gconstpointer data)
{
    spool_queue(fixture->spool, "virgin", NULL);
    spool_queue(fixture->spool, "hooks", NULL);
    bool done = false;
    int failed = 0;
    for (int call = 0; !done; call++) {
        GError *error = NULL;
        g_autoptr(Prepared) prepared = prepared_new(fixture->spool, NULL);
        g_autoptr(GPtrArray) drafts = drafts_for(two, "text");
        calls_left = call;
        fs_set_hook(fail_call, NULL);
        done = prepared_write(prepared, drafts, &error);
        fs_set_hook(NULL, NULL);
        if (!done) {
            g_assert_error(error, FAIL, FAIL_LATER);
            g_clear_error(&error);
            g_assert_cmpuint(count(fixture, ""), ==, 0);
            failed++;
        }
    }
    g_assert_cmpint(failed, >=, 8); /* create, write, sync of two files and two directories */
}

static int no_renames(const FsEvent *event, void *data)
{
    return event->call == FS_RENAME || event->call == FS_UNLINK ? EIO : 0;
}

/* A rename that is refused is made later; so is an unlink. */
static void test_refused(Fixture *fixture, gconstpointer data)
{
    Decisions known;
    decisions_init(&known);
    Prepared *good = write_two(fixture->spool, "good"), *bad = write_two(fixture->spool, "bad");
    g_hash_table_add(known.committed, g_strdup(prepared_tag(good)));
    fs_set_hook(no_renames, NULL);
    prepared_publish(good);
    prepared_withdraw(bad);
    fs_set_hook(NULL, NULL);
    prepared_free(good);
    prepared_free(bad);
    g_assert_cmpuint(count(fixture, ".tmp"), ==, 4);
    assert_settled(fixture, &known, 2);
    decisions_clear(&known);
}

/* Several that settle at once, beside writers that live: each entry comes once. */
static void test_at_once(Fixture *fixture, gconstpointer data)
{
    Decisions known;
    decisions_init(&known);
    for (int i = 0; i < 50; i++) {
        Prepared *prepared = write_two(fixture->spool, "text");
        g_hash_table_add(known.committed, g_strdup(prepared_tag(prepared)));
        prepared_free(prepared);
    }
    g_autoptr(Prepared) living = write_two(fixture->spool, "living");
    pid_t pids[4];
    for (size_t i = 0; i < G_N_ELEMENTS(pids); i++)
        if ((pids[i] = fork()) == 0) {
            g_autoptr(Spool) spool = spool_open(fixture->path, NULL);
            bool done = true;
            for (const char *const *name = two; *name; name++)
                done = prepared_settle(spool_queue(spool, *name, NULL), decide, &known, NULL, NULL) && done;
            _exit(done ? 0 : 1);
        }
    for (size_t i = 0; i < G_N_ELEMENTS(pids); i++) {
        int status;
        g_assert_cmpint(waitpid(pids[i], &status, 0), ==, pids[i]);
        g_assert_cmpint(status, ==, 0);
    }
    g_assert_cmpuint(count(fixture, ".msg"), ==, 100);
    g_assert_cmpuint(count(fixture, ".tmp"), ==, 2);
    prepared_publish(living);
    g_assert_cmpuint(count(fixture, ".msg"), ==, 102);
    decisions_clear(&known);
}

/* A power cut undid the publication of an entry whose runner had written a child: that is taken back, not set aside. */
static void test_parent(Fixture *fixture, gconstpointer data)
{
    GError *error = NULL;
    Decisions known;
    decisions_init(&known);
    Prepared *prepared = write_two(fixture->spool, "text");
    g_hash_table_add(known.committed, g_strdup(prepared_tag(prepared)));
    prepared_free(prepared);
    g_autofree char *name = fixture_files(fixture, "virgin", ".tmp");
    g_autofree char *hash = g_strndup(strchr(name, '+') + 1, 40);
    g_autofree char *child = g_strdup_printf("1700000000.000001+0123456789012345678901234567890123456789.virgin-%s.tmp",
                                             hash);
    g_autofree char *out = g_build_filename(fixture->path, "out", NULL), *path = g_build_filename(out, child, NULL);
    g_assert_nonnull(spool_queue(fixture->spool, "out", &error));
    g_assert_true(g_file_set_contents(path, "part", -1, &error));
    Inbox *inbox = fixture_inbox(fixture, "virgin");
    g_assert_cmpuint(fixture_count(fixture, "out", ""), ==, 0);
    g_assert_cmpuint(fixture_count(fixture, "shunt", ""), ==, 0);
    assert_settled(fixture, &known, 2);
    inbox_free(inbox);
    decisions_clear(&known);
}

#define ADD(path, test) g_test_add("/prepared/" path, Fixture, NULL, fixture_set_up, test, fixture_tear_down)

SUITE("prepared")
{
    g_test_init(&argc, &argv, NULL);
    ADD("publishes", test_publishes);
    ADD("many", test_many);
    ADD("settles", test_settles);
    ADD("living", test_living);
    ADD("cannot decide", test_cannot_decide);
    ADD("faults", test_faults);
    ADD("refused", test_refused);
    ADD("at once", test_at_once);
    ADD("parent", test_parent);
    return g_test_run();
}
