/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"
#include "t/base/threadless.h"
#include "t/suite.h"

#define PIECE(text) {(char *)(text), strlen(text)} /* an iovec */

/* A directory of its own for each test. */
typedef struct Place {
    char *path;
    int fd;
} Place;

static void set_up(Place *place, gconstpointer unused)
{
    place->path = g_dir_make_tmp("fs-XXXXXX", NULL);
    place->fd = open(place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    g_assert_cmpint(place->fd, >=, 0);
}

static void tear_down(Place *place, gconstpointer unused)
{
    fs_set_hook(NULL, NULL);
    fs_use_syncfs(false);
    g_autofree char *command = g_strdup_printf("rm -rf '%s'", place->path);
    g_assert_cmpint(system(command), ==, 0);
    close(place->fd);
    g_free(place->path);
}

static char *content(const Place *place, const char *name)
{
    g_autofree char *path = g_build_filename(place->path, name, NULL);
    char *text = NULL;
    g_file_get_contents(path, &text, NULL, NULL);
    return text;
}

static void put(const Place *place, const char *name, const char *text)
{
    g_autofree char *path = g_build_filename(place->path, name, NULL);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static void test_open_dir(Place *place, gconstpointer unused)
{
    g_autoptr(GError) error = NULL;
    g_assert_cmpint(fs_open_dir(place->fd, "queue", false, &error), ==, -1);
    g_assert_error(error, FAIL, FAIL_MISSING);
    g_assert_nonnull(strstr(error->message, "queue"));
    g_clear_error(&error);

    auto_fd made = fs_open_dir(place->fd, "queue", true, &error);
    g_assert_no_error(error);
    struct stat status;
    g_assert_cmpint(fstat(made, &status), ==, 0);
    g_assert_true(S_ISDIR(status.st_mode));
    g_assert_cmpuint(status.st_mode & 0027, ==, 0); /* 0750: nobody else may look */

    auto_fd again = fs_open_dir(place->fd, "queue", true, &error);
    g_assert_cmpint(again, >=, 0);
    g_autofree char *absolute = g_build_filename(place->path, "other", NULL);
    auto_fd other = fs_open_dir(AT_FDCWD, absolute, true, &error);
    g_assert_cmpint(other, >=, 0);

    put(place, "file", "");
    g_assert_cmpint(fs_open_dir(place->fd, "file", true, &error), ==, -1);
    g_assert_error(error, FAIL, FAIL_LATER);
    g_clear_error(&error);
    g_assert_cmpint(fs_open_dir(place->fd, "no/such/parent", true, &error), ==, -1);
    g_assert_error(error, FAIL, FAIL_MISSING);
}

static void test_create(Place *place, gconstpointer unused)
{
    g_autoptr(GError) error = NULL;
    auto_fd fd = fs_create(place->fd, "a", &error);
    g_assert_no_error(error);
    struct stat status;
    g_assert_cmpint(fstat(fd, &status), ==, 0);
    g_assert_cmpuint(status.st_mode & 0137, ==, 0); /* 0640 */
    g_assert_cmpint(fcntl(fd, F_GETFD) & FD_CLOEXEC, ==, FD_CLOEXEC);
    g_assert_cmpint(fs_create(place->fd, "a", &error), ==, -1);
    g_assert_error(error, FAIL, FAIL_EXISTS);
    g_clear_error(&error);
    g_assert_cmpint(symlinkat("elsewhere", place->fd, "link"), ==, 0);
    g_assert_cmpint(fs_create(place->fd, "link", &error), ==, -1);
    g_assert_error(error, FAIL, FAIL_EXISTS);
    g_assert_cmpint(faccessat(place->fd, "elsewhere", F_OK, 0), ==, -1);
}

static void test_open(Place *place, gconstpointer unused)
{
    g_autoptr(GError) error = NULL;
    put(place, "a", "text");
    auto_fd reader = fs_open(place->fd, "a", false, &error);
    g_assert_no_error(error);
    g_assert_cmpint(write(reader, "x", 1), ==, -1);
    auto_fd writer = fs_open(place->fd, "a", true, &error);
    g_assert_cmpint(write(writer, "T", 1), ==, 1);
    g_assert_cmpint(fs_open(place->fd, "none", false, &error), ==, -1);
    g_assert_error(error, FAIL, FAIL_MISSING);
    g_clear_error(&error);

    g_assert_cmpint(symlinkat("a", place->fd, "link"), ==, 0);
    g_assert_cmpint(mkfifoat(place->fd, "fifo", 0600), ==, 0);
    g_assert_cmpint(mkdirat(place->fd, "dir", 0700), ==, 0);
    static const char *const never[] = {"link", "fifo", "dir"};
    for (size_t i = 0; i < G_N_ELEMENTS(never); i++)
        for (int writable = 0; writable < 2; writable++) {
            g_assert_cmpint(fs_open(place->fd, never[i], writable, &error), ==, -1);
            g_assert_error(error, FAIL, FAIL_NEVER);
            g_clear_error(&error);
        }
}

static void test_write(Place *place, gconstpointer unused)
{
    g_autoptr(GError) error = NULL;
    auto_fd fd = fs_create(place->fd, "a", &error);
    g_assert_true(fs_write(fd, "hello ", 6, &error));
    g_assert_true(fs_write(fd, "", 0, &error));
    struct iovec pieces[] = {PIECE("wor"), PIECE(""), PIECE("ld")};
    g_assert_true(fs_writev(fd, pieces, 3, &error));
    g_assert_true(fs_pwrite(fd, "J", 1, 0, &error));
    g_autofree char *text = content(place, "a");
    g_assert_cmpstr(text, ==, "Jello world");
    g_assert_true(fs_truncate(fd, 5, &error));
    g_autofree char *shorter = content(place, "a");
    g_assert_cmpstr(shorter, ==, "Jello");

    auto_fd reader = fs_open(place->fd, "a", false, &error);
    g_assert_false(fs_write(reader, "x", 1, &error));
    g_assert_error(error, FAIL, FAIL_LATER);
    g_assert_nonnull(strstr(error->message, "/a: ")); /* the file is named */
    g_clear_error(&error);
    g_assert_false(fs_writev(reader, &(struct iovec)PIECE("x"), 1, &error));
    g_clear_error(&error);
    g_assert_false(fs_pwrite(reader, "x", 1, 0, &error));
    g_clear_error(&error);
    g_assert_false(fs_truncate(reader, 0, &error));
    g_assert_error(error, FAIL, FAIL_LATER);
}

/* More pieces than one writev takes, into a pipe that takes little at a time. */
static void test_writev_long(Place *place, gconstpointer unused)
{
    enum { PIECES = 3000, LENGTH = 97 };
    int ends[2];
    g_assert_cmpint(pipe(ends), ==, 0);
    auto_fd read_end = ends[0];
    g_autofree char *source = g_malloc(PIECES * LENGTH);
    g_autofree struct iovec *pieces = g_new(struct iovec, PIECES);
    for (int i = 0; i < PIECES * LENGTH; i++)
        source[i] = (char)(i % 251);
    for (int i = 0; i < PIECES; i++)
        pieces[i] = (struct iovec){source + (size_t)i * LENGTH, LENGTH};
    pid_t child = fork();
    if (child == 0)
        _exit(fs_writev(ends[1], pieces, PIECES, NULL) ? 0 : 1);
    close(ends[1]);
    g_autofree char *received = g_malloc(PIECES * LENGTH);
    size_t length = 0;
    for (ssize_t got; (got = read(read_end, received + length, MIN(4001, PIECES * LENGTH - length))) > 0;)
        length += (size_t)got;
    g_assert_cmpmem(received, length, source, PIECES * LENGTH);
}

static void test_rename(Place *place, gconstpointer unused)
{
    g_autoptr(GError) error = NULL;
    put(place, "a", "A");
    put(place, "b", "B");
    g_assert_false(fs_rename_new(place->fd, "a", "b", &error));
    g_assert_error(error, FAIL, FAIL_EXISTS);
    g_clear_error(&error);
    g_autofree char *untouched = content(place, "b");
    g_assert_cmpstr(untouched, ==, "B");
    g_assert_true(fs_rename_new(place->fd, "a", "c", &error));
    g_assert_true(fs_rename(place->fd, "c", "b", &error));
    g_autofree char *replaced = content(place, "b");
    g_assert_cmpstr(replaced, ==, "A");
    g_assert_false(fs_rename(place->fd, "c", "d", &error));
    g_assert_error(error, FAIL, FAIL_MISSING);
    g_clear_error(&error);
    g_assert_false(fs_rename_new(place->fd, "c", "d", &error));
    g_assert_error(error, FAIL, FAIL_MISSING);
}

static void test_unlink(Place *place, gconstpointer unused)
{
    g_autoptr(GError) error = NULL;
    put(place, "a", "A");
    g_assert_true(fs_unlink(place->fd, "a", &error));
    g_assert_cmpint(faccessat(place->fd, "a", F_OK, 0), ==, -1);
    g_assert_false(fs_unlink(place->fd, "a", &error));
    g_assert_error(error, FAIL, FAIL_MISSING);
}

static void test_sync(Place *place, gconstpointer unused)
{
    g_autoptr(GError) error = NULL;
    auto_fd fd = fs_create(place->fd, "a", &error);
    g_assert_true(fs_sync_file(fd, &error));
    g_assert_true(fs_sync_dir(place->fd, &error));
    int ends[2];
    g_assert_cmpint(pipe(ends), ==, 0); /* a pipe cannot be synced */
    g_assert_false(fs_sync_file(ends[0], &error));
    g_assert_error(error, FAIL, FAIL_LATER);
    g_clear_error(&error);
    g_assert_false(fs_sync_dir(ends[0], &error));
    g_assert_error(error, FAIL, FAIL_LATER);
    close(ends[0]);
    close(ends[1]);
}

static void test_sync_group(Place *place, gconstpointer syncfs)
{
    enum { COUNT = 100, BAD = 41 };
    g_autoptr(GError) error = NULL;
    fs_use_syncfs(syncfs != NULL);
    g_assert_true(fs_sync_group(NULL, 0, &error));
    FsSync group[COUNT];
    for (int i = 0; i < COUNT; i++) {
        g_autofree char *name = g_strdup_printf("%d", i);
        group[i] = (FsSync){.fd = fs_create(place->fd, name, &error), .result = -1};
        g_assert_true(fs_write(group[i].fd, name, strlen(name), &error));
    }
    for (size_t count = 1; count <= COUNT; count = count * 2 + 1) {
        g_assert_true(fs_sync_group(group, count, &error));
        g_assert_no_error(error);
        for (size_t i = 0; i < count; i++)
            g_assert_cmpint(group[i].result, ==, 0);
    }
    /* One bad member, on another file system, fails the group, and only that member is to blame. */
    int ends[2];
    g_assert_cmpint(pipe(ends), ==, 0);
    int good = group[BAD].fd;
    group[BAD].fd = ends[0];
    g_assert_false(fs_sync_group(group, COUNT, &error));
    g_assert_error(error, FAIL, FAIL_LATER);
    for (int i = 0; i < COUNT; i++)
        g_assert_cmpint(group[i].result, ==, i == BAD ? EINVAL : 0);
    group[BAD].fd = good;
    close(ends[0]);
    close(ends[1]);
    for (int i = 0; i < COUNT; i++)
        close(group[i].fd);
}

/* In two steps: nothing need be synced before the end, everything is after it. */
static void test_sync_apart(Place *place, gconstpointer syncfs)
{
    enum { COUNT = 20, BAD = 7 };
    g_autoptr(GError) error = NULL;
    fs_use_syncfs(syncfs != NULL);
    int64_t took = -1;
    g_assert_true(fs_sync_end(fs_sync_begin(NULL, 0), &took, &error));
    g_assert_cmpint(took, ==, 0);
    FsSync group[COUNT];
    for (size_t count = 1; count <= COUNT; count++) {
        for (size_t i = 0; i < count; i++)
            group[i] = (FsSync){.fd = place->fd, .directory = true, .result = -1};
        int64_t before = g_get_monotonic_time();
        FsSyncing *syncing = fs_sync_begin(group, count);
        g_usleep(200 * (count % 3)); /* so that the helpers are not begun, at it, or done */
        g_assert_true(fs_sync_end(syncing, &took, &error));
        g_assert_no_error(error);
        g_assert_cmpint(took, >=, 0);
        g_assert_cmpint(took, <=, g_get_monotonic_time() - before);
        for (size_t i = 0; i < count; i++)
            g_assert_cmpint(group[i].result, ==, 0);
    }
    group[BAD].fd = -1;
    g_assert_false(fs_sync_end(fs_sync_begin(group, COUNT), NULL, &error));
    g_assert_error(error, FAIL, FAIL_LATER);
    for (int i = 0; i < COUNT; i++)
        g_assert_cmpint(group[i].result, ==, i == BAD ? EBADF : 0);
}

/* A group is synced by its caller when the system refuses threads, and
 * helpers that come when all is over do no harm. */
static void test_sync_group_alone(Place *place, gconstpointer unused)
{
    enum { COUNT = 10 };
    FsSync *group = g_new(FsSync, COUNT);
    for (int i = 0; i < COUNT; i++)
        group[i] = (FsSync){.fd = place->fd, .directory = true, .result = -1};
    alarm(30); /* it waited for ever */
    threadless = true;
    g_assert_true(fs_sync_group(group, COUNT, NULL));
    threadless = false;
    alarm(0);
    for (int i = 0; i < COUNT; i++)
        g_assert_cmpint(group[i].result, ==, 0);
    g_free(group);
    g_assert_cmpuint(threadless_kept(), >, 0);
    threadless_release();
    FsSync other[COUNT];
    for (int i = 0; i < COUNT; i++)
        other[i] = (FsSync){.fd = place->fd, .directory = true};
    g_assert_true(fs_sync_group(other, COUNT, NULL));
}

static void sync_some(const Place *place)
{
    FsSync group[7];
    for (int i = 0; i < 7; i++)
        group[i] = (FsSync){.fd = place->fd, .directory = true, .result = -1};
    g_assert_true(fs_sync_group(group, 7, NULL));
    for (int i = 0; i < 7; i++)
        g_assert_cmpint(group[i].result, ==, 0);
}

/* Lets a file go, and returns when it is closed: the other end of the pipe sees that. */
static void close_gone(void)
{
    int ends[2];
    char none;
    g_assert_cmpint(pipe2(ends, O_CLOEXEC), ==, 0);
    fs_close_gone(ends[1]);
    g_assert_cmpint(read(ends[0], &none, 1), ==, 0);
    close(ends[0]);
}

/* A forked child has none of its parent's threads: it asks no pool for them, and comes to an end all the same. */
static void test_forked(Place *place, gconstpointer unused)
{
    sync_some(place);
    close_gone();
    pid_t child = fork();
    if (child == 0) {
        alarm(30); /* it waited for ever */
        threadless = true;
        sync_some(place);
        close_gone();
        _exit(threadless_kept() == 0 ? 0 : 1);
    }
    int status;
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    g_assert_cmpint(status, ==, 0);
    sync_some(place); /* its parent has them still */
    close_gone();
}

static gpointer sync_many(gpointer data)
{
    const Place *place = data;
    for (int round = 0; round < 20; round++)
        sync_some(place);
    return NULL;
}

static void test_sync_group_threads(Place *place, gconstpointer unused)
{
    GThread *threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = g_thread_new("sync", sync_many, place);
    for (int i = 0; i < 4; i++)
        g_thread_join(threads[i]);
}

static void test_space_and_device(Place *place, gconstpointer unused)
{
    g_autoptr(GError) error = NULL;
    uint64_t octets = 0;
    g_assert_true(fs_free_space(place->fd, &octets, &error));
    g_assert_cmpuint(octets, >, 0);
    g_assert_false(fs_free_space(-1, &octets, &error));
    g_assert_error(error, FAIL, FAIL_LATER);
}

/* ---- the hook ---- */

typedef struct Recorder {
    GString *seen;
    int refuse_at; /* the n-th event, from 1, fails; 0: none */
    int count;
} Recorder;

static int record(const FsEvent *event, void *data)
{
    static const char *const names[] = {
        [FS_CREATE] = "create", [FS_WRITE] = "write",   [FS_PWRITE] = "pwrite",       [FS_TRUNCATE] = "truncate",
        [FS_RENAME] = "rename", [FS_UNLINK] = "unlink", [FS_SYNC_FILE] = "sync-file", [FS_SYNC_DIR] = "sync-dir",
        [FS_MAKE_DIR] = "make-dir",
    };
    Recorder *recorder = data;
    g_string_append(recorder->seen, names[event->call]);
    if (event->name)
        g_string_append_printf(recorder->seen, ":%s", event->name);
    if (event->to)
        g_string_append_printf(recorder->seen, ">%s", event->to);
    if (event->data)
        g_string_append_printf(recorder->seen, "(%.*s)", (int)event->length, (const char *)event->data);
    if (event->offset)
        g_string_append_printf(recorder->seen, "@%d", (int)event->offset);
    g_string_append_c(recorder->seen, ' ');
    return ++recorder->count == recorder->refuse_at ? ENOSPC : 0;
}

/* Every call that changes something, once; false at the first that fails. */
static bool do_all(const Place *place, GError **error)
{
    auto_fd fd = fs_create(place->fd, "a", error);
    struct iovec pieces[] = {PIECE("b"), PIECE("c")};
    FsSync group[] = {{.fd = fd}, {.fd = place->fd, .directory = true}};
    return fd >= 0 && fs_write(fd, "a", 1, error) && fs_writev(fd, pieces, 2, error) &&
           fs_pwrite(fd, "X", 1, 1, error) && fs_truncate(fd, 2, error) && fs_sync_file(fd, error) &&
           fs_sync_dir(place->fd, error) && (group[0].fd = fd, fs_sync_group(group, 2, error)) &&
           fs_rename(place->fd, "a", "b", error) && fs_rename_new(place->fd, "b", "c", error) &&
           fs_unlink(place->fd, "c", error);
}

#define ALL_CALLS \
    "create:a write(a) write(b) write(c) pwrite(X)@1 truncate@2 sync-file sync-dir sync-file sync-dir " \
    "rename:a>b rename:b>c unlink:c "

/* One that was there is synced, too: its maker may have died before. */
static void test_open_dir_syncs(Place *place, gconstpointer unused)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GString) seen = g_string_new(NULL);
    Recorder recorder = {.seen = seen};
    g_assert_cmpint(mkdirat(place->fd, "queue", 0700), ==, 0);
    fs_set_hook(record, &recorder);
    auto_fd fd = fs_open_dir(place->fd, "queue", true, &error);
    g_assert_no_error(error);
    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpstr(seen->str, ==, "make-dir:queue sync-dir ");
    for (recorder.refuse_at = 3; recorder.refuse_at <= 5; recorder.refuse_at += 2) { /* then there is no sync */
        g_clear_error(&error);
        g_assert_cmpint(fs_open_dir(place->fd, "queue", true, &error), ==, -1);
        g_assert_error(error, FAIL, FAIL_LATER);
    }
    g_assert_cmpstr(seen->str, ==, "make-dir:queue sync-dir make-dir:queue make-dir:queue sync-dir ");
}

