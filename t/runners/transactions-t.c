/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Test what runners that write to the database promise of their transactions, where each entry has effects there: they
 * are on the disk before the entry is decided, and those of an entry that fails are undone, without those of others in
 * its batch. Two runners are looked at: one made with list_runner.h, and defragment.
 */
#include <sqlite3.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/contract.h"
#include "base/fail.h"
#include "base/fs.h"
#include "runners/posts/list_posts.h"
#include "t/runners/defragment/bench.h"

#define GOOD "Subject: good\r\n\r\n"
#define BAD "Subject: bad\r\n\r\n" /* its process fails when it has written to the store */
#define BAD_PART 7               /* a part with this number fails when it has opened its set */

/* Holds what the process of the runner saw; shared with it. */
typedef struct Seen {
    unsigned handled, decided;
    unsigned too_early; /* decided while a part of the database's log was not on the disk */
    unsigned logged;    /* writes to that log by its batches */
} Seen;

static Seen *seen;
static bool unsynced; /* the database's log was written since it was synced */

static bool is_log(int fd)
{
    char link[40], path[512];
    g_snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[MAX(length, 0)] = '\0';
    return g_str_has_suffix(path, ".db-wal");
}

/* These in place of the library's, for SQLite too. */
ssize_t pwrite(int fd, const void *data, size_t length, off_t offset)
{
    if (is_log(fd)) {
        unsynced = true;
        seen->logged++;
    }
    return syscall(SYS_pwrite64, fd, data, length, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t length, off_t offset)
{
    return pwrite(fd, data, length, offset);
}

int fdatasync(int fd)
{
    unsynced = unsynced && !is_log(fd);
    return (int)syscall(SYS_fdatasync, fd);
}

int fsync(int fd)
{
    unsynced = unsynced && !is_log(fd);
    return (int)syscall(SYS_fsync, fd);
}

/* An entry is decided when it is renamed to .done. */
static int watch(const FsEvent *event, void *data)
{
    (void)data;
    if (event->call == FS_RENAME && g_str_has_suffix(event->to, ".done")) {
        seen->decided++;
        seen->too_early += unsynced;
    }
    return 0;
}

static bool handle(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    seen->handled++;
    ListRunnerPost *own = list_runner_post_new(runner, entry, NULL, outcome, error);
    if (!own)
        return false;
    own->settles = true;
    list_runner_keep(runner, own);
    return true;
}

static bool settle(Runner *runner, ListRunnerPost *own, GError **error)
{
    if (!list_runner_record_effect(runner, own->entry, 1, error))
        return false;
    g_autoptr(GBytes) message = entry_message(own->entry);
    size_t length;
    const char *octets = g_bytes_get_data(message, &length);
    return memmem(octets, length, "bad", 3) == NULL || fail(error, FAIL_LATER, "a later part of its work failed");
}

static bool end_batch(Runner *runner, GError **error)
{
    return list_runner_settle(runner, settle, error);
}

static bool finish(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    g_autoptr(ListRunnerPost) own = list_runner_take(runner, outcome);
    g_assert_true(own->entry == entry);
    outcome_add(outcome, draft_from_entry("pipeline", entry));
    return true;
}

static const RunnerSpec with_lists = {
    .name = "in",
    .start = list_posts_start,
    .begin_batch = list_runner_refresh,
    .handle = handle,
    .end_batch = end_batch,
    .finish = finish,
    .stop = list_posts_stop,
};

static const RunnerSpec *running;

static bool start(Runner *runner, GError **error)
{
    bool sound = running->start(runner, error);
    seen->logged = 0;
    return sound;
}

static int64_t leave(Runner *runner)
{
    (void)runner;
    child_stop();
    return 0;
}

/* A process that works until nothing is ready. */
static void run(const Bench *bench, const RunnerSpec *spec)
{
    char *arguments[] = {(char *)spec->name, NULL};
    RunnerSpec leaving = *spec;
    leaving.start = start;
    leaving.idle = leave;
    running = spec;
    *seen = (Seen){0};
    g_setenv(CHILD_ENV_CONFIG, bench->config, TRUE);
    pid_t pid = fork();
    if (pid == 0) {
        fs_set_hook(watch, NULL);
        _exit(runner_main(&leaving, 1, arguments));
    }
    int status = -1;
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    g_assert_cmpint(status, ==, 0);
}

static void set_up(Bench *bench, gconstpointer data)
{
    (void)data;
    bench_set_up(bench, "");
}

static void tear_down(Bench *bench, gconstpointer data)
{
    (void)data;
    bench_tear_down(bench);
}

/* Stores it in the queue in; the name of its effect. */
static char *put(Bench *bench, const char *message)
{
    Intake intake = {.draft = fixture_draft("in", BENCH_LIST, message)};
    char digits[HASH_DIGITS + 1];
    g_assert_true(intake_store(bench->fixture.spool, &intake, 1, false));
    name_hash_format(draft_name(intake.draft)->hash, digits);
    draft_free(intake.draft);
    return g_strconcat("in:", digits, NULL);
}

static bool is_noted(const Bench *bench, const char *effect)
{
    g_autoptr(Store) store = bench_store(bench);
    int64_t number;
    bool before = false;
    g_assert_true(store_find_effect(store, effect, &before, &number, NULL));
    return before;
}

/* Neither one entry nor many are decided before what their batch wrote to the database is on the disk. */
static void test_along(Bench *bench, gconstpointer data)
{
    for (unsigned count = 1; count <= 10; count += 9) {
        g_autofree char *effect = put(bench, GOOD);
        for (unsigned i = 1; i < count; i++)
            g_free(put(bench, GOOD));
        run(bench, &with_lists);
        g_assert_cmpuint(seen->handled, ==, count);
        g_assert_cmpuint(seen->decided, ==, count);
        g_assert_cmpuint(seen->logged, >, 0);
        g_assert_cmpuint(seen->too_early, ==, 0);
        g_assert_true(is_noted(bench, effect));
    }
}

static void test_along_in_defragment(Bench *bench, gconstpointer data)
{
    for (int i = 1; i <= 3; i++)
        bench_send(bench, "id", i, 3, "text\r\n");
    run(bench, &defragment_spec);
    g_assert_cmpuint(bench_count(bench, "in"), ==, 1); /* the whole */
    g_assert_cmpuint(seen->decided, ==, 1);
    g_assert_cmpuint(seen->logged, >, 0);
    g_assert_cmpuint(seen->too_early, ==, 0);
}

/* Check that all that one entry wrote before it failed is undone, and that the writes of others of its batch stay. */
static void test_undone(Bench *bench, gconstpointer data)
{
    g_autofree char *first = put(bench, GOOD), *bad = put(bench, BAD), *last = put(bench, GOOD);
    run(bench, &with_lists);
    g_assert_cmpuint(seen->handled, ==, 3);
    g_assert_cmpuint(seen->decided, ==, 2);
    g_assert_true(is_noted(bench, first));
    g_assert_false(is_noted(bench, bad));
    g_assert_true(is_noted(bench, last));
    g_assert_cmpuint(fixture_count(&bench->fixture, "in", ".msg"), ==, 1); /* it waits */
}

static void refuse_bad_part(const Bench *bench)
{
    sqlite3 *database;
    g_assert_cmpint(sqlite3_open(bench->database, &database), ==, SQLITE_OK);
    g_autofree char *text = g_strdup_printf("CREATE TRIGGER bad BEFORE INSERT ON fragment_part WHEN NEW.number = %d "
                                            "BEGIN SELECT RAISE(ABORT, 'bad'); END", BAD_PART);
    g_assert_cmpint(sqlite3_exec(database, text, NULL, NULL, NULL), ==, SQLITE_OK);
    sqlite3_close(database);
}

static void test_undone_in_defragment(Bench *bench, gconstpointer data)
{
    refuse_bad_part(bench);
    bench_send(bench, "bad", BAD_PART, 9, "text\r\n");
    bench_send(bench, "good", 1, 9, "text\r\n");
    run(bench, &defragment_spec);
    g_autoptr(FragmentSet) set = bench_set(bench); /* the only one */
    g_assert_cmpstr(set->id, ==, "good");
    g_assert_cmpuint(bench_count(bench, "defragment"), ==, 2);
}

#define TEST(path, function) g_test_add(path, Bench, NULL, set_up, function, tear_down)

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    TEST("/transactions/along", test_along);
    TEST("/transactions/along, defragment", test_along_in_defragment);
    TEST("/transactions/undone", test_undone);
    TEST("/transactions/undone, defragment", test_undone_in_defragment);
    return g_test_run();
}
