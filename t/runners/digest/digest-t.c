/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The digest runner, as a process of its own, with two lists that have a reader of MIME digests and one of plain ones
 * each: whatever fails or kills it, each post is in exactly one issue of its list, whole, in both forms.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/contract.h"
#include "base/fail.h"
#include "base/fs.h"
#include "lists/keys.h"
#include "runners/runner.h"
#include "store/lists/domain.h"
#include "store/lists/list.h"
#include "store/people/member.h"
#include "store/posts/digest.h"
#include "store/store.h"
#include "switchboard/fault.h"
#include "t/mailbox.h"
#include "t/switchboard/fixture.h"

#define POSTS 3
#define LARGE (200 * 1024)
#define VERY_LARGE (3500 * 1024) /* POSTS of them are more than the database's memory holds */

int digest_main(int argc, char **argv);
int digest_take_spec(const RunnerSpec *given, int argc, char **argv);

typedef struct Bench {
    Fixture fixture;
    char *config, *database;
    unsigned hours; /* that the clock is ahead */
    size_t filler;  /* bytes of each post that say nothing */
} Bench;

static const char *const names[] = {"one", "two"};
static char *clock_path; /* base/clock.h reads it */

/* ---- what fails in the child ---- */

typedef struct Plan {
    unsigned kill_at;   /* the call on the spool before which it is killed, from 1 */
    unsigned create_at; /* the file made in the spool that finds no room */
    unsigned read_at;   /* the first reading of the database, while an issue is written, that fails */
    bool once;          /* it alone fails */
    rlim_t room;        /* bytes that the file of an issue may have; 0: any number */
} Plan;

static const RunnerSpec *spec;
static Plan plan;
static unsigned calls, creations, readings;
static FILE *issue; /* that is being written */

#define NEXT(name) ((__typeof__(&name))(guintptr)dlsym(RTLD_NEXT, #name))

/* These in place of the library's, for SQLite too. The file of an issue is the only one that the runner makes a stream
 * of. */
FILE *fdopen(int fd, const char *mode)
{
    if (plan.room > 0)
        g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &(struct rlimit){plan.room, RLIM_INFINITY}), ==, 0);
    return issue = NEXT(fdopen)(fd, mode);
}

int fclose(FILE *stream)
{
    int result = NEXT(fclose)(stream);
    if (plan.room > 0 && stream == issue)
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY});
    if (stream == issue)
        issue = NULL;
    return result;
}

ssize_t pread64(int fd, void *data, size_t length, off64_t offset)
{
    if (issue && plan.read_at > 0 && ++readings >= plan.read_at && (!plan.once || readings == plan.read_at)) {
        errno = EIO;
        return -1;
    }
    return NEXT(pread64)(fd, data, length, offset);
}

static int on_call(const FsEvent *event, void *data)
{
    (void)data;
    if (++calls == plan.kill_at)
        kill(getpid(), SIGKILL);
    return event->call == FS_CREATE && ++creations == plan.create_at ? ENOSPC : 0;
}

static int let_pass(const FsEvent *event, void *data)
{
    (void)event;
    (void)data;
    return 0;
}

int digest_take_spec(const RunnerSpec *given, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    spec = given;
    return 0;
}

static int64_t leave(Runner *runner)
{
    spec->idle(runner);
    child_stop();
    return 0;
}

/* A process that works until nothing is ready, an hour later than the one before it. False: it was killed. */
static bool run(Bench *bench, Plan wanted)
{
    char *arguments[] = {(char *)"digest", NULL};
    g_autofree char *seconds = g_strdup_printf("%u", 3600 * ++bench->hours);
    g_assert_true(g_file_set_contents(clock_path, seconds, -1, NULL));
    g_setenv(CHILD_ENV_CONFIG, bench->config, TRUE);
    pid_t pid = fork();
    if (pid == 0) {
        RunnerSpec leaving = *spec;
        leaving.idle = leave;
        plan = wanted;
        signal(SIGXFSZ, SIG_IGN);
        fs_set_hook(on_call, NULL);
        _exit(runner_main(&leaving, 1, arguments));
    }
    int status = -1;
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    if (wanted.kill_at > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return false;
    g_assert_cmpint(status, ==, 0);
    return true;
}

/* ---- what it finds ---- */

static Store *open_store(const Bench *bench)
{
    g_autoptr(GError) error = NULL;
    Store *store = store_open("sqlite", bench->database, false, &error);
    g_assert_no_error(error);
    return store;
}

static void change(const Bench *bench, const char *sql)
{
    sqlite3 *database;
    g_assert_cmpint(sqlite3_open(bench->database, &database), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(database, sql, NULL, NULL, NULL), ==, SQLITE_OK);
    sqlite3_close(database);
}

static void make_list(Store *store, const char *name)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *address = g_strdup_printf("%s@example.com", name), *id = g_strdup_printf("%s.example.com", name);
    g_autoptr(List) list = list_create(store, address, &error);
    g_assert_no_error(error);
    g_assert_true(list_set(store, id, "digest_size_threshold", "0", &error));
    for (int i = 0; i < 2; i++) {
        Preferences own = preferences_unset;
        own.delivery_mode = i == 0 ? MODE_MIME_DIGESTS : MODE_PLAINTEXT_DIGESTS;
        g_assert_true(member_add(store, id, ROLE_MEMBER, mailbox_of(i == 0 ? "m@example.org" : "p@example.org"), NULL,
                                 &own, &error));
    }
}