/* A path may end with a slash, as in a configuration: what is synced is what holds the directory, not itself. */
static int note_synced(const FsEvent *event, void *data)
{
    if (event->call == FS_SYNC_DIR)
        g_assert_cmpint(fstat(event->fd, data), ==, 0);
    return 0;
}

static void test_open_dir_slash(Place *place, gconstpointer unused)
{
    struct stat synced, holds;
    g_autofree char *path = g_strconcat(place->path, "/with//", NULL);
    fs_set_hook(note_synced, &synced);
    auto_fd fd = fs_open_dir(AT_FDCWD, path, true, NULL);
    fs_set_hook(NULL, NULL);
    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(fstat(place->fd, &holds), ==, 0);
    g_assert_true(synced.st_ino == holds.st_ino);
}

static void test_hook(Place *place, gconstpointer unused)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GString) seen = g_string_new(NULL);
    Recorder recorder = {.seen = seen};
    fs_use_syncfs(true); /* does not hide a group's members from the hook */
    fs_set_hook(record, &recorder);
    g_assert_true(do_all(place, &error));
    g_assert_no_error(error);
    g_assert_cmpstr(seen->str, ==, ALL_CALLS);
    fs_set_hook(NULL, NULL);
    g_assert_true(do_all(place, &error));
    g_assert_cmpint(recorder.count, ==, 13);
}

