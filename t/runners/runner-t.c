/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The queue-runner skeleton, in a process of its own as in real life. The
 * handler does what the message's first word says. */
#include "runners/runner.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utime.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/fail.h"
#include "base/fs.h"
#include "t/switchboard/fixture.h"

#define PATIENCE (120 * CLOCK_SECOND) /* of a machine that is busy, too */

static bool refuse_batches, slow_committed;
static bool need_fails, need_is_away; /* runner_need() */
static const char *crash_in; /* the callback in which "mine" ends the process; NULL: none */
static bool has_mine;        /* it is in the batch */
static bool valgrind; /* everything is many times slower */
static size_t batch_octets; /* of messages handled since begin_batch() */
static int64_t batch_us;    /* spent in handle() since then, at the least */

static bool begin_batch(Runner *runner, GError **error)
{
    batch_octets = 0;
    batch_us = 0;
    has_mine = false;
    return true;
}

static void blow_up(const char *callback)
{
    if (has_mine && g_strcmp0(callback, crash_in) == 0)
        abort();
}

/* "big" and "slow" come to shunt when their batch should have ended before them. */
static bool within_bounds(const char *text, size_t length, GError **error)
{
    if (batch_octets >= RUNNER_BATCH_OCTETS || batch_us >= RUNNER_BATCH_US)
        return fail(error, FAIL_NEVER, "this batch holds the database for too long");
    batch_octets += length;
    if (g_str_has_prefix(text, "slow")) {
        g_usleep(RUNNER_BATCH_US);
        batch_us += RUNNER_BATCH_US;
    }
    return true;
}

static const Outcome *given_up; /* of "never" */

static bool obey(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    g_autoptr(GBytes) message = entry_message(entry);
    gsize length;
    const char *octets = g_bytes_get_data(message, &length);
    g_autofree char *text = g_strndup(octets, length);
    if (g_str_has_prefix(text, "crash"))
        abort();
    has_mine |= g_str_has_prefix(text, "mine");
    if (g_str_has_prefix(text, "mine") && g_strcmp0(crash_in, "committed, waiting") == 0) {
        runner_wait(runner, outcome, entry_name(entry)->due);
        return true;
    }
    if (g_str_has_prefix(text, "never")) {
        given_up = outcome;
        return fail(error, FAIL_NEVER, "this can never be done");
    }
    if (g_str_has_prefix(text, "later") && clock_now() < entry_arrival(entry) + CLOCK_SECOND / 2)
        return fail(error, FAIL_LATER, "not yet");
    if (!within_bounds(text, length, error))
        return false;
    Draft *draft = draft_from_entry("target", entry);
    if (g_str_has_prefix(text, "large")) {
        g_autofree char *words = g_strnfill(META_MAX, 'x');
        meta_set_string(draft_meta(draft), "words", words);
    }
    outcome_add(outcome, draft);
    return true;
}

static bool end_batch(Runner *runner, GError **error)
{
    blow_up("end_batch");
    return !refuse_batches || fail(error, FAIL_LATER, "the database is down");
}

/* "number" gets its child here, "too late" fails, "final crash" crashes. */
static bool finish(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    g_autoptr(GBytes) message = entry_message(entry);
    g_autofree char *text = g_strndup(g_bytes_get_data(message, NULL), g_bytes_get_size(message));
    if (g_str_has_prefix(text, "final crash"))
        abort();
    if (g_str_has_prefix(text, "number"))
        outcome_add(outcome, draft_from_entry("number", entry));
    return !g_str_has_prefix(text, "too late") || fail(error, FAIL_NEVER, "this was found out late");
}

static void committed(Runner *runner)
{
    if (given_up && !given_up->error)
        abort(); /* it was not done, and is taken for done */
    given_up = NULL;
    blow_up("committed, waiting");
    if (slow_committed)
        g_usleep(150000); /* longer than the heartbeat: the next line beats */
    runner_progress(runner);
}

static bool is_away(void *need)
{
    g_assert_true(need == &need_is_away);
    return need_is_away;
}

static bool keep(void *need, GError **error)
{
    g_assert_true(need == &need_is_away);
    return !need_fails || fail(error, FAIL_NEVER, "the database is of another site");
}

static char *hidden, *unpublished, *child;

/* The slice has been recovered by now: this is intake that was killed beside a living runner, long ago, and a child
 * that has come back. */
