/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * A spool that is not as we made it: strange files that are named like
 * entries, files of others, links out of it, other file systems, a read-only one, a
 * clock that was set. Each has an end and a message; the sound entries beside go on, and
 * nothing outside the spool is touched.
 */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utime.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "switchboard/recover.h"
#include "t/switchboard/fixture.h"

#define NOBODY 65534

/* The log while it was caught. */
static char *log_text;

static void catch_log(void (*run)(Fixture *fixture), Fixture *fixture)
{
    auto_fd log = memfd_create("log", MFD_CLOEXEC), loud = dup(STDERR_FILENO);
    dup2(log, STDERR_FILENO);
    run(fixture);
    dup2(loud, STDERR_FILENO);
    off_t length = lseek(log, 0, SEEK_END);
    g_free(log_text);
    log_text = g_malloc0((gsize)length + 1);
    g_assert_cmpint(pread(log, log_text, (size_t)length, 0), ==, length);
}

static void assert_log(const char *text)
{
    if (!strstr(log_text, text))
        g_error("the log does not say \"%s\" but: %s", text, log_text);
}

/* A runner of in, as at its start and when it is idle: everything that is ready moves
 * to archive. */
static void work(Fixture *fixture)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Inbox) inbox = inbox_open(fixture->spool, "in", (Slice){0, 1}, (Wakeup){0}, &error);
    g_assert_no_error(error);
    g_autoptr(GPtrArray) entries = fixture_claim(inbox);
    g_autoptr(Hop) hop = hop_new(fixture->spool);
    for (guint i = 0; i < entries->len; i++) {
        g_autoptr(Outcome) outcome = outcome_new(entries->pdata[i]);
        outcome_add(outcome, draft_from_entry("archive", outcome->parent));
        Outcome *batch = outcome;
        g_assert_true(hop_commit(hop, &batch, 1, &error));
        g_assert_no_error(outcome->error);
    }
    g_assert_true(hop_settle(hop, &error));
    RecoverReport report = {0};
    recover_slice(inbox_queue(inbox), (Slice){0, 1}, true, &report, &error);
    g_assert_no_error(error);
    unsigned swept = 0;
    recover_sweep(inbox_queue(inbox), (Slice){0, 1}, 3600 * CLOCK_SECOND, &swept, &error);
    g_assert_no_error(error);
}

/* Put something in the way of a file. */
typedef void Make(const char *path);

static const char *outside; /* where the links lead */

static void make_directory(const char *path)
{
    g_assert_cmpint(mkdir(path, 0700), ==, 0);
}

static void make_link(const char *path)
{
    g_assert_cmpint(symlink(outside, path), ==, 0);
}

static void make_fifo(const char *path)
{
    g_assert_cmpint(mkfifo(path, 0600), ==, 0);
}

static void make_socket(const char *path)
{
    g_autofree char *near = g_path_get_dirname(path), *here = g_get_current_dir();
    auto_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "s"};
    g_assert_cmpint(chdir(near) | bind(fd, (struct sockaddr *)&address, sizeof address) | rename("s", path), ==, 0);
    g_assert_cmpint(chdir(here), ==, 0);
}

static void make_device(const char *path)
{
    if (mknod(path, S_IFCHR | 0600, makedev(1, 3)) != 0) /* not root: no matter */
        make_fifo(path);
}

static const struct Strange {
    const char *name;
    Make *make;
} strange[] = {{"directory", make_directory}, {"link", make_link}, {"fifo", make_fifo},
               {"socket", make_socket},       {"device", make_device}};

#define HASH "0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33"
#define OTHER_HASH "1234567890123456789012345678901234567890"
#define STEM "1700000000.000001+" HASH
#define PARENT "1700000000.000002+0123456789012345678901234567890123456789"

#define CHILD STEM ".in-0123456789012345678901234567890123456789.tmp" /* of PARENT */

static const struct Case {
    const char *queue, *file;
    const char *after, *directory_after; /* its name at the end, NULL: it is gone; of a directory */
    const char *parent;                  /* what is there, too, in in */
} cases[] = {
    {"in", STEM ".msg", STEM ".psv", STEM ".psv", NULL},
    {"in", STEM ".bak", STEM ".psv", STEM ".psv", NULL},
    {"in", STEM ".done", STEM ".done", STEM ".done", NULL},
    {"in", STEM ".psv", STEM ".psv", STEM ".psv", NULL},
    {"in", STEM ".tmp", NULL, STEM ".tmp", NULL},
    {"out", CHILD, CHILD, CHILD, NULL},
    {"out", CHILD, CHILD, CHILD, PARENT ".bak"},
    {"out", CHILD, CHILD, CHILD, PARENT ".done"},
};