static void test_hook_refuses(Place *place, gconstpointer unused)
{
    for (int at = 1; at <= 13; at++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(GString) seen = g_string_new(NULL);
        Recorder recorder = {.seen = seen, .refuse_at = at};
        fs_set_hook(record, &recorder);
        g_assert_false(do_all(place, &error));
        g_assert_error(error, FAIL, FAIL_LATER);
        g_assert_nonnull(strstr(error->message, g_strerror(ENOSPC)));
        fs_set_hook(NULL, NULL);
        g_assert_true(g_str_has_prefix(ALL_CALLS, seen->str));
        g_autofree char *a = content(place, "a"), *b = content(place, "b"), *c = content(place, "c");
        /* The call refused was not made: the name is what the last good one left. */
        g_assert_cmpint(a != NULL, ==, at > 1 && at <= 11);
        g_assert_cmpint(b != NULL, ==, at == 12);
        g_assert_cmpint(c != NULL, ==, at == 13);
        if (a)
            g_assert_cmpuint(strlen(a), ==, at <= 6 ? (unsigned)MIN(at - 2, 3) : 2);
        unlinkat(place->fd, "a", 0);
        unlinkat(place->fd, "b", 0);
        unlinkat(place->fd, "c", 0);
    }
}

static size_t table_size(void)
{
    g_autofree char *status = NULL;
    g_assert_true(g_file_get_contents("/proc/self/status", &status, NULL, NULL));
    const char *line = strstr(status, "FDSize:");
    g_assert_nonnull(line);
    return (size_t)g_ascii_strtoull(line + strlen("FDSize:"), NULL, 10);
}