static bool bring_intake(Runner *runner, GError **error)
{
    struct utimbuf times = {.actime = 1000000000, .modtime = 1000000000};
    runner_need(runner, &need_is_away, is_away, keep);
    if (child && !g_file_set_contents(child, "child", -1, NULL))
        return false;
    return !hidden || (utime(hidden, &times) == 0 && rename(hidden, unpublished) == 0);
}

static const RunnerSpec spec = {.name = "test", .queue = "in", .start = bring_intake, .handle = obey,
                                .begin_batch = begin_batch, .end_batch = end_batch, .finish = finish,
                                .committed = committed};

typedef struct Test {
    Fixture fixture;
    char *config;
    pid_t pid;
} Test;

static FsHook *hook; /* in the runner's process */
static int told = -1; /* what it has instead of a master */

/* Leave without exit(): the memory that a forked process has then is no leak, but leak checkers look. */
static void leave(int code, void *data)
{
    (void)data;
    _exit(code);
}

/* Threads of this process. */
static unsigned count_threads(void)
{
    unsigned count = 0;
    g_autoptr(GDir) tasks = g_dir_open("/proc/self/task", 0, NULL);
    while (tasks && g_dir_read_name(tasks))
        count++;
    return count;
}

/* With a hook, whoever wants a sync makes it, and no thread. */
static int let_through(const FsEvent *event, void *data)
{
    return 0;
}

static void start(Test *test)
{
    /* Another thread might hold a lock now, which nobody would ever release in the child. */
    g_assert_cmpuint(count_threads(), <=, 1);
    test->pid = fork();
    g_assert_cmpint(test->pid, >=, 0);
    if (test->pid == 0) {
        on_exit(leave, NULL);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* nothing goes on after a test that failed */
        fs_set_hook(hook, NULL);
        setenv(CHILD_ENV_CONFIG, test->config, 1);
        if (told >= 0) {
            setenv(CHILD_ENV_RUNNER, spec.name, 1);
            dup2(told, CHILD_STATUS_FD);
        }
        char *arguments[] = {(char *)"test", NULL};
        _exit(runner_main(&spec, 1, arguments));
    }
}

static int stop(Test *test, int number)
{
    int status = 0;
    kill(test->pid, number);
    g_assert_cmpint(waitpid(test->pid, &status, 0), ==, test->pid);
    return status;
}

/* Moves the wall clock of the runner and our own forward, for good. */
static void set_clock(int seconds)
{
    g_autofree char *text = g_strdup_printf("%d", seconds);
    g_assert_true(g_file_set_contents(g_getenv("LISTRUNNER_CLOCK_FILE"), text, -1, NULL));
}

/* Return what the runner ends with of itself. */
static int end_of(Test *test)
{
    int status = 0;
    int64_t until = clock_monotonic() + PATIENCE;
    while (waitpid(test->pid, &status, WNOHANG) == 0) {
        g_assert_cmpint(clock_monotonic(), <, until);
        g_usleep(2000);
    }
    return status;
}

static void configure(Test *test, const char *spool_keys)
{
    g_autofree char *text = g_strdup_printf("[spool]\ndirectory = %s\n%s\n", test->fixture.path, spool_keys);
    g_free(test->config);
    test->config = g_strdup_printf("%s.conf", test->fixture.path);
    g_assert_true(g_file_set_contents(test->config, text, -1, NULL));
}

static void set_up(Test *test, gconstpointer data)
{
    fixture_set_up(&test->fixture, NULL);
    configure(test, data ? data : "");
    refuse_batches = slow_committed = false;
}

static void tear_down(Test *test, gconstpointer data)
{
    unlink(test->config);
    unlink(g_getenv("LISTRUNNER_CLOCK_FILE"));
    g_free(test->config);
    fixture_tear_down(&test->fixture, NULL);
}

static void wait_for(Test *test, const char *queue, const char *suffix, unsigned count)
{
    int64_t until = clock_monotonic() + PATIENCE;
    while (fixture_count(&test->fixture, queue, suffix) != count) {
        g_assert_cmpint(clock_monotonic(), <, until);
        g_usleep(2000);
    }
}

