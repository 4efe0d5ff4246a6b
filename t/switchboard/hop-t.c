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

static Outcome *claim_outcome(Inbox *inbox)
{
    g_autoptr(GPtrArray) entries = fixture_claim(inbox);
    g_assert_cmpuint(entries->len, ==, 1);
    return outcome_new(entries->pdata[0]);
}

static void add_children(Outcome *outcome, const char *const *queues)
{
    for (; *queues; queues++)
        outcome_add(outcome, draft_from_entry(*queues, outcome->parent));
}

/* The calls as letters: c create, w write, r rename, u unlink, f sync file,
 * d sync directory. */
typedef struct Record {
    GString *calls;
    FsCall fail_call;
    int countdown;
    int error;
} Record;

static int record(const FsEvent *event, void *data)
{
    static const char letters[] = "cwptrumfd";
    Record *log = data;
    if (event->call != FS_WRITE)
        g_string_append_c(log->calls, letters[event->call]);
    return log->error && event->call == log->fail_call && log->countdown-- == 0 ? log->error : 0;
}

static void test_fans_out(Fixture *fixture, gconstpointer data)
{
    static const char *const queues[] = {"out", "out", "archive", NULL};
    g_autofree char *name = fixture_store(fixture, "pipeline", "m");
    for (int i = 0; queues[i]; i++)
        g_assert_nonnull(spool_queue(fixture->spool, queues[i], NULL));
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "pipeline");
    g_autoptr(Outcome) outcome = claim_outcome(inbox);
    g_autofree char *trace = g_strdup(entry_trace(outcome->parent));
    add_children(outcome, queues);
    g_autoptr(Hop) hop = hop_new(fixture->spool);
    g_autoptr(GString) calls = g_string_new(NULL);
    Record log = {.calls = calls};
    fs_set_hook(record, &log);
    g_assert_true(hop_commit(hop, &outcome, 1, NULL));
    /* children; the two directories and the files; the parent, its directory; publications */
    g_assert_cmpstr(calls->str, ==, "cccddfffrdrrr");
    fs_set_hook(NULL, NULL);
    g_assert_true(hop_settle(hop, NULL));
    g_assert_cmpuint(fixture_count(fixture, "pipeline", ""), ==, 0);
    g_assert_cmpuint(fixture_count(fixture, "out", ".msg"), ==, 2);
    g_assert_cmpuint(fixture_count(fixture, "archive", ".msg"), ==, 1);
    g_autoptr(Inbox) out = fixture_inbox(fixture, "out");
    g_autoptr(GPtrArray) copies = fixture_claim(out);
    g_assert_cmpuint(copies->len, ==, 2);
    g_assert_cmpstr(entry_trace(copies->pdata[0]), ==, trace);
    g_assert_cmpstr(entry_trace(copies->pdata[1]), ==, trace);
    entry_free(copies->pdata[0]);
    entry_free(copies->pdata[1]);
}

/* T8: the parent stays until the publications are synced, also when that
 * fails. */
static void test_settles(Fixture *fixture, gconstpointer data)
{
    static const char *const queues[] = {"out", "archive", NULL};
    g_free(fixture_store(fixture, "in", "m"));
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    g_autoptr(Outcome) outcome = claim_outcome(inbox);
    add_children(outcome, queues);
    g_autoptr(Hop) hop = hop_new(fixture->spool);
    g_assert_true(hop_commit(hop, &outcome, 1, NULL));
    g_assert_true(hop_owes(hop));
    g_autoptr(GString) calls = g_string_new(NULL);
    Record log = {calls, FS_SYNC_DIR, 1, EIO};
    fs_set_hook(record, &log);
    g_assert_false(hop_settle(hop, NULL));
    g_assert_cmpuint(fixture_count(fixture, "in", ".done"), ==, 1);
    g_string_truncate(calls, 0);
    g_assert_true(hop_settle(hop, NULL));
    fs_set_hook(NULL, NULL);
    g_assert_cmpstr(calls->str, ==, "ddu");
    g_assert_false(hop_owes(hop));
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 0);
}