/* The first free descriptor: what was left open before it would show. */
static int first_free(void)
{
    int fd = open("/", O_PATH | O_CLOEXEC);
    g_assert_cmpint(fd, >=, 0);
    close(fd);
    return fd;
}

/* The system's table is as large as was said, nothing is left open, and to expect more than is allowed does no harm. */
static void test_expect_files(Place *place, gconstpointer unused)
{
    (void)place;
    (void)unused;
    size_t wanted = 2 * table_size();
    int fd = first_free();
    if (fs_files_allowed(wanted, 1) < wanted) {
        g_test_skip("the system allows too few open files");
        return;
    }
    fs_expect_files(wanted);
    g_assert_cmpuint(table_size(), >=, wanted);
    struct rlimit before, lower;
    getrlimit(RLIMIT_NOFILE, &before);
    lower = (struct rlimit){.rlim_cur = wanted, .rlim_max = before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &lower);
    fs_expect_files(4 * wanted);
    setrlimit(RLIMIT_NOFILE, &before);
    g_assert_cmpuint(table_size(), <, 4 * wanted);
    g_assert_cmpint(first_free(), ==, fd);
}

/* A failed member of a group does not keep the others from being synced. */
static void test_hook_group(Place *place, gconstpointer unused)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GString) seen = g_string_new(NULL);
    Recorder recorder = {.seen = seen, .refuse_at = 2};
    FsSync group[] = {{.fd = place->fd, .directory = true}, {.fd = place->fd}, {.fd = place->fd, .directory = true}};
    fs_set_hook(record, &recorder);
    g_assert_false(fs_sync_group(group, 3, &error));
    g_assert_cmpstr(seen->str, ==, "sync-dir sync-file sync-dir ");
    g_assert_cmpint(group[0].result, ==, 0);
    g_assert_cmpint(group[1].result, ==, ENOSPC);
    g_assert_cmpint(group[2].result, ==, 0);
}