/* Check that entries are moved that are there at the start, and that come later, in batches and alone. */
static void test_moves(Test *test, gconstpointer data)
{
    for (int i = 0; i < 300; i++)
        g_free(fixture_store(&test->fixture, "in", "go"));
    start(test);
    wait_for(test, "target", ".msg", 300);
    g_free(fixture_store(&test->fixture, "in", "go"));
    wait_for(test, "target", ".msg", 301);
    int status = stop(test, SIGTERM);
    g_assert_true(WIFEXITED(status));
    g_assert_cmpint(WEXITSTATUS(status), ==, CHILD_EXIT_OK);
    g_assert_cmpuint(fixture_count(&test->fixture, "in", ""), ==, 0);
    g_assert_cmpuint(fixture_count(&test->fixture, "target", ""), ==, 301);
}

static void test_later(Test *test, gconstpointer data)
{
    g_free(fixture_store(&test->fixture, "in", "later"));
    g_free(fixture_store(&test->fixture, "in", "go"));
    start(test);
    wait_for(test, "target", ".msg", 2);
    stop(test, SIGTERM);
    g_assert_cmpuint(fixture_count(&test->fixture, "in", ""), ==, 0);
}

/* A beat in committed() does not name an entry that was put back. */
static void test_beats_late(Test *test, gconstpointer data)
{
    slow_committed = true;
    g_free(fixture_store(&test->fixture, "in", "later"));
    start(test);
    wait_for(test, "target", ".msg", 1);
    int status = stop(test, SIGTERM);
    g_assert_true(WIFEXITED(status));
    g_assert_cmpint(WEXITSTATUS(status), ==, CHILD_EXIT_OK);
}

static void test_never(Test *test, gconstpointer data)
{
    g_free(fixture_store(&test->fixture, "in", "never"));
    g_free(fixture_store(&test->fixture, "in", "go"));
    start(test);
    wait_for(test, "shunt", ".msg", 1);
    wait_for(test, "target", ".msg", 1);
    int status = stop(test, SIGTERM);
    g_assert_true(WIFEXITED(status));
    g_autofree char *file = fixture_files(&test->fixture, "shunt", ".msg");
    g_autoptr(Entry) entry = entry_open(spool_queue(test->fixture.spool, "shunt", NULL), file, NULL);
    g_assert_nonnull(entry);
    const json_t *fault = json_object_get(entry_meta(entry), META_FAULT);
    g_assert_cmpstr(meta_string(fault, "queue", ""), ==, "in");
    g_assert_cmpstr(meta_string(fault, "reason", ""), ==, "this can never be done");
    g_assert_cmpuint(fixture_count(&test->fixture, "in", ""), ==, 0);
}

/* A child that can never be written: its parent goes to shunt, those of its batch go on. */
static void test_cannot_be_written(Test *test, gconstpointer data)
{
    g_free(fixture_store(&test->fixture, "in", "go"));
    g_free(fixture_store(&test->fixture, "in", "large"));
    g_free(fixture_store(&test->fixture, "in", "go"));
    start(test);
    wait_for(test, "shunt", ".msg", 1);
    wait_for(test, "target", ".msg", 2);
    stop(test, SIGTERM);
    g_assert_cmpuint(fixture_count(&test->fixture, "in", ""), ==, 0);
    g_assert_cmpuint(fixture_count(&test->fixture, "target", ""), ==, 2);
}

static void crash(Test *test)
{
    start(test);
    int status = end_of(test);
    g_assert_true(WIFSIGNALED(status));
}

/* Poison kills its runner three times and is set aside. Its neighbours of the same batch are not charged: after the
 * first time they go before it. */
static void test_poison(Test *test, gconstpointer data)
{
    g_free(fixture_store(&test->fixture, "in", "crash"));
    for (int i = 0; i < 5; i++)
        g_free(fixture_store(&test->fixture, "in", "go"));
    crash(test);
    g_assert_cmpuint(fixture_count(&test->fixture, "target", ""), ==, 0);
    start(test);
    wait_for(test, "target", ".msg", 5);
    set_clock(2); /* its time has come, while the runner lives */
    g_free(fixture_store(&test->fixture, "in", "go")); /* wakes it */
    int status = end_of(test);
    g_assert_true(WIFSIGNALED(status)); /* perhaps before the last one came, which then goes at the next start */
    set_clock(10);
    crash(test);
    start(test);
    wait_for(test, "in", ".psv", 1);
    wait_for(test, "target", ".msg", 6);
    stop(test, SIGTERM);
    g_assert_cmpuint(fixture_count(&test->fixture, "in", ""), ==, 1);
}

