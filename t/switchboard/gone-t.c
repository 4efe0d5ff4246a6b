/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* A queue directory that is taken away, comes back, or is replaced by another. */
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "switchboard/recover.h"
#include "t/suite.h"
#include "t/switchboard/fixture.h"

#define LEFT 20 /* entries that a start leaves */

#define ADD(path, function) g_test_add(path, Fixture, NULL, fixture_set_up, function, fixture_tear_down)

static char *directory(Fixture *fixture, const char *name)
{
    return g_build_filename(fixture->path, name, NULL);
}

static void move(Fixture *fixture, const char *from, const char *to)
{
    g_autofree char *old = directory(fixture, from), *new = directory(fixture, to);
    g_assert_cmpint(g_rename(old, new), ==, 0);
}

static void quiet(const char *domain, GLogLevelFlags level, const char *text, gpointer data)
{
}

static bool store(Fixture *fixture, const char *queue, GError **error)
{
    Intake intake = {.draft = fixture_draft(queue, "t", "m")};
    bool stored = intake_store(fixture->spool, &intake, 1, false);
    draft_free(intake.draft);
    if (intake.error)
        g_propagate_error(error, intake.error);
    return stored;
}

/* Of a process that has it open and of one that starts: neither makes it anew, nor writes into what has no name. */
static void test_intake(Fixture *fixture, gconstpointer data)
{
    g_autofree char *out = directory(fixture, "out");
    g_assert_nonnull(spool_queue(fixture->spool, "out", NULL));
    g_assert_cmpint(rmdir(out), ==, 0);
    for (int i = 0; i < 2; i++) {
        g_autoptr(GError) error = NULL;
        g_assert_false(store(fixture, "out", &error));
        g_assert_error(error, FAIL, FAIL_LATER);
        g_assert_nonnull(strstr(error->message, out));
        g_assert_false(g_file_test(out, G_FILE_TEST_EXISTS));
        g_assert_true(store(fixture, "archive", NULL)); /* another goes on */
        fixture_reopen(fixture);
    }
    g_auto(GStrv) missing = spool_missing_queues(fixture->spool, NULL);
    g_assert_cmpstr(missing[0], ==, "out");
    g_assert_null(missing[1]);
    g_assert_nonnull(spool_queue_again(fixture->spool, "out", NULL));
    g_assert_true(store(fixture, "out", NULL));
    g_assert_cmpuint(fixture_count(fixture, "out", ".msg"), ==, 1);
}

/* In its place a file, a link, or another directory. */
static void test_replaced(Fixture *fixture, gconstpointer data)
{
    g_autofree char *out = directory(fixture, "out"), *elsewhere = directory(fixture, "Elsewhere");
    g_assert_nonnull(spool_queue(fixture->spool, "out", NULL));
    move(fixture, "out", "Elsewhere");
    for (int i = 0; i < 2; i++) {
        g_autoptr(GError) error = NULL;
        g_assert_true(i == 0 ? g_file_set_contents(out, "", 0, NULL) : symlink(elsewhere, out) == 0);
        g_assert_false(store(fixture, "out", &error));
        g_assert_error(error, FAIL, FAIL_LATER);
        g_assert_cmpint(unlink(out), ==, 0);
    }
    g_assert_cmpint(g_mkdir(out, 0750), ==, 0);
    g_assert_true(store(fixture, "out", NULL));
    g_assert_cmpuint(fixture_count(fixture, "out", ".msg"), ==, 1);
    g_assert_cmpuint(fixture_count(fixture, "Elsewhere", ""), ==, 0);
}

/* A hop into it fails for now, and its parent keeps its place. */
static void test_hop(Fixture *fixture, gconstpointer data)
{
    g_autofree char *out = directory(fixture, "out");
    g_assert_nonnull(spool_queue(fixture->spool, "out", NULL));
    g_free(fixture_store(fixture, "in", "m"));
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    GPtrArray *entries = fixture_claim(inbox);
    g_autoptr(Outcome) outcome = outcome_new(entries->pdata[0]);
    g_ptr_array_unref(entries);
    outcome_add(outcome, fixture_draft("archive", "t", "first"));
    outcome_add(outcome, fixture_draft("out", "t", "second"));
    g_assert_cmpint(rmdir(out), ==, 0);
    g_autoptr(Hop) hop = hop_new(fixture->spool);
    g_assert_true(hop_commit(hop, &outcome, 1, NULL));
    g_assert_error(outcome->error, FAIL, FAIL_LATER);
    g_assert_cmpuint(fixture_count(fixture, "in", ".bak"), ==, 1);
    g_assert_cmpuint(fixture_count(fixture, "archive", ""), ==, 0);
}