static bool exists(Fixture *fixture, const char *queue, const char *file)
{
    g_autofree char *path = fixture_file_path(fixture, queue, file);
    struct stat status;
    return lstat(path, &status) == 0;
}

/* One strange file in one place, beside a sound entry. */
static void test_strange(Fixture *fixture, gconstpointer data)
{
    g_autofree char *secret = g_strconcat(fixture->path, ".outside", NULL);
    g_assert_true(g_file_set_contents(secret, "untouched", -1, NULL));
    outside = secret;
    for (size_t i = 0; i < G_N_ELEMENTS(strange) * G_N_ELEMENTS(cases); i++) {
        const struct Strange *kind = &strange[i % G_N_ELEMENTS(strange)];
        const struct Case *one = &cases[i / G_N_ELEMENTS(strange)];
        g_test_message("%s %s/%s %s", kind->name, one->queue, one->file, one->parent ? one->parent : "");
        g_assert_nonnull(spool_queue(fixture->spool, "in", NULL));
        g_assert_nonnull(spool_queue(fixture->spool, "out", NULL));
        g_autofree char *path = fixture_file_path(fixture, one->queue, one->file);
        kind->make(path);
        utimensat(AT_FDCWD, path, (struct timespec[2]){{.tv_sec = 1000}, {.tv_sec = 1000}}, AT_SYMLINK_NOFOLLOW);
        if (one->parent) {
            g_autofree char *parent = fixture_file_path(fixture, "in", one->parent);
            g_assert_true(g_file_set_contents(parent, "", -1, NULL));
        }
        g_free(fixture_store(fixture, "in", "sound"));
        catch_log(work, fixture);
        catch_log(work, fixture); /* a second start ends the same */
        g_assert_cmpuint(fixture_count(fixture, "archive", ".msg"), ==, 1);
        bool directory = kind->make == make_directory;
        const char *after = directory ? one->directory_after : one->after;
        if (after)
            g_assert_true(exists(fixture, one->queue, after));
        if (!after || strcmp(after, one->file) != 0)
            g_assert_false(exists(fixture, one->queue, one->file));
        g_autofree char *text = NULL;
        g_assert_true(g_file_get_contents(secret, &text, NULL, NULL));
        g_assert_cmpstr(text, ==, "untouched");
        fixture_tear_down(fixture, NULL);
        fixture_set_up(fixture, NULL);
    }
    unlink(secret);
}

/* A queue that is a link would not be found by recovery, and leads out of the spool. */
static void test_linked_queue(Fixture *fixture, gconstpointer data)
{
    g_autofree char *target = g_strconcat(fixture->path, ".elsewhere", NULL);
    g_autofree char *queue = g_build_filename(fixture->path, "in", NULL);
    g_assert_cmpint(mkdir(target, 0750) | symlink(target, queue), ==, 0);
    g_autoptr(GError) error = NULL;
    g_assert_null(spool_queue(fixture->spool, "in", &error));
    g_assert_error(error, FAIL, FAIL_CONFIG);
    g_autofree char *wanted = g_strdup_printf("queue directory %s is no directory but a symbolic link", queue);
    g_assert_cmpstr(error->message, ==, wanted);
    g_assert_cmpint(rmdir(target), ==, 0); /* empty */
}

/* A spool that a link leads to is one. */
static void test_linked_spool(Fixture *fixture, gconstpointer data)
{
    g_autofree char *link = g_strconcat(fixture->path, ".link", NULL);
    g_assert_cmpint(symlink(fixture->path, link), ==, 0);
    g_autoptr(GError) error = NULL;
    g_autoptr(Spool) spool = spool_open(link, &error);
    g_assert_no_error(error);
    g_assert_nonnull(spool_queue(spool, "in", &error));
    unlink(link);
}

static void test_no_directory(Fixture *fixture, gconstpointer data)
{
    g_autofree char *queue = g_build_filename(fixture->path, "in", NULL);
    g_assert_true(g_file_set_contents(queue, "", -1, NULL));
    g_autoptr(GError) error = NULL;
    g_assert_null(spool_queue(fixture->spool, "in", &error));
    g_assert_error(error, FAIL, FAIL_CONFIG);
    g_autofree char *wanted = g_strdup_printf("queue directory %s is no directory", queue);
    g_assert_cmpstr(error->message, ==, wanted);
}