static void set_up(Bench *bench, gconstpointer data)
{
    (void)data;
    g_autoptr(GError) error = NULL;
    fs_set_hook(let_pass, NULL); /* syncs are made in this thread: who forks must have no other */
    *bench = (Bench){0};
    fixture_set_up(&bench->fixture, NULL);
    bench->config = g_strdup_printf("%s.conf", bench->fixture.path);
    bench->database = g_strdup_printf("%s.db", bench->fixture.path);
    const char *top = g_getenv("top_srcdir");
    g_autofree char *relative = g_build_filename(top ? top : ".", "etc", "templates", NULL);
    g_autofree char *templates = g_canonicalize_filename(relative, NULL);
    g_autofree char *text = g_strdup_printf("[site]\nhostname = lists.example.com\nsite_owner = root@example.com\n"
                                            "template_directory = %s\n[spool]\ndirectory = %s\n[store]\npath = %s\n"
                                            "[digest]\nmax_size = 100M\n",
                                            templates, bench->fixture.path, bench->database);
    g_assert_true(g_file_set_contents(bench->config, text, -1, NULL));
    g_autoptr(Store) store = store_open("sqlite", bench->database, true, &error);
    g_assert_no_error(error);
    g_assert_true(domain_create(store, "example.com", NULL, &error));
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        make_list(store, names[i]);
}

static void tear_down(Bench *bench, gconstpointer data)
{
    (void)data;
    g_free(bench->config);
    g_free(bench->database);
    fixture_tear_down(&bench->fixture, NULL);
}

static void put(Bench *bench, const char *name, const char *text, bool asks)
{
    json_t *meta = json_object();
    g_autofree char *id = g_strdup_printf("%s.example.com", name);
    meta_set_string(meta, META_LIST, id);
    if (asks)
        meta_set_bool(meta, KEY_DIGEST_ASK, true);
    g_autoptr(GBytes) octets = g_bytes_new(text, strlen(text));
    Draft *draft = draft_new("digest", meta);
    draft_add_message(draft, octets);
    fixture_put(&bench->fixture, draft);
}

static void post(Bench *bench, const char *name, int from, int count)
{
    g_autofree char *filler = g_malloc(bench->filler + 1);
    for (size_t i = 0; i < bench->filler; i++)
        filler[i] = i % 64 == 63 ? '\n' : 'x';
    filler[bench->filler] = '\0';
    for (int i = from; i < from + count; i++) {
        g_autofree char *text = g_strdup_printf("From: a@example.org\r\nSubject: %s %d\r\nMessage-ID: <%s-%d@x>\r\n\r\n"
                                                "%s[%s %d]\r\n",
                                                name, i, name, i, filler, name, i);
        put(bench, name, text, false);
    }
}

/* The posts of both lists, and what asks for their issues. */
static void post_all(Bench *bench)
{
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        post(bench, names[i], 0, POSTS);
    g_assert_true(run(bench, (Plan){0}));
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        put(bench, names[i], "", true);
}

static unsigned count_text(const char *text, size_t length, const char *wanted)
{
    unsigned count = 0;
    const char *end = text + length;
    for (const char *at = text; (at = memmem(at, (size_t)(end - at), wanted, strlen(wanted))); at++)
        count++;
    return count;
}

/* How often that post is in the issues that were made. */
static unsigned count_post(Bench *bench, const char *name, int number)
{
    g_autofree char *wanted = g_strdup_printf("[%s %d]", name, number);
    g_autofree char *files = fixture_files(&bench->fixture, "pipeline", ".msg");
    g_auto(GStrv) all = g_strsplit(files, ",", -1);
    unsigned count = 0;
    for (char **file = all; *file && **file; file++) {
        g_autoptr(Entry) entry = entry_open(spool_queue(bench->fixture.spool, "pipeline", NULL), *file, NULL);
        g_assert_nonnull(entry);
        g_autoptr(GBytes) octets = entry_message(entry);
        size_t length;
        const char *text = g_bytes_get_data(octets, &length);
        count += count_text(text, length, wanted);
    }
    return count;
}

