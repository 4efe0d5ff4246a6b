/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "switchboard/intake.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/fs.h"
#include "switchboard/recover.h"
#include "t/suite.h"
#include "t/switchboard/clock.h"
#include "t/switchboard/fixture.h"

/* T1, T2: the syncs come in the order that makes a 250 true. */
static void test_stores(Fixture *fixture, gconstpointer data)
{
    g_assert_nonnull(spool_queue(fixture->spool, "in", NULL));
    Intake group[2] = {{.draft = fixture_draft("in", "t", "one")}, {.draft = fixture_draft("in", "t", "two")}};
    fixture_record(FS_CREATE, 0, 0);
    g_assert_true(intake_store(fixture->spool, group, 2, false));
    g_assert_cmpstr(fixture_recorded(), ==, "cwwwcwwwffdrr");
    g_assert_cmpuint(fixture_count(fixture, "in", ".msg"), ==, 2);
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 2);
    draft_free(group[0].draft);
    draft_free(group[1].draft);
}

static void test_faults(Fixture *fixture, gconstpointer data)
{
    static const struct {
        FsCall call;
        int countdown;
        unsigned kept;
    } cases[] = {{FS_CREATE, 0, 1}, {FS_WRITE, 1, 1}, {FS_SYNC_FILE, 1, 1}, {FS_SYNC_DIR, 0, 0}};
    g_assert_nonnull(spool_queue(fixture->spool, "in", NULL));
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        unsigned before = fixture_count(fixture, "in", ".msg");
        Intake group[2] = {{.draft = fixture_draft("in", "t", "one")}, {.draft = fixture_draft("in", "t", "two")}};
        fixture_record(cases[i].call, cases[i].countdown, ENOSPC);
        g_assert_false(intake_store(fixture->spool, group, 2, false));
        fixture_recorded();
        unsigned failed = 0;
        for (int k = 0; k < 2; k++) {
            if (group[k].error) {
                g_assert_error(group[k].error, FAIL, FAIL_LATER);
                g_assert_nonnull(strstr(group[k].error->message, g_strerror(ENOSPC)));
                failed++;
            }
            g_clear_error(&group[k].error);
            draft_free(group[k].draft);
        }
        g_assert_cmpuint(failed, ==, 2 - cases[i].kept);
        g_assert_cmpuint(fixture_count(fixture, "in", ".msg"), ==, before + cases[i].kept);
        g_assert_cmpuint(fixture_count(fixture, "in", ".tmp"), ==, 0);
    }
}

static int refuse_changes(const FsEvent *event, void *data)
{
    (void)data;
    return event->call == FS_RENAME || event->call == FS_UNLINK ? EIO : 0;
}

/* Once it is synced it will be delivered, though it cannot be renamed: whoever said otherwise would get it twice. */
static void test_refused_rename(Fixture *fixture, gconstpointer data)
{
    Intake group[2] = {{.draft = fixture_draft("in", "t", "one")}, {.draft = fixture_draft("in", "t", "two")}};
    fs_set_hook(refuse_changes, NULL);
    g_assert_true(intake_store(fixture->spool, group, 2, false));
    fs_set_hook(NULL, NULL);
    g_assert_cmpuint(fixture_recover(fixture, "in", false).completed, ==, 2);
    g_assert_cmpuint(fixture_count(fixture, "in", ".msg"), ==, 2);
    for (int i = 0; i < 2; i++) {
        g_assert_no_error(group[i].error);
        draft_free(group[i].draft);
    }
}

/* A runner starts while the intake is about to rename, and takes the file in before it (R8). */
static int recover_before(FsCall call, const FsEvent *event, Fixture *fixture)
{
    if (event->call == call) {
        fs_set_hook(NULL, NULL);
        g_assert_cmpuint(fixture_recover(fixture, "in", false).completed, ==, 1);
    }
    return 0;
}

static int recover_before_rename(const FsEvent *event, void *data)
{
    return recover_before(FS_RENAME, event, data);
}

