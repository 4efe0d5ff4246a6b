/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "switchboard/hop.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/fs.h"
#include "t/suite.h"
#include "t/switchboard/fixture.h"

enum { MOST = 3 };
static const char *const to_out[] = {"out", NULL}, *const to_both[] = {"out", "archive", NULL},
                         *const to_none[] = {NULL};

/* Entries that were claimed together, and what is to become of them. */
typedef struct Batch {
    Inbox *inbox;
    Hop *hop;
    Outcome *outcomes[MOST];
    unsigned count;
} Batch;

static void free_outcomes(Batch *batch)
{
    while (batch->count > 0)
        outcome_free(batch->outcomes[--batch->count]);
}

static void batch_clear(Batch *batch)
{
    free_outcomes(batch);
    inbox_free(batch->inbox);
    hop_free(batch->hop);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Batch, batch_clear)

/* Store so many messages, and claim them; each shall have a child in each of these queues. The batch before has ended,
 * its inbox and hop go on. */
static void batch_begin(Batch *batch, Fixture *fixture, const char *queue, unsigned count, const char *const *into)
{
    free_outcomes(batch);
    for (unsigned i = 0; i < count; i++)
        g_free(fixture_store(fixture, queue, "m"));
    for (const char *const *name = into; *name; name++)
        g_assert_nonnull(spool_queue(fixture->spool, *name, NULL));
    if (!batch->inbox)
        *batch = (Batch){.inbox = fixture_inbox(fixture, queue), .hop = hop_new(fixture->spool)};
    g_autoptr(GPtrArray) entries = fixture_claim(batch->inbox);
    g_assert_cmpuint(entries->len, ==, count);
    for (; batch->count < count; batch->count++) {
        Outcome *outcome = batch->outcomes[batch->count] = outcome_new(entries->pdata[batch->count]);
        for (const char *const *name = into; *name; name++)
            outcome_add(outcome, draft_from_entry(*name, outcome->parent));
    }
}

static bool commit(Batch *batch)
{
    return hop_commit(batch->hop, batch->outcomes, batch->count, NULL);
}

/* Commit it, while the call of this kind that comes after so many others fails. */
static bool commit_failing(Batch *batch, FsCall call, int others, int error)
{
    fixture_record(call, others, error);
    bool known = commit(batch);
    fixture_recorded();
    return known;
}

/* The calls that were made, as the letters of fixture_recorded(), without the writes. */
static void assert_calls(const char *wanted)
{
    g_auto(GStrv) parts = g_strsplit(fixture_recorded(), "w", -1);
    g_autofree char *calls = g_strjoinv("", parts);
    g_assert_cmpstr(calls, ==, wanted);
}

static void test_fans_out(Fixture *fixture, gconstpointer data)
{
    static const char *const queues[] = {"out", "out", "archive", NULL};
    g_auto(Batch) batch = {0};
    batch_begin(&batch, fixture, "pipeline", 1, queues);
    g_autofree char *trace = g_strdup(entry_trace(batch.outcomes[0]->parent));
    fixture_record(FS_CREATE, 0, 0);
    g_assert_true(commit(&batch));
    /* children; the two directories and the files; the parent, its directory; publications */
    assert_calls("cccddfffrdrrr");
    g_assert_true(hop_settle(batch.hop, NULL));
    g_assert_cmpuint(fixture_count(fixture, "pipeline", ""), ==, 0);
    g_assert_cmpuint(fixture_count(fixture, "out", ".msg"), ==, 2);
    g_assert_cmpuint(fixture_count(fixture, "archive", ".msg"), ==, 1);
    g_autoptr(Inbox) out = fixture_inbox(fixture, "out");
    g_autoptr(GPtrArray) copies = fixture_claim(out);
    g_assert_cmpuint(copies->len, ==, 2);
    for (unsigned i = 0; i < 2; i++) {
        g_assert_cmpstr(entry_trace(copies->pdata[i]), ==, trace);
        entry_free(copies->pdata[i]);
    }
}

/* T8: the parent stays until the publications are synced, also when that
 * fails. */
static void test_settles(Fixture *fixture, gconstpointer data)
{
    g_auto(Batch) batch = {0};
    batch_begin(&batch, fixture, "in", 1, to_both);
    g_assert_true(commit(&batch));
    g_assert_true(hop_owes(batch.hop));
    fixture_record(FS_SYNC_DIR, 1, EIO);
    g_assert_false(hop_settle(batch.hop, NULL));
    g_assert_cmpuint(fixture_count(fixture, "in", ".done"), ==, 1);
    fixture_record(FS_SYNC_DIR, 0, 0);
    g_assert_true(hop_settle(batch.hop, NULL));
    assert_calls("ddu");
    g_assert_false(hop_owes(batch.hop));
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 0);
}