/* A batch shares its syncs, and pays the last batch's debt with its own. */
static void test_batch(Fixture *fixture, gconstpointer data)
{
    static const char *const queues[] = {"pipeline", NULL};
    g_assert_nonnull(spool_queue(fixture->spool, "pipeline", NULL));
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    g_autoptr(Hop) hop = hop_new(fixture->spool);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 3; i++) {
            g_autofree char *text = g_strdup_printf("%d %d", round, i);
            g_free(fixture_store(fixture, "in", text));
        }
        g_autoptr(GPtrArray) entries = fixture_claim(inbox);
        g_assert_cmpuint(entries->len, ==, 3);
        Outcome *batch[3];
        for (int i = 0; i < 3; i++) {
            batch[i] = outcome_new(entries->pdata[i]);
            add_children(batch[i], queues);
        }
        g_autoptr(GString) calls = g_string_new(NULL);
        Record log = {.calls = calls};
        fs_set_hook(record, &log);
        g_assert_true(hop_commit(hop, batch, 3, NULL));
        fs_set_hook(NULL, NULL);
        g_assert_cmpstr(calls->str, ==, round == 0 ? "cccdfffrrrdrrr" : "cccdfffrrrdrrruuu");
        for (int i = 0; i < 3; i++)
            outcome_free(batch[i]);
    }
    g_assert_cmpuint(fixture_count(fixture, "pipeline", ".msg"), ==, 6);
    g_assert_cmpuint(fixture_count(fixture, "in", ".done"), ==, 3);
}

/* The debt of the batch before cannot be made durable: its parent stays, and the caller must end the process. */
static void test_owed(Fixture *fixture, gconstpointer data)
{
    static const char *const first[] = {"out", NULL}, *const second[] = {"archive", NULL};
    g_assert_nonnull(spool_queue(fixture->spool, "archive", NULL));
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    g_autoptr(Hop) hop = hop_new(fixture->spool);
    g_autoptr(GString) calls = g_string_new(NULL);
    for (int round = 0; round < 2; round++) {
        g_free(fixture_store(fixture, "in", "m"));
        g_autoptr(Outcome) outcome = claim_outcome(inbox);
        add_children(outcome, round == 0 ? first : second);
        Record log = {calls, FS_SYNC_DIR, 0, round == 0 ? 0 : EIO};
        g_autoptr(GError) error = NULL;
        fs_set_hook(record, &log);
        g_assert_true(hop_commit(hop, &outcome, 1, &error) == (round == 0));
        fs_set_hook(NULL, NULL);
        g_assert_true((error != NULL) == (round == 1));
    }
    g_assert_null(strchr(calls->str, 'u'));
    g_assert_cmpuint(fixture_count(fixture, "in", ".done"), ==, 1);
    g_assert_cmpuint(fixture_count(fixture, "in", ".bak"), ==, 1);
    g_assert_cmpuint(fixture_count(fixture, "archive", ".msg"), ==, 0);
}

/* An outcome without children just ends. */
static void test_ends(Fixture *fixture, gconstpointer data)
{
    g_free(fixture_store(fixture, "in", "m"));
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    g_autoptr(Outcome) outcome = claim_outcome(inbox);
    g_autoptr(Hop) hop = hop_new(fixture->spool);
    g_assert_true(hop_commit(hop, &outcome, 1, NULL));
    g_assert_false(hop_owes(hop));
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 0);
}

/* Whatever fails before the commit leaves the parent claimed and no trace of
 * its children; the batch's other members are not touched by a fault of one
 * file. */