static void test_recovery_is_faster(Fixture *fixture, gconstpointer data)
{
    Intake intake = {.draft = fixture_draft("in", "t", "one")};
    fs_set_hook(recover_before_rename, fixture);
    g_assert_true(intake_store(fixture->spool, &intake, 1, false));
    fs_set_hook(NULL, NULL);
    g_assert_no_error(intake.error);
    g_assert_cmpuint(fixture_count(fixture, "in", ".msg"), ==, 1);
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 1);
    draft_free(intake.draft);
}

static Draft *fixed_draft(void)
{
    Draft *draft = fixture_draft("in", "t", "same");
    meta_set_integer(draft_meta(draft), META_ARRIVAL, 1700000000000001);
    meta_set_integer(draft_meta(draft), META_ORDINAL, 1);
    return draft;
}

static void test_taken_name(Fixture *fixture, gconstpointer data)
{
    for (int i = 0; i < 3; i++)
        fixture_put(fixture, fixed_draft());
    g_assert_cmpuint(fixture_count(fixture, "in", ".msg"), ==, 3);
    g_autofree char *files = fixture_files(fixture, "in", "");
    g_assert_nonnull(strstr(files, "1700000000.000003+"));
}

static void store_fixed(Fixture *fixture)
{
    Intake intake = {.draft = fixed_draft()};
    g_assert_true(intake_store(fixture->spool, &intake, 1, true));
    draft_free(intake.draft);
}

/* Claim the one entry, and let it go. */
static void claim_and_die(Fixture *fixture)
{
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    entry_free(fixture_claim_one(inbox));
}

static void put_off(Fixture *fixture)
{
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    g_assert_true(inbox_release(inbox, fixture_claim_one(inbox), 4000000000000000, NULL));
}

static void test_once(Fixture *fixture, gconstpointer data)
{
    store_fixed(fixture);
    store_fixed(fixture);
    claim_and_die(fixture); /* claimed counts as stored, too */
    store_fixed(fixture);
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 1);
}

/* The first try was stored by a process that died; since then a runner has put it back, due at another time. */
static void test_once_put_off(Fixture *fixture, gconstpointer data)
{
    store_fixed(fixture);
    put_off(fixture);
    fixture_reopen(fixture);
    store_fixed(fixture);
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 1);
    /* By now it is done and gone; this process saw it. */
    fixture_lose(fixture, "in", "");
    store_fixed(fixture);
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 0);
    /* And knows it on when it has to look again, for another one. */
    queue_look_again(spool_queue(fixture->spool, "in", NULL));
    store_fixed(fixture);
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 0);
}

/* The first try was killed and left its file whole. A runner publishes it (R8) just before the second try looks or
 * removes it, or takes what the second one has written. */
static int recover_at_unlink(const FsEvent *event, void *data)
{
    return recover_before(FS_UNLINK, event, data);
}

/* The same, and the runner claims it at once: its name is not in the way of what a second try would publish. */
static int recover_and_claim_at_unlink(const FsEvent *event, void *data)
{
    if (event->call != FS_UNLINK)
        return 0;
    recover_at_unlink(event, data);
    claim_and_die(data);
    return 0;
}

static int fail_to_sync(const FsEvent *event, void *data)
{
    (void)data;
    return event->call == FS_SYNC_FILE || event->call == FS_UNLINK ? EIO : 0;
}

/* A first try that leaves its file whole. */
static void store_and_die(Fixture *fixture)
{
    Intake intake = {.draft = fixed_draft()};
    fs_set_hook(fail_to_sync, NULL);
    g_assert_false(intake_store(fixture->spool, &intake, 1, true));
    fs_set_hook(NULL, NULL);
    g_clear_error(&intake.error);
    draft_free(intake.draft);
    g_assert_cmpuint(fixture_count(fixture, "in", ".tmp"), ==, 1);
}