/* The inbox takes nothing while its directory is gone, and goes on when the same comes back. Another one is recovered
 * by a start. */
static void test_inbox(Fixture *fixture, gconstpointer data)
{
    Wakeup wakeup = {.polls = data != NULL, .poll_us = 1};
    g_free(fixture_store(fixture, "in", "m"));
    g_autoptr(Inbox) inbox = inbox_open(fixture->spool, "in", (Slice){0, 1}, wakeup, NULL);
    g_assert_cmpint(inbox_wait(inbox, clock_now()), ==, 0);
    move(fixture, "in", "Elsewhere");
    g_assert_true(inbox_refresh(inbox, NULL));
    g_assert_cmpuint(fixture_claim(inbox)->len, ==, 0);
    g_assert_cmpint(inbox_wait(inbox, clock_now()), >, 0);
    g_assert_false(inbox_needs_start(inbox));
    g_assert_null(inbox_open(fixture->spool, "in", (Slice){0, 1}, wakeup, NULL));
    move(fixture, "Elsewhere", "in");
    g_assert_true(inbox_refresh(inbox, NULL));
    g_assert_true(inbox_release(inbox, fixture_claim_one(inbox), 0, NULL));
    move(fixture, "in", "Elsewhere");
    g_assert_nonnull(spool_queue_again(fixture->spool, "in", NULL));
    g_assert_true(inbox_refresh(inbox, NULL));
    g_assert_true(inbox_needs_start(inbox));
}

/* Check that recovery does not take an entry that a killed hop made for published: it may be in the directory that is
 * gone. */
static void test_recovery(Fixture *fixture, gconstpointer data)
{
    g_assert_nonnull(spool_queue(fixture->spool, "out", NULL));
    g_autofree char *name = fixture_store(fixture, "in", "m");
    g_autofree char *ready = g_strconcat(name, ".msg", NULL), *decided = g_strconcat(name, ".done", NULL);
    g_autofree char *from = fixture_file_path(fixture, "in", ready), *to = fixture_file_path(fixture, "in", decided);
    g_assert_cmpint(g_rename(from, to), ==, 0);
    move(fixture, "out", "Elsewhere");
    RecoverReport report = {0};
    g_autoptr(GError) error = NULL;
    g_assert_false(recover_slice(spool_queue(fixture->spool, "in", NULL), (Slice){0, 1}, false, &report, &error));
    g_assert_error(error, FAIL, FAIL_LATER);
    g_assert_cmpuint(fixture_count(fixture, "in", ".done"), ==, 1);
    move(fixture, "Elsewhere", "out");
    g_assert_true(recover_slice(spool_queue(fixture->spool, "in", NULL), (Slice){0, 1}, false, &report, NULL));
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 0);
}

/* A runner that starts meanwhile leaves what is there, and works on what comes. It ends when both directories are
 * back. */