static void test_faults(Fixture *fixture, gconstpointer data)
{
    static const struct {
        FsCall call;
        int countdown;
        unsigned failed;
    } cases[] = {{FS_CREATE, 0, 1}, {FS_CREATE, 1, 1}, {FS_WRITE, 0, 1}, {FS_SYNC_FILE, 2, 1},
                 {FS_SYNC_DIR, 0, 2}, {FS_SYNC_DIR, 1, 2}};
    static const char *const queues[] = {"out", "archive", NULL};
    g_assert_nonnull(spool_queue(fixture->spool, "out", NULL));
    g_assert_nonnull(spool_queue(fixture->spool, "archive", NULL));
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        unsigned published = fixture_count(fixture, "out", ".msg");
        g_free(fixture_store(fixture, "in", "first"));
        g_free(fixture_store(fixture, "in", "second"));
        g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
        g_autoptr(GPtrArray) entries = fixture_claim(inbox);
        g_assert_cmpuint(entries->len, ==, 2);
        Outcome *batch[2];
        for (int k = 0; k < 2; k++) {
            batch[k] = outcome_new(entries->pdata[k]);
            add_children(batch[k], queues);
        }
        g_autoptr(Hop) hop = hop_new(fixture->spool);
        g_autoptr(GString) calls = g_string_new(NULL);
        Record log = {calls, cases[i].call, cases[i].countdown, ENOSPC};
        fs_set_hook(record, &log);
        g_assert_true(hop_commit(hop, batch, 2, NULL));
        fs_set_hook(NULL, NULL);
        g_assert_true(hop_settle(hop, NULL));
        unsigned failed = (batch[0]->error != NULL) + (batch[1]->error != NULL);
        g_assert_cmpuint(failed, ==, cases[i].failed);
        g_assert_cmpuint(fixture_count(fixture, "in", ".bak"), ==, failed);
        g_assert_cmpuint(fixture_count(fixture, "out", ".msg"), ==, published + 2 - failed);
        g_assert_cmpuint(fixture_count(fixture, "archive", ".msg"), ==, published + 2 - failed);
        g_assert_cmpuint(fixture_count(fixture, "out", ".tmp") + fixture_count(fixture, "archive", ".tmp"), ==, 0);
        for (int k = 0; k < 2; k++) {
            if (batch[k]->error) {
                g_assert_error(batch[k]->error, FAIL, FAIL_LATER);
                g_assert_true(inbox_release(inbox, g_steal_pointer(&batch[k]->parent), 0, NULL));
            }
            outcome_free(batch[k]);
        }
        g_autoptr(GPtrArray) rest = fixture_claim(inbox);
        for (guint k = 0; k < rest->len; k++) {
            Outcome *end = outcome_new(rest->pdata[k]);
            g_assert_true(hop_commit(hop, &end, 1, NULL));
            outcome_free(end);
        }
    }
}

/* More children than files are held open: they are synced in rounds, and a sync that fails in an early one is
 * seen. */
static void test_many_children(Fixture *fixture, gconstpointer data)
{
    const unsigned children = 450;
    g_assert_nonnull(spool_queue(fixture->spool, "out", NULL));
    g_free(fixture_store(fixture, "in", "m"));
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    g_autoptr(Outcome) outcome = claim_outcome(inbox);
    for (unsigned i = 0; i < children; i++)
        outcome_add(outcome, draft_from_entry("out", outcome->parent));
    g_autoptr(Hop) hop = hop_new(fixture->spool);
    g_autoptr(GString) calls = g_string_new(NULL);
    Record log = {calls, FS_SYNC_FILE, 7, ENOSPC};
    fs_set_hook(record, &log);
    g_assert_true(hop_commit(hop, &outcome, 1, NULL));
    g_assert_error(outcome->error, FAIL, FAIL_LATER);
    g_assert_cmpuint(fixture_count(fixture, "out", ""), ==, 0);
    g_assert_cmpuint(fixture_count(fixture, "in", ".bak"), ==, 1);
    g_clear_error(&outcome->error);
    g_string_truncate(calls, 0);
    log.error = 0;
    g_assert_true(hop_commit(hop, &outcome, 1, NULL) && hop_settle(hop, NULL));
    fs_set_hook(NULL, NULL);
    g_assert_no_error(outcome->error);
    g_assert_cmpuint(fixture_count(fixture, "out", ".msg"), ==, children);
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 0);
}

/* Of parents that are renamed together, one whose rename fails keeps its claim and loses its
 * child; the others are committed. */