/* Runs a part in a process of its own that may mount and change its user;
 * skips where that is refused. */
static void apart(Fixture *fixture, void (*run)(Fixture *fixture))
{
    pid_t pid = fork();
    if (pid == 0) {
        if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 ||
            mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) != 0)
            _exit(77);
        run(fixture);
        raise(SIGKILL); /* what the parent has in its registers would count as lost memory */
    }
    int status = 0;
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        g_test_skip("needs root, and mounts of its own");
    else
        g_assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void on_other_file_system(Fixture *fixture)
{
    g_autofree char *queue = g_build_filename(fixture->path, "out", NULL);
    g_assert_cmpint(mkdir(queue, 0750) | mount("none", queue, "tmpfs", 0, NULL), ==, 0);
    fixture_reopen(fixture); /* its descriptors see the mounts of before */
    g_autoptr(GError) error = NULL;
    g_assert_null(spool_queue(fixture->spool, "out", &error));
    g_assert_error(error, FAIL, FAIL_CONFIG);
    g_autofree char *wanted = g_strdup_printf("queue directory %s is on another file system than the spool", queue);
    g_assert_cmpstr(error->message, ==, wanted);
    /* Recovery that would have to look there does not go on without it. */
    g_assert_null(inbox_open(fixture->spool, "in", (Slice){0, 1}, (Wakeup){0}, NULL));
    g_assert_cmpuint(fixture_count(fixture, "in", ".msg"), ==, 1);
}

static void test_other_file_system(Fixture *fixture, gconstpointer data)
{
    g_free(fixture_store(fixture, "in", "m"));
    apart(fixture, on_other_file_system);
    work(fixture);
    g_assert_cmpuint(fixture_count(fixture, "archive", ".msg"), ==, 1);
}

static void on_read_only(Fixture *fixture)
{
    g_assert_cmpint(mount(fixture->path, fixture->path, "none", MS_BIND, NULL), ==, 0);
    g_assert_cmpint(mount("none", fixture->path, "none", MS_BIND | MS_REMOUNT | MS_RDONLY, NULL), ==, 0);
    fixture_reopen(fixture);
    g_autoptr(GError) error = NULL;
    Intake intake = {.draft = fixture_draft("in", "t", "other")};
    g_assert_false(intake_store(fixture->spool, &intake, 1, false));
    g_assert_error(intake.error, FAIL, FAIL_LATER);
    g_assert_nonnull(strstr(intake.error->message, "queue in: create "));
    g_assert_nonnull(strstr(intake.error->message, "Read-only file system"));
    g_clear_error(&intake.error);
    draft_free(intake.draft);
    g_autoptr(Inbox) inbox = inbox_open(fixture->spool, "in", (Slice){0, 1}, (Wakeup){0}, &error);
    g_assert_no_error(error);
    g_autoptr(GPtrArray) entries = g_ptr_array_new();
    g_assert_true(inbox_claim(inbox, 10, false, entries, &error)); /* the log tells */
    g_assert_cmpuint(entries->len, ==, 0);
    g_assert_cmpint(inbox_wait(inbox, clock_now()), >, 0);
    g_assert_null(spool_queue(fixture->spool, "archive", &error));
    g_assert_error(error, FAIL, FAIL_LATER);
}

static void test_read_only(Fixture *fixture, gconstpointer data)
{
    g_free(fixture_store(fixture, "in", "m"));
    apart(fixture, on_read_only);
    work(fixture);
    g_assert_cmpuint(fixture_count(fixture, "archive", ".msg"), ==, 1);
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 0);
}

static void as_nobody(Fixture *fixture)
{
    g_assert_cmpint(setgid(NOBODY) | setuid(NOBODY), ==, 0);
    catch_log(work, fixture);
    assert_log("Permission denied; it is tried again in 60 s");
    assert_log(HASH);
    assert_log(OTHER_HASH);
}

static void give_to_nobody(Fixture *fixture, const char *queue)
{
    g_autofree char *path = queue ? g_build_filename(fixture->path, queue, NULL) : g_strdup(fixture->path);
    if (chown(path, NOBODY, NOBODY) != 0 || chmod(path, 0750) != 0)
        g_test_message("%s: %s", path, g_strerror(errno));
}