/* A batch shares its syncs, and pays the last batch's debt with its own. */
static void test_batch(Fixture *fixture, gconstpointer data)
{
    g_auto(Batch) batch = {0};
    for (int round = 0; round < 2; round++) {
        batch_begin(&batch, fixture, "in", 3, to_out);
        fixture_record(FS_CREATE, 0, 0);
        g_assert_true(commit(&batch));
        assert_calls(round == 0 ? "cccdfffrrrdrrr" : "cccdfffrrrdrrruuu");
    }
    g_assert_cmpuint(fixture_count(fixture, "out", ".msg"), ==, 6);
    g_assert_cmpuint(fixture_count(fixture, "in", ".done"), ==, 3);
}

/* The debt of the batch before cannot be made durable: its parent stays, and the caller must end the process. */
static void test_owed(Fixture *fixture, gconstpointer data)
{
    static const char *const to_archive[] = {"archive", NULL};
    g_auto(Batch) batch = {0};
    batch_begin(&batch, fixture, "in", 1, to_out);
    g_assert_true(commit(&batch));
    batch_begin(&batch, fixture, "in", 1, to_archive);
    g_autoptr(GError) error = NULL;
    fixture_record(FS_SYNC_DIR, 0, EIO);
    g_assert_false(hop_commit(batch.hop, batch.outcomes, 1, &error));
    g_assert_null(strchr(fixture_recorded(), 'u'));
    g_assert_nonnull(error);
    g_assert_cmpuint(fixture_count(fixture, "in", ".done"), ==, 1);
    g_assert_cmpuint(fixture_count(fixture, "in", ".bak"), ==, 1);
    g_assert_cmpuint(fixture_count(fixture, "archive", ".msg"), ==, 0);
}

/* An outcome without children just ends. */
static void test_ends(Fixture *fixture, gconstpointer data)
{
    g_auto(Batch) batch = {0};
    batch_begin(&batch, fixture, "in", 1, to_none);
    g_assert_true(commit(&batch));
    g_assert_false(hop_owes(batch.hop));
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 0);
}

/* Whatever fails before the commit leaves the parent claimed and no trace of
 * its children; the batch's other members are not touched by a fault of one
 * file. */
static void test_fault(Fixture *fixture, FsCall call, int others, unsigned wanted)
{
    g_auto(Batch) batch = {0};
    batch_begin(&batch, fixture, "in", 2, to_both);
    g_assert_true(commit_failing(&batch, call, others, ENOSPC));
    g_assert_true(hop_settle(batch.hop, NULL));
    unsigned failed = 0;
    for (unsigned i = 0; i < batch.count; i++)
        if (batch.outcomes[i]->error) {
            failed++;
            g_assert_error(batch.outcomes[i]->error, FAIL, FAIL_LATER);
        }
    g_assert_cmpuint(failed, ==, wanted);
    g_assert_cmpuint(fixture_count(fixture, "in", ".bak"), ==, failed);
    g_assert_cmpuint(fixture_count(fixture, "out", ".msg"), ==, 2 - failed);
    g_assert_cmpuint(fixture_count(fixture, "archive", ".msg"), ==, 2 - failed);
    g_assert_cmpuint(fixture_count(fixture, "out", ".tmp") + fixture_count(fixture, "archive", ".tmp"), ==, 0);
    for (unsigned i = 0; i < batch.count; i++)
        if (batch.outcomes[i]->error)
            g_assert_true(inbox_release(batch.inbox, g_steal_pointer(&batch.outcomes[i]->parent), 0, NULL));
    g_assert_cmpuint(fixture_count(fixture, "in", ".msg"), ==, failed);
}

static void test_faults(Fixture *fixture, gconstpointer data)
{
    static const struct {
        FsCall call;
        int others;
        unsigned failed;
    } cases[] = {{FS_CREATE, 0, 1},    {FS_CREATE, 1, 1},   {FS_WRITE, 0, 1},
                 {FS_SYNC_FILE, 2, 1}, {FS_SYNC_DIR, 0, 2}, {FS_SYNC_DIR, 1, 2}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        test_fault(fixture, cases[i].call, cases[i].others, cases[i].failed);
        fixture_tear_down(fixture, NULL);
        fixture_set_up(fixture, NULL);
    }
}

/* More children than files are held open: they are synced in rounds, and a sync that fails in an early one is
 * seen. */
