/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The table of addresses of old archives. */
#include "store/archive/archive_old.h"

#include "t/store/archive/archive_fixture.h"
#include "t/suite.h"

static void assert_hash(ArchiveOld *old, const char *kind, const char *list, const char *key, const char *wanted)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *hash = archive_old_hash(old, kind, list, key, &error);
    if (!wanted)
        g_assert_error(error, FAIL, FAIL_MISSING);
    g_assert_cmpstr(hash, ==, wanted);
}

static void keys_are_those_of_one_list_and_kind(Fixture *fixture, const void *unused)
{
    (void)unused;
    g_autoptr(GError) error = NULL;
    g_autoptr(ArchiveOld) none = archive_old_open(fixture->directory, false, &error);
    g_assert_error(error, FAIL, FAIL_MISSING);
    g_clear_error(&error);
    g_autoptr(ArchiveOld) old = archive_old_open(fixture->directory, true, &error);
    assert_ok(old != NULL, error);
    assert_ok(archive_old_put(old, "pipermail", "a.x", "1", "ONE", &error), error);
    assert_ok(archive_old_put(old, "pipermail", "b.x", "1", "TWO", &error), error);
    assert_ok(archive_old_put(old, "mhonarc", "a.x", "1", "THREE", &error), error);
    assert_ok(archive_old_put(old, "pipermail", "a.x", "2", "FOUR", &error), error);
    assert_ok(archive_old_put(old, "pipermail", "a.x", "2", "FIVE", &error), error);
    g_autoptr(ArchiveOld) reader = archive_old_open(fixture->directory, false, &error);
    assert_ok(reader != NULL, error);
    assert_hash(reader, "pipermail", "a.x", "1", "ONE");
    assert_hash(reader, "pipermail", "b.x", "1", "TWO");
    assert_hash(reader, "mhonarc", "a.x", "1", "THREE");
    assert_hash(reader, "pipermail", "a.x", "2", "FIVE");
    assert_hash(reader, "pipermail", "b.x", "2", NULL);
    assert_hash(reader, "sympa", "a.x", "1", NULL);
}

static void assert_name(ArchiveOld *old, const char *kind, const char *name, const char *wanted)
{
    g_autofree char *list = archive_old_list(old, kind, name, NULL);
    g_assert_cmpstr(list, ==, wanted);
}

static void a_name_is_that_of_the_list_it_was_given_last(Fixture *fixture, const void *unused)
{
    (void)unused;
    g_autoptr(GError) error = NULL;
    char *before = NULL;
    g_autoptr(ArchiveOld) old = archive_old_open(fixture->directory, true, &error);
    assert_ok(archive_old_name(old, "pipermail", "Talk", "a.x", &before, &error), error);
    g_assert_null(before);
    assert_ok(archive_old_name(old, "pipermail", "talk", "a.x", &before, &error), error);
    g_assert_null(before);
    assert_ok(archive_old_name(old, "pipermail", "chat", "a.x", NULL, &error), error);
    assert_ok(archive_old_name(old, "sympa", "talk", "b.x", NULL, &error), error);
    assert_ok(archive_old_name(old, "pipermail", "talk", "c.x", &before, &error), error);
    g_assert_cmpstr(before, ==, "a.x");
    g_free(before);
    assert_name(old, "pipermail", "TALK", "c.x");
    assert_name(old, "pipermail", "chat", "a.x");
    assert_name(old, "sympa", "talk", "b.x");
    assert_name(old, "sympa", "chat", NULL);
}

static void what_was_not_committed_is_not_there(Fixture *fixture, const void *unused)
{
    (void)unused;
    g_autoptr(GError) error = NULL;
    g_autoptr(ArchiveOld) old = archive_old_open(fixture->directory, true, &error);
    assert_ok(archive_old_begin(old, &error), error);
    assert_ok(archive_old_put(old, "pipermail", "a.x", "1", "ONE", &error), error);
    assert_ok(archive_old_commit(old, &error), error);
    assert_ok(archive_old_begin(old, &error), error);
    assert_ok(archive_old_put(old, "pipermail", "a.x", "2", "TWO", &error), error);
    archive_old_rollback(old);
    assert_hash(old, "pipermail", "a.x", "1", "ONE");
    assert_hash(old, "pipermail", "a.x", "2", NULL);
    /* An index that is made again leaves it. */
    ArchiveIndex *made = archive_index_open_new(fixture->directory, &error);
    assert_ok(archive_index_publish(made, &error), error);
    archive_index_free(made);
    g_autoptr(ArchiveOld) reader = archive_old_open(fixture->directory, false, &error);
    assert_hash(reader, "pipermail", "a.x", "1", "ONE");
}

SUITE("archive_old")
{
    g_test_init(&argc, &argv, NULL);
#define ADD(name, function) g_test_add("/archive_old/" name, Fixture, NULL, fixture_open, function, fixture_close)
    ADD("keys are those of one list and kind", keys_are_those_of_one_list_and_kind);
    ADD("a name is that of the list it was given last", a_name_is_that_of_the_list_it_was_given_last);
    ADD("what was not committed is not there", what_was_not_committed_is_not_there);
    return g_test_run();
}