static void test_once_and_recovery(Fixture *fixture, gconstpointer data)
{
    static const struct {
        FsHook *hook;
        const char *suffix;
    } cases[] = {
        {recover_at_unlink, ".msg"}, {recover_and_claim_at_unlink, ".bak"}, {recover_before_rename, ".msg"}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        store_and_die(fixture);
        fs_set_hook(cases[i].hook, fixture);
        store_fixed(fixture);
        fs_set_hook(NULL, NULL);
        g_assert_cmpuint(fixture_count(fixture, "in", cases[i].suffix), ==, 1);
        g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 1);
        fixture_tear_down(fixture, NULL);
        fixture_set_up(fixture, NULL);
    }
}

/* One or two tries failed, and could not take away what the first had written, so that a runner took that in (R8). By
 * the next one, of the same process, it was put off. */
static void test_once_put_off_by_the_living(Fixture *fixture, gconstpointer data)
{
    store_and_die(fixture);
    if (data)
        store_and_die(fixture);
    g_assert_cmpuint(fixture_recover(fixture, "in", false).completed, ==, 1);
    put_off(fixture);
    store_fixed(fixture);
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 1);
}

static int recover_and_go_forward(const FsEvent *event, void *data)
{
    if (event->call == FS_RENAME)
        clock_forward = 3600;
    return recover_before_rename(event, data);
}

/* The same with a try that could not know whether a runner or a sweep had taken its file. */
static void test_once_after_the_clock(Fixture *fixture, gconstpointer data)
{
    Intake intake = {.draft = fixed_draft()};
    fs_set_hook(recover_and_go_forward, fixture);
    g_assert_false(intake_store(fixture->spool, &intake, 1, true));
    fs_set_hook(NULL, NULL);
    clock_forward = 0;
    g_assert_error(intake.error, FAIL, FAIL_LATER);
    g_clear_error(&intake.error);
    draft_free(intake.draft);
    put_off(fixture);
    store_fixed(fixture);
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 1);
}

/* Begin again while the whole entry that the first try left is being taken in (R8): it is synced when the second try
 * takes it away and begins to write. */
static int begin_again_at_sync(const FsEvent *event, void *data)
{
    Fixture *fixture = data;
    if (event->call != FS_SYNC_FILE)
        return 0;
    fs_set_hook(NULL, NULL);
    g_autofree char *file = fixture_files(fixture, "in", ".tmp");
    g_autofree char *path = fixture_file_path(fixture, "in", file);
    g_assert_cmpint(g_unlink(path), ==, 0);
    g_assert_true(g_file_set_contents(path, "listrunner 1 ", -1, NULL));
    return 0;
}

static void test_once_beside_recovery(Fixture *fixture, gconstpointer data)
{
    store_and_die(fixture);
    fs_set_hook(begin_again_at_sync, fixture);
    g_assert_cmpuint(fixture_recover(fixture, "in", false).completed, ==, 0);
    g_assert_cmpuint(fixture_count(fixture, "in", ".tmp"), ==, 1);
    store_fixed(fixture);
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 1);
    claim_and_die(fixture);
}

#define ADD(path, function) g_test_add(path, Fixture, NULL, fixture_set_up, function, fixture_tear_down)

SUITE("intake")
{
    g_test_init(&argc, &argv, NULL);
    ADD("/intake/stores", test_stores);
    ADD("/intake/faults", test_faults);
    ADD("/intake/refused rename", test_refused_rename);
    ADD("/intake/recovery is faster", test_recovery_is_faster);
    ADD("/intake/taken name", test_taken_name);
    ADD("/intake/once", test_once);
    ADD("/intake/once, put off", test_once_put_off);
    ADD("/intake/once, put off by the living", test_once_put_off_by_the_living);
    g_test_add("/intake/once, put off after two tries", Fixture, "two", fixture_set_up, test_once_put_off_by_the_living,
               fixture_tear_down);
    ADD("/intake/once, after the clock went forward", test_once_after_the_clock);
    ADD("/intake/once and recovery", test_once_and_recovery);
    ADD("/intake/once beside recovery", test_once_beside_recovery);
    return g_test_run();
}