static void test_faults_together(Fixture *fixture, gconstpointer data)
{
    static const char *const queues[] = {"out", NULL};
    g_assert_nonnull(spool_queue(fixture->spool, "out", NULL));
    for (int i = 0; i < 3; i++)
        g_free(fixture_store(fixture, "in", "m"));
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    g_autoptr(GPtrArray) entries = fixture_claim(inbox);
    g_assert_cmpuint(entries->len, ==, 3);
    Outcome *batch[3];
    for (int i = 0; i < 3; i++) {
        batch[i] = outcome_new(entries->pdata[i]);
        add_children(batch[i], queues);
    }
    g_autoptr(Hop) hop = hop_new(fixture->spool);
    g_autoptr(GString) calls = g_string_new(NULL);
    Record log = {calls, FS_RENAME, 1, ENOSPC};
    fs_set_hook(record, &log);
    g_assert_true(hop_commit(hop, batch, 3, NULL));
    fs_set_hook(NULL, NULL);
    g_assert_no_error(batch[0]->error);
    g_assert_error(batch[1]->error, FAIL, FAIL_LATER);
    g_assert_no_error(batch[2]->error);
    g_assert_true(hop_settle(hop, NULL));
    g_assert_cmpuint(fixture_count(fixture, "in", ".bak"), ==, 1);
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 1);
    g_assert_cmpuint(fixture_count(fixture, "out", ".msg"), ==, 2);
    g_assert_cmpuint(fixture_count(fixture, "out", ""), ==, 2);
    for (int i = 0; i < 3; i++)
        outcome_free(batch[i]);
}

/* The sync of the commit fails, so nobody knows what is on the disk: the caller must end the process. */
static void test_unknown_commit(Fixture *fixture, gconstpointer data)
{
    static const char *const queues[] = {"out", NULL};
    g_assert_nonnull(spool_queue(fixture->spool, "out", NULL));
    g_free(fixture_store(fixture, "in", "m"));
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    g_autoptr(Outcome) outcome = claim_outcome(inbox);
    add_children(outcome, queues);
    g_autoptr(Hop) hop = hop_new(fixture->spool);
    g_autoptr(GString) calls = g_string_new(NULL);
    Record log = {calls, FS_SYNC_DIR, 1, EIO};
    g_autoptr(GError) error = NULL;
    fs_set_hook(record, &log);
    g_assert_false(hop_commit(hop, &outcome, 1, &error));
    fs_set_hook(NULL, NULL);
    g_assert_error(error, FAIL, FAIL_LATER);
    g_assert_cmpuint(fixture_count(fixture, "out", ".msg"), ==, 0);
}

/* Three parents are committed together. Returns what hop_commit() did. */
static bool commit_three(Fixture *fixture, FsCall fail_call, unsigned *failed)
{
    static const char *const queues[] = {"out", NULL};
    g_assert_nonnull(spool_queue(fixture->spool, "out", NULL));
    for (int i = 0; i < 3; i++)
        g_free(fixture_store(fixture, "in", "m"));
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    g_autoptr(GPtrArray) entries = fixture_claim(inbox);
    g_assert_cmpuint(entries->len, ==, 3);
    Outcome *batch[3];
    for (int i = 0; i < 3; i++)
        add_children(batch[i] = outcome_new(entries->pdata[i]), queues);
    g_autoptr(Hop) hop = hop_new(fixture->spool);
    g_autoptr(GString) calls = g_string_new(NULL);
    Record log = {calls, fail_call, 1, EIO};
    fs_set_hook(record, &log);
    bool known = hop_commit(hop, batch, 3, NULL);
    fs_set_hook(NULL, NULL);
    *failed = 0;
    for (int i = 0; i < 3; i++) {
        *failed += batch[i]->error != NULL;
        outcome_free(batch[i]);
    }
    return known;
}

/* A rename that fails is that parent's trouble alone. */
static void test_rename_fails(Fixture *fixture, gconstpointer data)
{
    unsigned failed;
    g_assert_true(commit_three(fixture, FS_RENAME, &failed));
    g_assert_cmpuint(failed, ==, 1);
    g_assert_cmpuint(fixture_count(fixture, "in", ".bak"), ==, 1);
    g_assert_cmpuint(fixture_count(fixture, "in", ".done"), ==, 2);
    g_assert_cmpuint(fixture_count(fixture, "out", ".msg"), ==, 2);
    g_assert_cmpuint(fixture_count(fixture, "out", ""), ==, 2);
}