/* An entry that has crashed its runner is handled alone, after what was claimed with it is committed. */
static void test_poison_alone(Test *test, gconstpointer data)
{
    g_free(fixture_store(&test->fixture, "in", "crash"));
    g_free(fixture_store(&test->fixture, "in", "crash"));
    crash(test);
    set_clock(2);
    for (int i = 0; i < 5; i++)
        g_free(fixture_store(&test->fixture, "in", "go"));
    crash(test); /* the second, for the first time */
    g_assert_cmpuint(fixture_count(&test->fixture, "target", ""), ==, 0);
    set_clock(4);
    crash(test); /* the first or the second, for the second time */
    g_assert_cmpuint(fixture_count(&test->fixture, "target", ".msg"), ==, 5);
}

/* A crash between the entries, of which one is the cause: the first time nobody is charged, then each is alone, and the
 * one that does it is set aside. The others come through meanwhile. */
static void be_found(Test *test, const char *callback)
{
    crash_in = callback;
    for (int i = 0; i < 3; i++)
        g_free(fixture_store(&test->fixture, "in", "go"));
    g_free(fixture_store(&test->fixture, "in", "mine"));
    for (int i = 0; i < 3; i++)
        g_free(fixture_store(&test->fixture, "in", "go"));
    crash(test);
    for (int crashes = 1; crashes <= 3; crashes++) {
        crash(test);
        set_clock(10 * crashes);
    }
    g_assert_cmpuint(fixture_count(&test->fixture, "in", ".psv"), ==, 0);
    start(test);
    wait_for(test, "in", ".psv", 1);
    wait_for(test, "target", ".msg", 6);
    stop(test, SIGTERM);
    g_assert_cmpuint(fixture_count(&test->fixture, "in", ""), ==, 1);
    crash_in = NULL;
}

static void test_crash_in_end_batch(Test *test, gconstpointer data)
{
    be_found(test, "end_batch");
}

static void test_crash_in_committed(Test *test, gconstpointer data)
{
    be_found(test, "committed, waiting");
}

/* Check that all that finish() adds is committed with the rest; an entry that fails or crashes there is alone in
 * that. */
static void test_finish(Test *test, gconstpointer data)
{
    g_free(fixture_store(&test->fixture, "in", "number"));
    g_free(fixture_store(&test->fixture, "in", "too late"));
    g_free(fixture_store(&test->fixture, "in", "go"));
    start(test);
    wait_for(test, "shunt", ".msg", 1);
    wait_for(test, "number", ".msg", 1);
    wait_for(test, "target", ".msg", 2);
    stop(test, SIGTERM);
    g_free(fixture_store(&test->fixture, "in", "final crash"));
    for (int crashes = 1; crashes <= 3; crashes++) {
        crash(test);
        set_clock(10 * crashes);
    }
    start(test);
    wait_for(test, "in", ".psv", 1);
    stop(test, SIGTERM);
    g_assert_cmpuint(fixture_count(&test->fixture, "target", ""), ==, 2);
}

/* While one of these is true, the entry waits in its queue. */
static void wait_down(Test *test, bool *down)
{
    *down = true;
    g_free(fixture_store(&test->fixture, "in", "go"));
    start(test);
    g_usleep(200000);
    stop(test, SIGTERM);
    g_assert_cmpuint(fixture_count(&test->fixture, "target", ""), ==, 0);
    g_assert_cmpuint(fixture_count(&test->fixture, "in", ".msg"), ==, 1);
    *down = false;
    start(test);
    wait_for(test, "target", ".msg", 1);
    stop(test, SIGTERM);
}

static void test_database_down(Test *test, gconstpointer data)
{
    wait_down(test, &refuse_batches);
}

static void test_need_fails(Test *test, gconstpointer data)
{
    wait_down(test, &need_fails);
}

static void test_need_away(Test *test, gconstpointer data)
{
    wait_down(test, &need_is_away);
}

/* Others wait for the database while a batch holds it: it ends before its messages are too much. */
static void test_big(Test *test, gconstpointer data)
{
    g_autofree char *message = g_strnfill(RUNNER_BATCH_OCTETS / 3, 'b');
    memcpy(message, "big", strlen("big"));
    for (int i = 0; i < 10; i++)
        g_free(fixture_store(&test->fixture, "in", message));
    start(test);
    wait_for(test, "in", "", 0);
    stop(test, SIGTERM);
    g_assert_cmpuint(fixture_count(&test->fixture, "shunt", ""), ==, 0);
    g_assert_cmpuint(fixture_count(&test->fixture, "target", ".msg"), ==, 10);
}