static void test_many_children(Fixture *fixture, gconstpointer data)
{
    const unsigned children = 450;
    g_auto(Batch) batch = {0};
    batch_begin(&batch, fixture, "in", 1, to_out);
    Outcome *outcome = batch.outcomes[0];
    for (unsigned i = 1; i < children; i++)
        outcome_add(outcome, draft_from_entry("out", outcome->parent));
    g_assert_true(commit_failing(&batch, FS_SYNC_FILE, 7, ENOSPC));
    g_assert_error(outcome->error, FAIL, FAIL_LATER);
    g_assert_cmpuint(fixture_count(fixture, "out", ""), ==, 0);
    g_assert_cmpuint(fixture_count(fixture, "in", ".bak"), ==, 1);
    g_clear_error(&outcome->error);
    g_assert_true(commit(&batch) && hop_settle(batch.hop, NULL));
    g_assert_no_error(outcome->error);
    g_assert_cmpuint(fixture_count(fixture, "out", ".msg"), ==, children);
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 0);
}

/* Of parents that are renamed together, one whose rename fails keeps its claim and loses its
 * child; the others are committed. */
static void test_rename_fails(Fixture *fixture, gconstpointer data)
{
    g_auto(Batch) batch = {0};
    batch_begin(&batch, fixture, "in", 3, to_out);
    g_assert_true(commit_failing(&batch, FS_RENAME, 1, ENOSPC));
    g_assert_no_error(batch.outcomes[0]->error);
    g_assert_error(batch.outcomes[1]->error, FAIL, FAIL_LATER);
    g_assert_no_error(batch.outcomes[2]->error);
    g_assert_cmpuint(fixture_count(fixture, "in", ".done"), ==, 2);
    g_assert_true(hop_settle(batch.hop, NULL));
    g_assert_cmpuint(fixture_count(fixture, "in", ".bak"), ==, 1);
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 1);
    g_assert_cmpuint(fixture_count(fixture, "out", ".msg"), ==, 2);
    g_assert_cmpuint(fixture_count(fixture, "out", ""), ==, 2);
}

/* The sync of the commit fails, so nobody knows what is on the disk: the caller must end the process. */
static void test_unknown_commit(Fixture *fixture, gconstpointer data)
{
    g_auto(Batch) batch = {0};
    batch_begin(&batch, fixture, "in", GPOINTER_TO_UINT(data), to_out);
    g_autoptr(GError) error = NULL;
    fixture_record(FS_SYNC_DIR, 1, EIO);
    g_assert_false(hop_commit(batch.hop, batch.outcomes, batch.count, &error));
    fixture_recorded();
    g_assert_error(error, FAIL, FAIL_LATER);
    g_assert_cmpuint(fixture_count(fixture, "out", ".msg"), ==, 0);
}

typedef struct Refusal {
    FsCall call; /* besides the second create */
    int creates;
} Refusal;

static int refuse_second_create(const FsEvent *event, void *data)
{
    Refusal *refusal = data;
    if (event->call == refusal->call)
        return EIO;
    return event->call == FS_CREATE && refusal->creates++ == 1 ? ENOSPC : 0;
}

/* A child that cannot be taken back would be published with those of the
 * next try: the caller must end the process, so that recovery removes it. */
static void test_unretractable(Fixture *fixture, gconstpointer data)
{
    g_auto(Batch) batch = {0};
    batch_begin(&batch, fixture, "in", 1, to_both);
    g_autoptr(GError) error = NULL;
    Refusal refusal = {.call = GPOINTER_TO_UINT(data)};
    fs_set_hook(refuse_second_create, &refusal);
    g_assert_false(hop_commit(batch.hop, batch.outcomes, 1, &error));
    fs_set_hook(NULL, NULL);
    g_assert_error(error, FAIL, FAIL_LATER);
    g_assert_cmpuint(fixture_count(fixture, "in", ".bak"), ==, 1);
}

/* Check that a file that goes along is synced with the children, before the parent is decided, and also when there are
 * no children; its failure is an unknown commit. */
static void test_sync_along(Fixture *fixture, gconstpointer data)
{
    g_autofree char *path = NULL;
    int fd = g_file_open_tmp("along-XXXXXX", &path, NULL);
    for (int round = 0; round < 3; round++) {
        g_auto(Batch) batch = {0};
        batch_begin(&batch, fixture, "in", 1, round != 1 ? to_out : to_none);
        hop_sync_along(batch.hop, fd);
        /* of the third round: the child's file is synced, the other is not */
        fixture_record(FS_SYNC_FILE, 1, round == 2 ? EIO : 0);
        g_assert_true(commit(&batch) == (round != 2));
        assert_calls(round == 0 ? "cdffrdr" : round == 1 ? "fu" : "cdff");
    }
    close(fd);
    unlink(path);
}

/* One entry that takes so many others of the queue, and gets a child. */
static void begin_taking(Batch *batch, Fixture *fixture, unsigned others)
{
    for (unsigned i = 0; i <= others; i++)
        g_free(fixture_store(fixture, "pipeline", "m"));
    spool_queue(fixture->spool, "out", NULL);
    *batch = (Batch){.inbox = fixture_inbox(fixture, "pipeline"), .hop = hop_new(fixture->spool), .count = 1};
    g_autoptr(GPtrArray) entries = fixture_claim(batch->inbox);
    g_assert_cmpuint(entries->len, ==, others + 1);
    Outcome *outcome = batch->outcomes[0] = outcome_new(entries->pdata[0]);
    for (unsigned i = 1; i <= others; i++) {
        outcome_take(outcome, entry_name(entries->pdata[i]));
        entry_free(entries->pdata[i]);
    }
    outcome_add(outcome, draft_from_entry("out", outcome->parent));
}