static void test_unknown_together(Fixture *fixture, gconstpointer data)
{
    unsigned failed;
    g_assert_false(commit_three(fixture, FS_SYNC_DIR, &failed));
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
static void unretractable(Fixture *fixture, FsCall call)
{
    static const char *const queues[] = {"out", "archive", NULL};
    g_assert_true(spool_queue(fixture->spool, "out", NULL) && spool_queue(fixture->spool, "archive", NULL));
    g_free(fixture_store(fixture, "in", "m"));
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    g_autoptr(Outcome) outcome = claim_outcome(inbox);
    add_children(outcome, queues);
    g_autoptr(Hop) hop = hop_new(fixture->spool);
    g_autoptr(GError) error = NULL;
    Refusal refusal = {.call = call};
    fs_set_hook(refuse_second_create, &refusal);
    g_assert_false(hop_commit(hop, &outcome, 1, &error));
    fs_set_hook(NULL, NULL);
    g_assert_error(error, FAIL, FAIL_LATER);
    g_assert_cmpuint(fixture_count(fixture, "in", ".bak"), ==, 1);
}

static void test_unretractable(Fixture *fixture, gconstpointer data)
{
    unretractable(fixture, FS_UNLINK);
    fixture_tear_down(fixture, NULL);
    fixture_set_up(fixture, NULL);
    unretractable(fixture, FS_SYNC_DIR); /* it is gone, for now */
}

/* Check that a file that goes along is synced with the children, before the parent is decided, and also when there are
 * no children; its failure is an unknown commit. */
static void test_sync_along(Fixture *fixture, gconstpointer data)
{
    static const char *const queues[] = {"out", NULL};
    g_assert_nonnull(spool_queue(fixture->spool, "out", NULL));
    g_autofree char *path = NULL;
    int fd = g_file_open_tmp("along-XXXXXX", &path, NULL);
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    for (int round = 0; round < 3; round++) {
        g_free(fixture_store(fixture, "in", "m"));
        g_autoptr(Outcome) outcome = claim_outcome(inbox);
        if (round != 1)
            add_children(outcome, queues);
        g_autoptr(Hop) hop = hop_new(fixture->spool);
        hop_sync_along(hop, fd);
        g_autoptr(GString) calls = g_string_new(NULL);
        /* of the third round: the child's file is synced, the other is not */
        Record log = {calls, FS_SYNC_FILE, 1, round == 2 ? EIO : 0};
        fs_set_hook(record, &log);
        g_assert_true(hop_commit(hop, &outcome, 1, NULL) == (round != 2));
        fs_set_hook(NULL, NULL);
        g_assert_cmpstr(calls->str, ==, round == 0 ? "cdffrdr" : round == 1 ? "fu" : "cdff");
    }
    close(fd);
    unlink(path);
}

/* The first entry takes the others, and gets a child. */
static Outcome *take_others(GPtrArray *entries)
{
    Outcome *outcome = outcome_new(entries->pdata[0]);
    for (guint i = 1; i < entries->len; i++) {
        outcome_take(outcome, entry_name(entries->pdata[i]));
        entry_free(entries->pdata[i]);
    }
    outcome_add(outcome, draft_from_entry("out", outcome->parent));
    return outcome;
}

/* A child that contains two further entries: they stay claimed until its publication is durable, then go with the
 * parent; a crash before puts them back, and a hop that fails leaves them as they are. */
static void test_takes(Fixture *fixture, gconstpointer data)
{
    for (int i = 0; i < 3; i++)
        g_free(fixture_store(fixture, "pipeline", "m"));
    spool_queue(fixture->spool, "out", NULL);
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "pipeline");
    g_autoptr(GPtrArray) entries = fixture_claim(inbox);
    g_autoptr(Outcome) outcome = take_others(entries);
    g_autoptr(Hop) hop = hop_new(fixture->spool);
    g_autoptr(GString) calls = g_string_new(NULL);
    Record log = {.calls = calls, .fail_call = FS_CREATE, .error = ENOSPC};
    fs_set_hook(record, &log);
    g_assert_true(hop_commit(hop, &outcome, 1, NULL));
    g_assert_nonnull(outcome->error);
    g_clear_error(&outcome->error);
    g_assert_cmpuint(fixture_count(fixture, "pipeline", ".bak"), ==, 3);
    log.error = 0;
    g_string_truncate(calls, 0);
    g_assert_true(hop_commit(hop, &outcome, 1, NULL));
    g_assert_null(outcome->error);
    g_assert_cmpuint(fixture_count(fixture, "pipeline", ""), ==, 3);
    g_assert_null(strchr(calls->str, 'u'));
    g_assert_true(hop_settle(hop, NULL));
    fs_set_hook(NULL, NULL);
    /* publication; then the sync of its directory, and only then all three go */
    g_assert_true(g_str_has_suffix(calls->str, "rduuu"));
    g_assert_cmpuint(fixture_count(fixture, "pipeline", ""), ==, 0);
    g_assert_cmpuint(fixture_count(fixture, "out", ".msg"), ==, 1);
}