/* Entries that belong to others, or that nobody may read, wait; the rest goes on. */
static void test_owner_and_mode(Fixture *fixture, gconstpointer data)
{
    g_autofree char *name = fixture_store(fixture, "in", "ours");
    g_autofree char *file = g_strconcat(name, ".msg", NULL);
    g_autofree char *ours = fixture_file_path(fixture, "in", file);
    g_autofree char *theirs = fixture_file_path(fixture, "in", STEM ".msg");
    g_autofree char *closed = fixture_file_path(fixture, "in", "1700000000.000001+" OTHER_HASH ".msg");
    g_assert_nonnull(spool_queue(fixture->spool, "archive", NULL));
    g_assert_true(g_file_set_contents(theirs, "theirs", -1, NULL) && g_file_set_contents(closed, "closed", -1, NULL));
    g_assert_cmpint(chmod(theirs, 0644) | chmod(closed, 0), ==, 0);
    give_to_nobody(fixture, NULL);
    give_to_nobody(fixture, "in");
    give_to_nobody(fixture, "archive");
    if (chown(ours, NOBODY, NOBODY) != 0 || chown(closed, NOBODY, NOBODY) != 0)
        g_test_message("not root");
    apart(fixture, as_nobody);
    if (geteuid() != 0)
        return;
    g_assert_cmpuint(fixture_count(fixture, "archive", ".msg"), ==, 1);
    g_assert_cmpuint(fixture_count(fixture, "in", ".msg"), ==, 2);
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 2);
}

static void recover_as_nobody(Fixture *fixture)
{
    g_assert_cmpint(setgid(NOBODY) | setuid(NOBODY), ==, 0);
    catch_log(work, fixture);
    assert_log(HASH ".bak may not be read; it is set aside as .psv");
    assert_log(OTHER_HASH ".tmp may not be read; it is set aside as .psv");
}

/* Nor do those that recovery must look into: whether one was decided, or was taken in, cannot be
 * known, so a person gets it. */
static void test_owner_in_recovery(Fixture *fixture, gconstpointer data)
{
    static const char *const files[] = {STEM ".bak", "1700000000.000002+" OTHER_HASH ".tmp"};
    g_assert_nonnull(spool_queue(fixture->spool, "archive", NULL));
    g_autofree char *name = fixture_store(fixture, "in", "ours");
    g_autofree char *file = g_strconcat(name, ".msg", NULL);
    g_autofree char *ours = fixture_file_path(fixture, "in", file);
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *path = fixture_file_path(fixture, "in", files[i]);
        g_assert_true(g_file_set_contents(path, "theirs", -1, NULL));
        g_assert_cmpint(chmod(path, 0600), ==, 0);
    }
    give_to_nobody(fixture, NULL);
    give_to_nobody(fixture, "in");
    give_to_nobody(fixture, "archive");
    if (chown(ours, NOBODY, NOBODY) != 0)
        g_test_message("not root");
    apart(fixture, recover_as_nobody);
    if (geteuid() != 0)
        return;
    g_assert_cmpuint(fixture_count(fixture, "archive", ".msg"), ==, 1);
    g_assert_cmpuint(fixture_count(fixture, "in", ".psv"), ==, 2);
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 2);
}

static bool chattr(const char *flag, const char *path)
{
    g_autofree char *command = g_strdup_printf("chattr %s '%s' 2>/dev/null", flag, path);
    return system(command) == 0;
}

/* A rename that is refused for one file only does not stop the others. */
static void test_immovable(Fixture *fixture, gconstpointer data)
{
    g_autofree char *name = fixture_store(fixture, "in", "sticks");
    g_free(fixture_store(fixture, "in", "moves"));
    g_autofree char *file = g_strconcat(name, ".msg", NULL);
    g_autofree char *path = fixture_file_path(fixture, "in", file);
    if (geteuid() != 0 || !chattr("+i", path)) {
        g_test_skip("needs root and a file system that has chattr");
        return;
    }
    catch_log(work, fixture);
    g_assert_true(chattr("-i", path));
    assert_log(name);
    assert_log("Operation not permitted");
    g_assert_cmpuint(fixture_count(fixture, "archive", ".msg"), ==, 1);
    g_assert_true(exists(fixture, "in", file));
}

/* Nor does one that recovery cannot open for writing, or rename, or unlink: it stays as it is, and its child with it.
 * Once it lets itself be changed it goes on as if nothing had been. */