/* A child that contains two further entries: they stay claimed until its publication is durable, then go with the
 * parent; a crash before puts them back, and a hop that fails leaves them as they are. */
static void test_takes(Fixture *fixture, gconstpointer data)
{
    g_auto(Batch) batch;
    begin_taking(&batch, fixture, 2);
    Outcome *outcome = batch.outcomes[0];
    g_assert_true(commit_failing(&batch, FS_CREATE, 0, ENOSPC));
    g_assert_nonnull(outcome->error);
    g_clear_error(&outcome->error);
    g_assert_cmpuint(fixture_count(fixture, "pipeline", ".bak"), ==, 3);
    fixture_record(FS_CREATE, 0, 0);
    g_assert_true(commit(&batch));
    g_assert_null(outcome->error);
    g_assert_cmpuint(fixture_count(fixture, "pipeline", ""), ==, 3);
    g_assert_null(strchr(fixture_recorded(), 'u'));
    fixture_record(FS_CREATE, 0, 0);
    g_assert_true(hop_settle(batch.hop, NULL));
    /* the sync of the directory of the publication, and only then all three go */
    assert_calls("duuu");
    g_assert_cmpuint(fixture_count(fixture, "pipeline", ""), ==, 0);
    g_assert_cmpuint(fixture_count(fixture, "out", ".msg"), ==, 1);
}

/* Of many that were taken a portion goes at a time, the one that took them last. */
static void test_takes_many(Fixture *fixture, gconstpointer data)
{
    enum { TAKEN = 3 * HOP_PORTION };
    g_auto(Batch) batch;
    begin_taking(&batch, fixture, TAKEN);
    g_autofree char *taker = g_strconcat(entry_text(batch.outcomes[0]->parent), ".done", NULL);
    g_autofree char *path = fixture_file_path(fixture, "pipeline", taker);
    g_assert_true(commit(&batch));
    for (unsigned left = TAKEN + 1; left > 0;) {
        g_assert_cmpint(access(path, F_OK), ==, 0);
        g_assert_true(hop_owes(batch.hop));
        g_assert_true(hop_settle(batch.hop, NULL));
        unsigned now = fixture_count(fixture, "pipeline", "");
        g_assert_cmpuint(now, ==, left > HOP_PORTION ? left - HOP_PORTION : 0);
        left = now;
    }
    g_assert_false(hop_owes(batch.hop));
}

static void test_takes_and_dies(Fixture *fixture, gconstpointer data)
{
    g_auto(Batch) batch;
    begin_taking(&batch, fixture, 2);
    g_assert_true(commit(&batch));
    /* never settled: a new owner */
    g_autoptr(Inbox) again = fixture_inbox(fixture, "pipeline");
    g_assert_cmpuint(fixture_count(fixture, "pipeline", ".msg"), ==, 2);
    g_assert_cmpuint(fixture_count(fixture, "pipeline", ""), ==, 2);
    g_assert_cmpuint(fixture_count(fixture, "out", ".msg"), ==, 1);
}

#define ADD_WITH(path, data, function) g_test_add(path, Fixture, data, fixture_set_up, function, fixture_tear_down)
#define ADD(path, function) ADD_WITH(path, NULL, function)

SUITE("hop")
{
    g_test_init(&argc, &argv, NULL);
    ADD("/hop/takes", test_takes);
    ADD("/hop/takes many", test_takes_many);
    ADD("/hop/takes and dies", test_takes_and_dies);
    ADD("/hop/fans out", test_fans_out);
    ADD("/hop/settles", test_settles);
    ADD_WITH("/hop/unretractable", GUINT_TO_POINTER(FS_UNLINK), test_unretractable);
    ADD_WITH("/hop/unretractable, gone for now", GUINT_TO_POINTER(FS_SYNC_DIR), test_unretractable);
    ADD("/hop/batch", test_batch);
    ADD("/hop/owed", test_owed);
    ADD("/hop/ends", test_ends);
    ADD("/hop/faults", test_faults);
    ADD("/hop/many children", test_many_children);
    ADD("/hop/sync along", test_sync_along);
    ADD("/hop/rename fails", test_rename_fails);
    ADD_WITH("/hop/unknown commit", GUINT_TO_POINTER(1), test_unknown_commit);
    ADD_WITH("/hop/unknown commit together", GUINT_TO_POINTER(3), test_unknown_commit);
    return g_test_run();
}