/* Of many that were taken a portion goes at a time, the one that took them last. */
static void test_takes_many(Fixture *fixture, gconstpointer data)
{
    enum { TAKEN = 3 * HOP_PORTION };
    for (int i = 0; i <= TAKEN; i++)
        g_free(fixture_store(fixture, "pipeline", "m"));
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "pipeline");
    g_autoptr(GPtrArray) entries = fixture_claim(inbox);
    g_assert_cmpuint(entries->len, ==, TAKEN + 1);
    g_autoptr(Outcome) outcome = take_others(entries);
    g_autofree char *taker = g_strconcat(entry_text(outcome->parent), ".done", NULL);
    g_autofree char *path = fixture_file_path(fixture, "pipeline", taker);
    g_autoptr(Hop) hop = hop_new(fixture->spool);
    g_assert_true(hop_commit(hop, &outcome, 1, NULL));
    for (unsigned left = TAKEN + 1; left > 0;) {
        g_assert_cmpint(access(path, F_OK), ==, 0);
        g_assert_true(hop_owes(hop));
        g_assert_true(hop_settle(hop, NULL));
        unsigned now = fixture_count(fixture, "pipeline", "");
        g_assert_cmpuint(now, ==, left > HOP_PORTION ? left - HOP_PORTION : 0);
        left = now;
    }
    g_assert_false(hop_owes(hop));
}

static void test_takes_and_dies(Fixture *fixture, gconstpointer data)
{
    for (int i = 0; i < 3; i++)
        g_free(fixture_store(fixture, "pipeline", "m"));
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "pipeline");
    g_autoptr(GPtrArray) entries = fixture_claim(inbox);
    g_autoptr(Outcome) outcome = take_others(entries);
    g_autoptr(Hop) hop = hop_new(fixture->spool);
    g_assert_true(hop_commit(hop, &outcome, 1, NULL));
    /* never settled: a new owner */
    g_autoptr(Inbox) again = fixture_inbox(fixture, "pipeline");
    g_assert_cmpuint(fixture_count(fixture, "pipeline", ".msg"), ==, 2);
    g_assert_cmpuint(fixture_count(fixture, "pipeline", ""), ==, 2);
    g_assert_cmpuint(fixture_count(fixture, "out", ".msg"), ==, 1);
}

#define ADD(path, function) g_test_add(path, Fixture, NULL, fixture_set_up, function, fixture_tear_down)

SUITE("hop")
{
    g_test_init(&argc, &argv, NULL);
    ADD("/hop/takes", test_takes);
    ADD("/hop/takes many", test_takes_many);
    ADD("/hop/takes and dies", test_takes_and_dies);
    ADD("/hop/fans out", test_fans_out);
    ADD("/hop/settles", test_settles);
    ADD("/hop/unretractable", test_unretractable);
    ADD("/hop/batch", test_batch);
    ADD("/hop/owed", test_owed);
    ADD("/hop/ends", test_ends);
    ADD("/hop/faults", test_faults);
    ADD("/hop/many children", test_many_children);
    ADD("/hop/faults together", test_faults_together);
    ADD("/hop/sync along", test_sync_along);
    ADD("/hop/unknown commit", test_unknown_commit);
    ADD("/hop/rename fails", test_rename_fails);
    ADD("/hop/unknown commit together", test_unknown_together);
    return g_test_run();
}