static void assert_posts(Bench *bench, const char *name, int from, int count, unsigned times)
{
    for (int i = from; i < from + count; i++)
        g_assert_cmpuint(count_post(bench, name, i), ==, times);
}

static guint open_issues(const Bench *bench)
{
    g_autoptr(Store) store = open_store(bench);
    g_autoptr(GPtrArray) all = digest_issue_all(store, "lists.example.com", NULL);
    g_assert_nonnull(all);
    return all->len;
}

/* Each post once in each form, two issues in two forms, and nothing left to do. */
static void assert_made(Bench *bench)
{
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        assert_posts(bench, names[i], 0, POSTS, 2);
    g_assert_cmpuint(fixture_count(&bench->fixture, "pipeline", ""), ==, 4);
    g_assert_cmpuint(fixture_count(&bench->fixture, "digest", ""), ==, 0);
    g_assert_cmpuint(fixture_count(&bench->fixture, "shunt", ""), ==, 0);
    g_assert_cmpuint(open_issues(bench), ==, 0);
}

static void empty(Bench *bench, const char *queue)
{
    g_autofree char *files = fixture_files(&bench->fixture, queue, "");
    g_auto(GStrv) all = g_strsplit(files, ",", -1);
    for (char **file = all; *file && **file; file++) {
        g_autofree char *path = fixture_file_path(&bench->fixture, queue, *file);
        g_assert_cmpint(unlink(path), ==, 0);
    }
}

/* ---- tests ---- */

static void test_sound(Bench *bench, gconstpointer data)
{
    post_all(bench);
    g_assert_true(run(bench, (Plan){0}));
    assert_made(bench);
}

/* The database refuses to commit what concerns one list: its posts wait in the queue, and the other's go on. */
static void test_commit_fails(Bench *bench, gconstpointer data)
{
    change(bench, "CREATE TABLE nowhere (id INTEGER REFERENCES list (key) DEFERRABLE INITIALLY DEFERRED);"
                  "CREATE TRIGGER bad AFTER INSERT ON digest_post WHEN NEW.list = (SELECT key FROM list WHERE "
                  "list_id = 'one.example.com') BEGIN INSERT INTO nowhere VALUES (-1); END");
    post(bench, "one", 0, POSTS);
    post(bench, "two", 0, POSTS);
    g_assert_true(run(bench, (Plan){0}));
    g_assert_cmpuint(fixture_count(&bench->fixture, "digest", ".msg"), ==, POSTS);
    change(bench, "DROP TRIGGER bad; DROP TABLE nowhere");
    g_assert_true(run(bench, (Plan){0}));
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        put(bench, names[i], "", true);
    g_assert_true(run(bench, (Plan){0}));
    assert_made(bench);
}

/* No room for one of the four children: its issue is made at the next try, which finds its posts. */
static void test_no_room(Bench *bench, gconstpointer data)
{
    for (unsigned at = 1; at <= 4; at++) {
        post_all(bench);
        g_assert_true(run(bench, (Plan){.create_at = at}));
        g_assert_cmpuint(fixture_count(&bench->fixture, "digest", ".msg"), ==, 1);
        g_assert_cmpuint(open_issues(bench), ==, 1);
        g_assert_true(run(bench, (Plan){0}));
        assert_made(bench);
        empty(bench, "pipeline");
    }
}

static void test_killed(Bench *bench, gconstpointer data)
{
    bool whole = false;
    unsigned at = 1;
    for (; !whole; at++) {
        post_all(bench);
        whole = run(bench, (Plan){.kill_at = at});
        g_assert_true(run(bench, (Plan){0}));
        g_assert_true(run(bench, (Plan){0})); /* which settles what is still open */
        assert_made(bench);
        empty(bench, "pipeline");
    }
    g_assert_cmpuint(at, >, 10);
}

static void move(Bench *bench, const char *from, const char *to, const char *file)
{
    g_assert_nonnull(spool_queue(bench->fixture.spool, to, NULL));
    g_autofree char *old = fixture_file_path(&bench->fixture, from, file);
    g_autofree char *new = fixture_file_path(&bench->fixture, to, file);
    g_assert_cmpint(g_rename(old, new), ==, 0);
}

/* Check that an entry that is to make the issue waits where a person put it: its posts stay, also for a process that
 * starts meanwhile. */