static void stick(Fixture *fixture, const char *suffix, const char *flag, const char *back)
{
    g_autofree char *name = fixture_store(fixture, "in", "sticks");
    g_autofree char *ready = g_strconcat(name, ".msg", NULL), *file = g_strconcat(name, suffix, NULL);
    g_autofree char *child = g_strconcat(STEM ".in-", name + NAME_LENGTH - HASH_DIGITS, ".tmp", NULL);
    g_autofree char *from = fixture_file_path(fixture, "in", ready), *path = fixture_file_path(fixture, "in", file);
    g_autofree char *child_path = fixture_file_path(fixture, "out", child);
    bool decided = strcmp(suffix, ".done") == 0;
    g_assert_nonnull(spool_queue(fixture->spool, "out", NULL));
    g_assert_true(strcmp(suffix, ".bak") != 0 || g_file_set_contents(child_path, "child", -1, NULL));
    g_assert_cmpint(rename(from, path), ==, 0);
    g_free(fixture_store(fixture, "in", "moves"));
    if (geteuid() != 0 || !chattr(flag, path)) {
        g_test_skip("needs root and a file system that has chattr");
        return;
    }
    catch_log(work, fixture);
    g_assert_true(chattr(back, path));
    assert_log(file);
    assert_log("it stays there");
    g_assert_true(exists(fixture, "in", file));
    g_assert_true(strcmp(suffix, ".bak") != 0 || exists(fixture, "out", child));
    g_assert_cmpuint(fixture_count(fixture, "archive", ".msg"), ==, 1);
    work(fixture);
    g_assert_cmpuint(fixture_count(fixture, "in", "") + fixture_count(fixture, "out", ""), ==, 0);
    g_assert_cmpuint(fixture_count(fixture, "archive", ".msg"), ==, decided ? 1 : 2);
}

static void test_immovable_in_recovery(Fixture *fixture, gconstpointer data)
{
    static const char *const suffixes[] = {".bak", ".tmp", ".done"};
    for (size_t i = 0; i < 2 * G_N_ELEMENTS(suffixes); i++) {
        stick(fixture, suffixes[i / 2], i % 2 ? "+a" : "+i", i % 2 ? "-a" : "-i");
        fixture_tear_down(fixture, NULL);
        fixture_set_up(fixture, NULL);
    }
}

/* A name that is taken where an entry is set aside: both are kept. */
static void test_collisions(Fixture *fixture, gconstpointer data)
{
    static const char *const queues[] = {"in", "corrupt"};
    static const char *const suffixes[] = {".psv", ".msg"};
    for (int damaged = 0; damaged < 2; damaged++) {
        g_autofree char *name = fixture_store(fixture, "in", "m");
        g_autofree char *file = g_strconcat(name, damaged ? ".msg" : ".bak", NULL);
        g_autofree char *ready = g_strconcat(name, ".msg", NULL);
        g_autofree char *from = fixture_file_path(fixture, "in", ready), *to = fixture_file_path(fixture, "in", file);
        g_assert_cmpint(rename(from, to), ==, 0);
        auto_fd fd = open(to, O_RDWR | O_CLOEXEC);
        g_assert_cmpint(pwrite(fd, damaged ? "#" : "3", 1, damaged ? 0 : 50), ==, 1); /* 50: its crash count */
        g_autofree char *taken = g_strconcat(name, suffixes[damaged], NULL);
        g_assert_nonnull(spool_queue(fixture->spool, queues[damaged], NULL));
        g_autofree char *other = fixture_file_path(fixture, queues[damaged], taken);
        g_assert_true(g_file_set_contents(other, "was here", -1, NULL));
        catch_log(work, fixture);
        g_assert_cmpuint(fixture_count(fixture, queues[damaged], ""), ==, 2);
        g_autofree char *text = NULL;
        g_assert_true(g_file_get_contents(other, &text, NULL, NULL));
        g_assert_cmpstr(text, ==, "was here");
        fixture_tear_down(fixture, NULL);
        fixture_set_up(fixture, NULL);
    }
}

/* Two files of one name in two states, as a careless copy leaves them. */
static void test_doubled(Fixture *fixture, gconstpointer data)
{
    g_autofree char *name = fixture_store(fixture, "in", "m");
    g_autofree char *ready = g_strconcat(name, ".msg", NULL), *claimed = g_strconcat(name, ".bak", NULL);
    g_autofree char *from = fixture_file_path(fixture, "in", ready), *to = fixture_file_path(fixture, "in", claimed);
    g_autofree char *octets = NULL;
    gsize length;
    g_assert_true(g_file_get_contents(from, &octets, &length, NULL));
    g_assert_true(g_file_set_contents(to, octets, (gssize)length, NULL));
    catch_log(work, fixture);
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 0);
    g_assert_cmpuint(fixture_count(fixture, "archive", ".msg"), ==, 2);
}