static void names_are_sorted_without_hidden_ones(Place *place, gconstpointer unused)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *file = g_build_filename(place->path, "b", NULL),
                    *none = g_build_filename(place->path, "none", NULL);
    static const char *const made[] = {"b", ".hidden", "\xc3\xa4", "a"};
    for (size_t i = 0; i < G_N_ELEMENTS(made); i++)
        close(openat(place->fd, made[i], O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    g_autoptr(GPtrArray) names = fs_names(place->path, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(names->len, ==, 3);
    g_assert_cmpstr(names->pdata[0], ==, "a");
    g_assert_cmpstr(names->pdata[1], ==, "b");
    g_assert_cmpstr(names->pdata[2], ==, "\xc3\xa4");
    g_autoptr(GPtrArray) nothing = fs_names(none, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(nothing->len, ==, 0);
    g_assert_null(fs_names(file, &error)); /* not a directory */
    g_assert_error(error, FAIL, FAIL_LATER);
}

SUITE("fs")
{
    g_test_init(&argc, &argv, NULL);
#define ADD(name, data, function) g_test_add("/fs/" name, Place, data, set_up, function, tear_down)
    ADD("open-dir", NULL, test_open_dir);
    ADD("names", NULL, names_are_sorted_without_hidden_ones);
    ADD("create", NULL, test_create);
    ADD("open", NULL, test_open);
    ADD("write", NULL, test_write);
    ADD("writev-long", NULL, test_writev_long);
    ADD("rename", NULL, test_rename);
    ADD("unlink", NULL, test_unlink);
    ADD("sync", NULL, test_sync);
    ADD("sync-group", NULL, test_sync_group);
    ADD("sync-group-syncfs", "syncfs", test_sync_group);
    ADD("sync-apart", NULL, test_sync_apart);
    ADD("sync-apart-syncfs", "syncfs", test_sync_apart);
    ADD("sync-group-alone", NULL, test_sync_group_alone);
    ADD("sync-group-threads", NULL, test_sync_group_threads);
    ADD("forked", NULL, test_forked);
    ADD("space-and-device", NULL, test_space_and_device);
    ADD("expect-files", NULL, test_expect_files);
    ADD("open-dir-syncs", NULL, test_open_dir_syncs);
    ADD("open-dir-slash", NULL, test_open_dir_slash);
    ADD("hook", NULL, test_hook);
    ADD("hook-refuses", NULL, test_hook_refuses);
    ADD("hook-group", NULL, test_hook_group);
    return g_test_run();
}