static void test_start(Fixture *fixture, gconstpointer data)
{
    Wakeup wakeup = {.polls = data != NULL, .poll_us = 1};
    g_assert_nonnull(spool_queue(fixture->spool, "out", NULL));
    g_assert_nonnull(spool_queue(fixture->spool, "digest", NULL));
    g_autofree char *first = fixture_store(fixture, "in", "ready"), *second = fixture_store(fixture, "in", "decided");
    g_autofree char *ready = g_strconcat(second, ".msg", NULL), *decided = g_strconcat(second, ".done", NULL);
    g_autofree char *from = fixture_file_path(fixture, "in", ready), *to = fixture_file_path(fixture, "in", decided);
    g_assert_cmpint(g_rename(from, to), ==, 0);
    for (int i = 1; i < LEFT; i++) {
        g_autofree char *text = g_strdup_printf("more %d", i);
        g_free(fixture_store(fixture, "in", text));
    }
    move(fixture, "out", "Elsewhere");
    move(fixture, "digest", "Nowhere");
    for (int i = 0; i < 2; i++) { /* the second process may not touch what the first one took in */
        g_autoptr(Inbox) inbox = inbox_open(fixture->spool, "in", (Slice){0, 1}, wakeup, NULL);
        g_assert_nonnull(inbox);
        g_assert_cmpuint(fixture_claim(inbox)->len, ==, 0);
        g_free(fixture_store(fixture, "in", "new"));
        g_assert_true(inbox_refresh(inbox, NULL));
        g_autoptr(Outcome) outcome = outcome_new(fixture_claim_one(inbox));
        outcome_add(outcome, fixture_draft("archive", "t", "child"));
        g_autoptr(Hop) hop = hop_new(fixture->spool);
        g_assert_true(hop_commit(hop, &outcome, 1, NULL));
        g_assert_true(hop_settle_all(hop, NULL));
        g_assert_cmpuint(fixture_count(fixture, "archive", ".msg"), ==, (unsigned)i + 1);
        EntryName name;
        g_autoptr(GError) error = NULL;
        g_assert_true(name_parse(first, &name, NULL));
        g_assert_null(inbox_claim_hash(inbox, name.hash, name.due, &error));
        g_assert_error(error, FAIL, FAIL_LATER);
    }
    g_autoptr(Inbox) inbox = inbox_open(fixture->spool, "in", (Slice){0, 1}, wakeup, NULL);
    g_assert_cmpuint(fixture_count(fixture, "in", ".msg"), ==, LEFT);
    g_assert_cmpuint(fixture_count(fixture, "in", ".done"), ==, 1);
    move(fixture, "Elsewhere", "out");
    g_assert_true(inbox_refresh(inbox, NULL));
    g_assert_false(inbox_needs_start(inbox));
    move(fixture, "Nowhere", "digest");
    g_assert_true(inbox_refresh(inbox, NULL));
    g_assert_true(inbox_needs_start(inbox));
    g_autoptr(Inbox) next = inbox_open(fixture->spool, "in", (Slice){0, 1}, wakeup, NULL);
    GPtrArray *entries = fixture_claim(next);
    g_assert_cmpuint(entries->len, ==, LEFT);
    g_assert_cmpstr(entry_text(entries->pdata[0]), ==, first);
    for (guint i = 0; i < entries->len; i++)
        entry_free(entries->pdata[i]);
    g_ptr_array_unref(entries);
    g_assert_cmpuint(fixture_count(fixture, "in", ".done"), ==, 0);
}

/* An entry in any state counts, a file of nobody's does not. */
static void test_empty(Fixture *fixture, gconstpointer data)
{
    (void)data;
    bool empty;
    g_assert_true(queue_is_empty(spool_queue(fixture->spool, "in", NULL), &empty, NULL) && empty);
    g_autofree char *other = fixture_file_path(fixture, "in", "notes.txt");
    g_assert_true(g_file_set_contents(other, "", 0, NULL));
    g_assert_true(queue_is_empty(spool_queue(fixture->spool, "in", NULL), &empty, NULL) && empty);
    g_autofree char *first = fixture_store(fixture, "in", "one"), *second = fixture_store(fixture, "in", "two");
    g_assert_true(queue_is_empty(spool_queue(fixture->spool, "in", NULL), &empty, NULL) && !empty);
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    g_autoptr(GPtrArray) entries = fixture_claim(inbox);
    g_assert_cmpuint(entries->len, ==, 2);
    g_assert_true(queue_is_empty(spool_queue(fixture->spool, "in", NULL), &empty, NULL) && !empty);
    for (guint at = 0; at < entries->len; at++)
        entry_free(entries->pdata[at]);
}

SUITE("gone")
{
    g_test_init(&argc, &argv, NULL);
    g_log_set_default_handler(quiet, NULL);
    ADD("/gone/not yet", test_empty);
    ADD("/gone/intake", test_intake);
    ADD("/gone/replaced", test_replaced);
    ADD("/gone/hop", test_hop);
    ADD("/gone/inbox", test_inbox);
    g_test_add("/gone/inbox that polls", Fixture, "polls", fixture_set_up, test_inbox, fixture_tear_down);
    ADD("/gone/recovery", test_recovery);
    ADD("/gone/start", test_start);
    g_test_add("/gone/start of one that polls", Fixture, "polls", fixture_set_up, test_start, fixture_tear_down);
    return g_test_run();
}