/* ---- the clock ---- */

static void set_clock(const char *seconds)
{
    g_assert_true(g_file_set_contents(g_getenv("LISTRUNNER_CLOCK_FILE"), seconds, -1, NULL));
}

/* The clock is set forward, and the sweep comes, while the intake writes. */
static int sweep_before_write(const FsEvent *event, void *data)
{
    Fixture *fixture = data;
    if (event->call != FS_WRITE)
        return 0;
    fs_set_hook(NULL, NULL);
    set_clock("172800");
    unsigned swept = 0;
    Queue *in = spool_queue(fixture->spool, "in", NULL);
    g_assert_true(recover_sweep(in, (Slice){0, 1}, 36 * 3600 * CLOCK_SECOND, &swept, NULL));
    g_assert_cmpuint(swept, ==, 1);
    return 0;
}

static void clock_steps_at_write(Fixture *fixture)
{
    set_clock("0");
    Intake intake = {.draft = fixture_draft("in", "t", "swept")};
    fs_set_hook(sweep_before_write, fixture);
    g_assert_false(intake_store(fixture->spool, &intake, 1, false));
    fs_set_hook(NULL, NULL);
    g_assert_error(intake.error, FAIL, FAIL_LATER);
    g_clear_error(&intake.error);
    draft_free(intake.draft);
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 0);
}

/* Back one hour: nothing waits for it. Forward one day: intake that lives is not swept. */
static void clock_steps(Fixture *fixture)
{
    g_free(fixture_store(fixture, "in", "before"));
    set_clock("-3600");
    g_free(fixture_store(fixture, "in", "after"));
    work(fixture);
    g_assert_cmpuint(fixture_count(fixture, "archive", ".msg"), ==, 2);
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    g_autoptr(Inbox) next = fixture_inbox(fixture, "archive"); /* their children neither */
    g_assert_cmpint(inbox_wait(next, clock_now()), ==, 0);
    set_clock("86400");
    g_autofree char *living = fixture_file_path(fixture, "in", STEM ".tmp");
    g_assert_true(g_file_set_contents(living, "half", -1, NULL));
    unsigned swept = 0;
    g_assert_true(recover_sweep(inbox_queue(inbox), (Slice){0, 1}, 36 * 3600 * CLOCK_SECOND, &swept, NULL));
    g_assert_cmpuint(swept, ==, 0);
    unlink(living);
    work(fixture);
    g_assert_cmpuint(fixture_count(fixture, "archive", ".msg"), ==, 2);
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 0);
}

static void test_clock(Fixture *fixture, gconstpointer data)
{
    if (g_test_subprocess()) {
        clock_steps(fixture);
        clock_steps_at_write(fixture);
        return;
    }
    g_autofree char *file = g_build_filename(fixture->path, "offset", NULL);
    g_assert_true(g_file_set_contents(file, "0", -1, NULL));
    g_setenv("LISTRUNNER_CLOCK_FILE", file, TRUE);
    g_test_trap_subprocess(NULL, 0, 0);
    g_unsetenv("LISTRUNNER_CLOCK_FILE");
    g_test_trap_assert_passed();
}

#define ADD(path, function) g_test_add(path, Fixture, NULL, fixture_set_up, function, fixture_tear_down)

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("/surroundings/strange files", test_strange);
    ADD("/surroundings/linked queue", test_linked_queue);
    ADD("/surroundings/linked spool", test_linked_spool);
    ADD("/surroundings/no directory", test_no_directory);
    ADD("/surroundings/other file system", test_other_file_system);
    ADD("/surroundings/read-only", test_read_only);
    ADD("/surroundings/owner and mode", test_owner_and_mode);
    ADD("/surroundings/owner in recovery", test_owner_in_recovery);
    ADD("/surroundings/immovable", test_immovable);
    ADD("/surroundings/immovable in recovery", test_immovable_in_recovery);
    ADD("/surroundings/collisions", test_collisions);
    ADD("/surroundings/doubled", test_doubled);
    ADD("/surroundings/clock", test_clock);
    int failed = g_test_run();
    g_free(log_text);
    return failed;
}