/* So it does when it takes long for another reason; the rest of the batch follows. */
static void test_slow(Test *test, gconstpointer data)
{
    for (int i = 0; i < 3; i++)
        g_free(fixture_store(&test->fixture, "in", "slow"));
    start(test);
    wait_for(test, "in", "", 0);
    stop(test, SIGTERM);
    g_assert_cmpuint(fixture_count(&test->fixture, "shunt", ""), ==, 0);
    g_assert_cmpuint(fixture_count(&test->fixture, "target", ".msg"), ==, 3);
}

static int refuse_publication(const FsEvent *event, void *data)
{
    (void)data;
    return event->call == FS_RENAME && strstr(event->name, ".in-") ? EIO : 0;
}

/* A runner that must end because these calls fail; another may do better later. */
static void end_by_fault(Test *test, FsHook *calls)
{
    hook = calls;
    start(test);
    hook = NULL;
    int status = end_of(test);
    g_assert_true(WIFEXITED(status));
    g_assert_cmpint(WEXITSTATUS(status), ==, CHILD_EXIT_LATER);
}

/* The sync of the directory in which the parent was renamed. */
static int refuse_decision(const FsEvent *event, void *data)
{
    static int dir = -1;
    (void)data;
    if (event->call == FS_RENAME && g_str_has_suffix(event->to, ".done"))
        dir = event->fd;
    return event->call == FS_SYNC_DIR && event->fd == dir ? EIO : 0;
}

static int refuse_unlink(const FsEvent *event, void *data)
{
    (void)data;
    return event->call == FS_UNLINK && g_str_has_suffix(event->name, ".done") ? EIO : 0;
}

/* Check that a fault ends the process that leaves it unknown, or known to itself alone, how far an entry is; the next
 * one decides. */
static void test_commit_fails(Test *test, gconstpointer data)
{
    static FsHook *const hooks[] = {refuse_decision, refuse_publication, refuse_unlink};
    for (unsigned i = 0; i < G_N_ELEMENTS(hooks); i++) {
        g_free(fixture_store(&test->fixture, "in", "go"));
        end_by_fault(test, hooks[i]);
        g_assert_cmpuint(fixture_count(&test->fixture, "in", ".done"), ==, 1);
        start(test);
        wait_for(test, "target", ".msg", i + 1);
        wait_for(test, "in", "", 0);
        stop(test, SIGTERM);
        g_assert_cmpuint(fixture_count(&test->fixture, "target", ""), ==, i + 1);
    }
}

/* Killed at random while it works: all arrive, none twice. */
static void test_kill(Test *test, gconstpointer data)
{
    const unsigned entries = valgrind ? 200 : 1000, rounds = valgrind ? 8 : 25;
    const int longest = valgrind ? 600000 : 30000;
    for (unsigned i = 0; i < entries; i++)
        g_free(fixture_store(&test->fixture, "in", "go"));
    for (unsigned round = 0; round < rounds; round++) {
        start(test);
        g_usleep((gulong)g_random_int_range(1000, longest));
        stop(test, SIGKILL);
    }
    start(test);
    wait_for(test, "target", ".msg", entries);
    stop(test, SIGTERM);
    g_assert_cmpuint(fixture_count(&test->fixture, "target", ""), ==, entries);
    g_assert_cmpuint(fixture_count(&test->fixture, "in", ""), ==, 0);
}

/* Hide what bring_intake() will find. */
static void hide_intake(Test *test)
{
    g_autofree char *name = fixture_store(&test->fixture, "in", "whole");
    g_autofree char *file = g_strconcat(name, ".msg", NULL);
    g_autofree char *path = fixture_file_path(&test->fixture, "in", file);
    g_autofree char *stem = g_strndup(path, strlen(path) - strlen(".msg"));
    hidden = g_strconcat(stem, ".hidden", NULL);
    unpublished = g_strconcat(stem, ".tmp", NULL);
    g_assert_cmpint(rename(path, hidden), ==, 0);
}

static void test_late_intake(Test *test, gconstpointer data)
{
    hide_intake(test);
    start(test);
    wait_for(test, "target", ".msg", 1);
    g_assert_true(WIFEXITED(stop(test, SIGTERM)));
    g_assert_cmpuint(fixture_count(&test->fixture, "in", ""), ==, 0);
    g_clear_pointer(&hidden, g_free);
    g_clear_pointer(&unpublished, g_free);
}

