/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The table of old addresses: what is put is found, in another process, too, and what is rolled back is not. */
#include "store/archive/archive_old.h"

#include "base/fail.h"
#include "t/store/fixture.h"
#include "t/suite.h"

static void assert_place(ArchiveOld *old, const char *address, const char *wanted)
{
    g_autoptr(GError) error = NULL;
    char *archive = NULL, *place = NULL;
    bool found = archive_old_find(old, address, &archive, &place, &error);
    g_autofree char *where = found ? g_strconcat(archive, " ", place, NULL) : NULL;
    g_free(archive);
    g_free(place);
    g_assert_cmpstr(where, ==, wanted);
    g_assert_true(found || g_error_matches(error, FAIL, FAIL_MISSING));
}

static void test_addresses(Fixture *fixture, const void *data)
{
    (void)data;
    GError *error = NULL;
    g_assert_null(archive_old_open(fixture->directory, false, &error));
    assert_failed(FAIL_MISSING, error);
    g_autoptr(ArchiveOld) old = archive_old_open(fixture->directory, true, &error);
    g_assert_no_error(error);
    assert_ok(archive_old_put(old, "/pipermail/a/1.html", "a.x", "ONE", &error), error);
    assert_ok(archive_old_put(old, "/pipermail/b/1.html", "b.x", "TWO", &error), error);
    assert_ok(archive_old_put(old, "/pipermail/b", "a.x", "", &error), error);
    assert_ok(archive_old_put(old, "/pipermail/b", "b.x", "", &error), error);
    g_autoptr(ArchiveOld) reader = archive_old_open(fixture->directory, false, &error);
    g_assert_no_error(error);
    assert_place(reader, "/pipermail/a/1.html", "a.x ONE");
    assert_place(reader, "/pipermail/b/1.html", "b.x TWO");
    assert_place(reader, "/pipermail/b", "b.x ");
    assert_place(reader, "/pipermail/a", NULL);
    assert_ok(archive_old_begin(old, &error) && archive_old_put(old, "/c", "c.x", "", &error), error);
    archive_old_rollback(old);
    assert_place(reader, "/c", NULL);
    assert_ok(archive_old_begin(old, &error) && archive_old_put(old, "/c", "c.x", "", &error), error);
    assert_ok(archive_old_commit(old, &error), error);
    archive_old_rollback(old); /* as after a begin or a commit that failed */
    assert_place(reader, "/c", "c.x ");
    g_assert_true(archive_old_present(reader));
}

SUITE("archive_old")
{
    g_test_init(&argc, &argv, NULL);
    TEST("/archive_old/addresses", test_addresses);
    return g_test_run();
}