static void test_set_aside(Bench *bench, gconstpointer data)
{
    post_all(bench);
    g_assert_true(run(bench, (Plan){.create_at = 1}));
    g_autofree char *file = fixture_files(&bench->fixture, "digest", ".msg");
    move(bench, "digest", "hold", file);
    g_assert_true(run(bench, (Plan){0}));
    g_assert_cmpuint(open_issues(bench), ==, 1);
    /* In shunt it has another name, and tells of this one. */
    g_autoptr(Entry) entry = entry_open(spool_queue(bench->fixture.spool, "hold", NULL), file, NULL);
    Intake shunted = {.draft = draft_from_entry("shunt", entry)};
    fault_set(shunted.draft, entry, "digest", "a test");
    g_assert_true(intake_store(bench->fixture.spool, &shunted, 1, false));
    draft_free(shunted.draft);
    g_autofree char *held = fixture_file_path(&bench->fixture, "hold", file);
    g_autofree char *away = g_strconcat(bench->fixture.path, "/Away", NULL);
    g_assert_cmpint(g_rename(held, away), ==, 0);
    g_assert_true(run(bench, (Plan){0}));
    g_assert_cmpuint(open_issues(bench), ==, 1);
    empty(bench, "shunt");
    g_assert_cmpint(g_rename(away, held), ==, 0);
    move(bench, "hold", "digest", file);
    g_assert_true(run(bench, (Plan){0}));
    assert_made(bench);
}

/* It was damaged: its posts are in the next issue. */
static void test_damaged(Bench *bench, gconstpointer data)
{
    post_all(bench);
    g_assert_true(run(bench, (Plan){.create_at = 1}));
    g_autofree char *file = fixture_files(&bench->fixture, "digest", ".msg");
    g_autofree char *path = fixture_file_path(&bench->fixture, "digest", file);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    g_assert_cmpint(pwrite(fd, "{?", 2, 120), ==, 2);
    close(fd);
    g_assert_true(run(bench, (Plan){0}));
    g_assert_cmpuint(fixture_count(&bench->fixture, "corrupt", ""), ==, 1);
    g_assert_true(run(bench, (Plan){0}));
    g_assert_cmpuint(open_issues(bench), ==, 0);
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        put(bench, names[i], "", true); /* of one list nothing waits any more */
    g_assert_true(run(bench, (Plan){0}));
    assert_made(bench);
}

/* No issue goes out that is not whole: while the fault lasts, at least so many issues wait. */
static void assert_not_broken(Bench *bench, Plan faulty, unsigned fail)
{
    post_all(bench);
    g_assert_true(run(bench, faulty));
    g_assert_cmpuint(fixture_count(&bench->fixture, "digest", ".msg"), >=, fail);
    g_assert_true(run(bench, (Plan){0}));
    assert_made(bench);
    empty(bench, "pipeline");
}

/* The database cannot be read any more while an issue is written: from the first reading on, and from some in each
 * turn over the posts. */
static void test_unreadable(Bench *bench, gconstpointer data)
{
    bench->filler = VERY_LARGE;
    for (unsigned at = 1; at < 8000; at += 1700)
        assert_not_broken(bench, (Plan){.read_at = at}, 1);
}

/* One reading fails in the turn that writes the posts of the first issue, and all that follow succeed. */
static void test_unreadable_once(Bench *bench, gconstpointer data)
{
    bench->filler = VERY_LARGE;
    assert_not_broken(bench, (Plan){.read_at = 4000, .once = true}, 1);
}

/* There is room for a part of its file only. */
static void test_unwritable(Bench *bench, gconstpointer data)
{
    bench->filler = LARGE;
    for (rlim_t room = 1; room < POSTS * LARGE; room += LARGE / 2)
        assert_not_broken(bench, (Plan){.room = room}, 2);
    /* And but for the last bytes, which are written at the very end. */
    assert_not_broken(bench, (Plan){.room = POSTS * LARGE + 1000}, 2);
}

#define ADD(path, function, data) g_test_add("/digest/" path, Bench, data, set_up, function, tear_down)

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    if (!g_getenv("TMPDIR") && access("/dev/shm", W_OK | X_OK) == 0)
        g_setenv("TMPDIR", "/dev/shm", TRUE);
    g_setenv(CHILD_ENV_RUNNER, "digest", TRUE);
    g_setenv(CHILD_ENV_INSTANCE, "0", TRUE);
    g_setenv(CHILD_ENV_INSTANCES, "1", TRUE);
    clock_path = g_strdup_printf("%s/digest-clock-%d", g_get_tmp_dir(), (int)getpid());
    g_setenv("LISTRUNNER_CLOCK_FILE", clock_path, TRUE);
    digest_main(0, NULL);
    ADD("sound", test_sound, NULL);
    ADD("commit fails", test_commit_fails, NULL);
    ADD("no room", test_no_room, NULL);
    ADD("killed", test_killed, NULL);
    ADD("set aside", test_set_aside, NULL);
    ADD("damaged", test_damaged, NULL);
    ADD("posts cannot be read", test_unreadable, NULL);
    ADD("one reading of posts fails", test_unreadable_once, NULL);
    ADD("an issue cannot be written", test_unwritable, NULL);
    int result = g_test_run();
    unlink(clock_path);
    g_free(clock_path);
    return result;
}