#define PARENT "0123456789012345678901234567890123456789"
#define CHILD "1700000000.000001+0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33.in-"

/* A child of an undone run, of an entry that is due one day. */
static void bring_child(Test *test, const char *parent)
{
    g_autofree char *file = g_strconcat(CHILD, parent, ".tmp", NULL);
    g_assert_nonnull(spool_queue(test->fixture.spool, "target", NULL));
    child = fixture_file_path(&test->fixture, "target", file);
}

static bool unlinked; /* a child, in the runner's process */

static int refuse_sync(const FsEvent *event, void *data)
{
    (void)data;
    unlinked |= event->call == FS_UNLINK && g_str_has_prefix(event->name, CHILD);
    return unlinked && event->call == FS_SYNC_DIR ? EIO : 0;
}

static int refuse_take_back(const FsEvent *event, void *data)
{
    (void)data;
    return event->call == FS_UNLINK && g_str_has_prefix(event->name, CHILD) ? EIO : 0;
}

/* A child that cannot be taken back, or may come back, ends the process: its parent may be decided with others soon. */
static void test_take_back_fails(Test *test, gconstpointer data)
{
    static FsHook *const hooks[] = {refuse_sync, refuse_take_back};
    g_autofree char *name = fixture_store(&test->fixture, "in", "go");
    const char *digits = name + NAME_LENGTH - HASH_DIGITS;
    g_autofree char *file = g_strconcat(name, ".msg", NULL), *later = g_strconcat("4000000000.000000+", digits, ".msg",
                                                                                  NULL);
    g_autofree char *from = fixture_file_path(&test->fixture, "in", file);
    g_autofree char *to = fixture_file_path(&test->fixture, "in", later);
    g_assert_cmpint(rename(from, to), ==, 0);
    bring_child(test, digits);
    for (unsigned i = 0; i < G_N_ELEMENTS(hooks); i++) {
        end_by_fault(test, hooks[i]);
        g_assert_cmpuint(fixture_count(&test->fixture, "in", ".msg"), ==, 1);
    }
    start(test);
    wait_for(test, "target", "", 0);
    stop(test, SIGTERM);
    g_clear_pointer(&child, g_free);
}

/* A batch has just ended: what happens afterwards is no entry's doing. */
static void test_ends_in_sweep(Test *test, gconstpointer data)
{
    g_autofree char *late = fixture_store(&test->fixture, "in", "late");
    g_autofree char *from = g_strconcat(late, ".msg", NULL);
    g_autofree char *to = g_strconcat("4000000000.000000+", late + NAME_LENGTH - HASH_DIGITS, ".msg", NULL);
    g_autofree char *now = fixture_file_path(&test->fixture, "in", from);
    g_autofree char *later = fixture_file_path(&test->fixture, "in", to);
    g_assert_cmpint(rename(now, later), ==, 0);
    g_autofree char *name = fixture_store(&test->fixture, "in", "go");
    bring_child(test, late + NAME_LENGTH - HASH_DIGITS);
    told = memfd_create("told", MFD_CLOEXEC);
    end_by_fault(test, refuse_take_back);
    char text[4096] = "";
    g_assert_cmpint(pread(told, text, sizeof text - 1, 0), >, 0);
    g_assert_nonnull(strstr(text, name));
    g_assert_true(g_str_has_prefix(g_strrstr(text, " holding="), " holding=-\n")); /* the last beat */
    close(told);
    told = -1;
    g_clear_pointer(&child, g_free);
}

static int refuse_shunt(const FsEvent *event, void *data)
{
    (void)data;
    return event->call == FS_CREATE && strcmp(event->name, "1700000000.000001+0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33"
                                                           ".tmp") == 0 ? ENOSPC : 0;
}

/* A stray that cannot be set aside stays, and the runner goes on: while it lives, and at a start. */
static void test_stray_stays(Test *test, gconstpointer data)
{
    bring_child(test, PARENT);
    for (unsigned i = 0; i < 2; i++) {
        hide_intake(test); /* is looked for after the sweep */
        if (i == 1) /* before a start, which looks for children of this one */
            g_free(fixture_store(&test->fixture, "in", "go"));
        hook = refuse_shunt;
        start(test);
        hook = NULL;
        wait_for(test, "target", ".msg", 1 + 2 * i);
        int status = stop(test, SIGTERM);
        g_assert_true(WIFEXITED(status));
        g_assert_cmpint(WEXITSTATUS(status), ==, CHILD_EXIT_OK);
        g_assert_cmpuint(fixture_count(&test->fixture, "target", ".tmp"), ==, 1);
        g_assert_cmpuint(fixture_count(&test->fixture, "shunt", ""), ==, 0);
        g_clear_pointer(&hidden, g_free);
        g_clear_pointer(&unpublished, g_free);
    }
    start(test);
    wait_for(test, "shunt", ".psv", 1);
    stop(test, SIGTERM);
    g_clear_pointer(&child, g_free);
}

static int refuse_target(const FsEvent *event, void *data)
{
    (void)data;
    g_autofree char *link = g_strdup_printf("/proc/self/fd/%d", event->fd);
    g_autofree char *path = event->call == FS_SYNC_DIR ? g_file_read_link(link, NULL) : NULL;
    return path && g_str_has_suffix(path, "/target") ? EIO : 0;
}

/* Check that nothing is worked on before it is sure that what a dead process took back is on the disk. */
static void test_start_fails(Test *test, gconstpointer data)
{
    g_free(fixture_store(&test->fixture, "in", "go"));
    g_assert_nonnull(spool_queue(test->fixture.spool, "target", NULL));
    for (unsigned i = 0; i < 2; i++) {
        end_by_fault(test, refuse_target);
        g_assert_cmpuint(fixture_count(&test->fixture, "in", ".msg"), ==, 1);
        g_assert_cmpuint(fixture_count(&test->fixture, "target", ""), ==, 0);
    }
    start(test);
    wait_for(test, "target", ".msg", 1);
    stop(test, SIGTERM);
}

static void test_usage(Test *test, gconstpointer data)
{
    char *arguments[] = {(char *)"test", (char *)"--help", NULL};
    g_assert_cmpint(runner_main(&spec, 2, arguments), ==, CHILD_EXIT_USAGE);
}

#define ADD(path, keys, function) g_test_add(path, Test, keys, set_up, function, tear_down)

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    fs_set_hook(let_through, NULL); /* in this process */
    valgrind = g_getenv("LISTRUNNER_VALGRIND") != NULL;
    g_autofree char *clock = g_strdup_printf("%s/listrunner-clock-%d", g_get_tmp_dir(), (int)getpid());
    g_setenv("LISTRUNNER_CLOCK_FILE", clock, TRUE);
    ADD("/runner/moves", NULL, test_moves);
    ADD("/runner/moves, polling", "wakeup = poll\npoll_interval = 20ms", test_moves);
    ADD("/runner/moves, small batches", "batch_limit = 3", test_moves);
    ADD("/runner/later", NULL, test_later);
    ADD("/runner/beats late", "[master]\nheartbeat_interval = 100ms", test_beats_late);
    ADD("/runner/never", NULL, test_never);
    ADD("/runner/cannot be written", NULL, test_cannot_be_written);
    ADD("/runner/poison", NULL, test_poison);
    ADD("/runner/poison, alone", NULL, test_poison_alone);
    ADD("/runner/nobody named/end_batch", NULL, test_crash_in_end_batch);
    ADD("/runner/nobody named/committed", NULL, test_crash_in_committed);
    ADD("/runner/finish", NULL, test_finish);
    ADD("/runner/database down", NULL, test_database_down);
    ADD("/runner/need fails", NULL, test_need_fails);
    ADD("/runner/need away", NULL, test_need_away);
    ADD("/runner/big", NULL, test_big);
    ADD("/runner/slow", NULL, test_slow);
    ADD("/runner/slow, polling", "wakeup = poll\npoll_interval = 20ms", test_slow);
    ADD("/runner/commit fails", NULL, test_commit_fails);
    ADD("/runner/kill", "batch_limit = 64", test_kill);
    ADD("/runner/late intake", NULL, test_late_intake);
    ADD("/runner/take back fails", NULL, test_take_back_fails);
    ADD("/runner/ends in sweep", NULL, test_ends_in_sweep);
    ADD("/runner/stray stays", NULL, test_stray_stays);
    ADD("/runner/start fails", NULL, test_start_fails);
    ADD("/runner/usage", NULL, test_usage);
    return g_test_run();
}
