/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/archive/mbox_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"
#include "base/fs.h"
#include "t/suite.h"

#define KEY_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define KEY_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define KEY_C "cccccccccccccccccccccccccccccccccccccccc"

typedef struct Place {
    char *path;
    int fd;
} Place;

static void place_make(Place *place, gconstpointer data)
{
    place->path = g_dir_make_tmp("mbox-file-XXXXXX", NULL);
    place->fd = open(place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    g_assert_cmpint(place->fd, >=, 0);
}

static void place_remove(Place *place, gconstpointer data)
{
    static const char *const names[] = {"l.mbox", "l.mbox.index", "l.mbox.intent", "old.mbox"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        unlinkat(place->fd, names[i], 0);
    close(place->fd);
    g_assert_cmpint(rmdir(place->path), ==, 0);
    g_free(place->path);
}

static bool sync_all(MboxFile *file, GError **error)
{
    g_autoptr(GArray) group = g_array_new(FALSE, TRUE, sizeof(FsSync));
    mbox_file_syncs(file, group);
    return fs_sync_group((FsSync *)(void *)group->data, group->len, error);
}

static void add_text(MboxFile *file, const MboxKey *key, const char *body)
{
    g_autofree char *text = g_strdup_printf("From a@b Thu Jan  1 00:00:00 1970\n\n%s\n\n", body);
    mbox_file_add(file, key, text, strlen(text));
}

static bool append_added(MboxFile *file, GError **error)
{
    return mbox_file_begin(file, error) && sync_all(file, error) && mbox_file_append(file, error) &&
           sync_all(file, error);
}

/* A whole append of one mail, unless it is known; false when any step failed. */
static bool append_once(MboxFile *file, const char *text, const char *body)
{
    g_autoptr(GError) error = NULL;
    MboxKey key = {.text = text, .arrival = text[0], .again = true};
    bool known = false;
    if (!mbox_file_lock(file, 0, &error) || !mbox_file_knows(file, &key, &known, &error))
        return false;
    if (!known)
        add_text(file, &key, body);
    bool good = append_added(file, &error);
    if (good)
        mbox_file_end(file);
    else
        mbox_file_abandon(file);
    return good;
}

static char *contents(const Place *place, const char *name)
{
    g_autofree char *path = g_build_filename(place->path, name, NULL);
    char *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    return text;
}

static unsigned count_of(const char *text, const char *what)
{
    unsigned count = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at++)
        count++;
    return count;
}

static void assert_each_once(const Place *place)
{
    g_autofree char *text = contents(place, "l.mbox");
    g_autofree char *index = contents(place, "l.mbox.index");
    g_assert_cmpuint(count_of(text, "From a@b"), ==, 3);
    g_assert_cmpuint(count_of(text, "\nalpha\n"), ==, 1);
    g_assert_cmpuint(count_of(text, "\nbeta\n"), ==, 1);
    g_assert_cmpuint(count_of(text, "\ngamma\n"), ==, 1);
    g_assert_cmpuint(count_of(index, KEY_A), ==, 1);
    g_assert_cmpuint(count_of(index, KEY_B), ==, 1);
    g_assert_cmpuint(count_of(index, KEY_C), ==, 1);
    g_assert_cmpuint(count_of(index, "\nuntil "), ==, 3);
    g_assert_cmpuint(strlen(index), ==, (3 + 3) * 65);
}

/* Index lines point at the mails they name. */
static void test_index(Place *place, gconstpointer data)
{
    g_autoptr(MboxFile) file = mbox_file_open(place->fd, "l", NULL);
    g_assert_true(append_once(file, KEY_A, "alpha") && append_once(file, KEY_B, "beta"));
    g_assert_true(append_once(file, KEY_C, "gamma"));
    g_assert_true(append_once(file, KEY_B, "beta"));
    assert_each_once(place);
    g_autofree char *text = contents(place, "l.mbox");
    g_autofree char *index = contents(place, "l.mbox.index");
    g_auto(GStrv) words = g_strsplit(index + 2 * 65, " ", 3);
    g_assert_true(g_str_has_prefix(text + atol(words[1]), "From a@b"));
    g_assert_nonnull(g_strstr_len(text + atol(words[1]), atol(words[2]), "\nbeta\n\n"));
}

/* Says what a hook does to the n-th call of the append: half of a write, then the process is dead. */
typedef struct Death {
    unsigned at, seen;
    bool dead;
} Death;

static int die_at(const FsEvent *event, void *data)
{
    Death *death = data;
    if (!death->dead && death->seen++ == death->at) {
        death->dead = true;
        if (event->call == FS_PWRITE) {
            ssize_t n = pwrite(event->fd, event->data, event->length / 2, event->offset);
            (void)n;
        }
    }
    return death->dead ? EIO : 0;
}

/* Dies at each call of the second append in turn, half of a write done; then it comes again. */
static void test_torn(Place *place, gconstpointer data)
{
    unsigned deaths = 0;
    for (Death death = {.at = 0};; death = (Death){.at = death.at + 1}) {
        g_autoptr(MboxFile) file = mbox_file_open(place->fd, "l", NULL);
        g_assert_true(append_once(file, KEY_A, "alpha"));
        fs_set_hook(die_at, &death);
        bool good = append_once(file, KEY_B, "beta");
        fs_set_hook(NULL, NULL);
        g_autoptr(MboxFile) again = mbox_file_open(place->fd, "l", NULL);
        g_assert_true(append_once(again, KEY_B, "beta"));
        g_assert_true(append_once(again, KEY_C, "gamma"));
        assert_each_once(place);
        unlinkat(place->fd, "l.mbox", 0);
        unlinkat(place->fd, "l.mbox.index", 0);
        unlinkat(place->fd, "l.mbox.intent", 0);
        if (good && !death.dead)
            break;
        deaths++;
    }
    g_assert_cmpuint(deaths, >=, 6);
}

/* The sync of the mbox fails, once; then the disk takes for written what it has not: only bytes that are written anew
 * reach it. */
typedef struct Forgetful {
    bool failed, unwritten, trusted;
} Forgetful;

static int forget(const FsEvent *event, void *data)
{
    Forgetful *disk = data;
    g_autofree char *link = g_strdup_printf("/proc/self/fd/%d", event->fd), *path = g_file_read_link(link, NULL);
    if (!g_str_has_suffix(path, "/l.mbox"))
        return 0;
    if (event->call == FS_SYNC_FILE && !disk->failed) {
        disk->failed = disk->unwritten = true;
        return EIO;
    }
    if (event->call == FS_PWRITE && memmem(event->data, event->length, "beta", 4) != NULL)
        disk->unwritten = false;
    disk->trusted |= event->call == FS_SYNC_FILE && disk->unwritten;
    return 0;
}

static void test_written_again(Place *place, gconstpointer data)
{
    g_autoptr(MboxFile) file = mbox_file_open(place->fd, "l", NULL);
    g_assert_true(append_once(file, KEY_A, "alpha"));
    Forgetful disk = {.failed = false};
    fs_set_hook(forget, &disk);
    g_assert_false(append_once(file, KEY_B, "beta"));
    g_assert_true(append_once(file, KEY_B, "beta"));
    fs_set_hook(NULL, NULL);
    g_assert_true(append_once(file, KEY_C, "gamma"));
    g_assert_true(disk.failed && !disk.unwritten && !disk.trusted);
    assert_each_once(place);
}

/* Another program wrote behind our torn append: nothing of its is cut. */
static void test_foreign_tail(Place *place, gconstpointer data)
{
    g_autoptr(MboxFile) file = mbox_file_open(place->fd, "l", NULL);
    g_assert_true(append_once(file, KEY_A, "alpha"));
    Death death = {.at = 3}; /* the write to the mbox: truncate, intent, its sync come before */
    fs_set_hook(die_at, &death);
    g_assert_false(append_once(file, KEY_B, "beta"));
    fs_set_hook(NULL, NULL);
    g_autofree char *path = g_build_filename(place->path, "l.mbox", NULL);
    auto_fd fd = open(path, O_WRONLY | O_APPEND);
    static const char foreign[] = "\n\nFrom x@y Thu Jan  1 00:00:00 1970\n\n"
                                  "foreign: a text that is longer than what we lost, by some words\n";
    g_assert_cmpint(write(fd, foreign, strlen(foreign)), ==, strlen(foreign));
    g_assert_true(append_once(file, KEY_B, "beta"));
    g_autofree char *text = contents(place, "l.mbox");
    g_assert_cmpuint(count_of(text, "\nforeign: "), ==, 1);
    g_assert_cmpuint(count_of(text, "\nbeta\n"), ==, 1);
    g_assert_cmpuint(count_of(text, "\nalpha\n"), ==, 1);
}

/* Another program left its last line open: our mail begins on one of its own. */
static void test_open_line(Place *place, gconstpointer data)
{
    g_autoptr(MboxFile) file = mbox_file_open(place->fd, "l", NULL);
    g_assert_true(append_once(file, KEY_A, "alpha"));
    g_autofree char *path = g_build_filename(place->path, "l.mbox", NULL);
    auto_fd fd = open(path, O_WRONLY | O_APPEND);
    g_assert_cmpint(write(fd, "open", 4), ==, 4);
    g_assert_true(append_once(file, KEY_B, "beta"));
    g_autofree char *text = contents(place, "l.mbox");
    g_assert_null(strstr(text, "openFrom "));
    g_assert_nonnull(strstr(text, "\nopen\n"));
    g_assert_cmpuint(count_of(text, "\nbeta\n"), ==, 1);
}

/* The mbox was moved away: a new one begins, the old one is left alone, and keys are remembered. */
static void test_rotated(Place *place, gconstpointer data)
{
    g_autoptr(MboxFile) file = mbox_file_open(place->fd, "l", NULL);
    g_assert_true(append_once(file, KEY_A, "alpha"));
    g_assert_cmpint(renameat(place->fd, "l.mbox", place->fd, "old.mbox"), ==, 0);
    g_assert_true(append_once(file, KEY_A, "alpha"));
    g_assert_true(append_once(file, KEY_B, "beta"));
    g_autofree char *old = contents(place, "old.mbox"), *text = contents(place, "l.mbox");
    g_assert_cmpuint(count_of(old, "From a@b"), ==, 1);
    g_assert_cmpuint(count_of(text, "From a@b"), ==, 1);
    g_assert_nonnull(strstr(text, "beta"));
}

/* All three were removed, as list remove does it, or the index alone: what comes is in files that have names, and is
 * known afterwards. */
static void test_removed(Place *place, gconstpointer data)
{
    g_autoptr(MboxFile) file = mbox_file_open(place->fd, "l", NULL);
    g_assert_true(append_once(file, KEY_A, "alpha") && append_once(file, KEY_B, "beta"));
    unlinkat(place->fd, "l.mbox.index", 0);
    unlinkat(place->fd, "l.mbox.intent", 0);
    unlinkat(place->fd, "l.mbox", 0);
    g_assert_true(append_once(file, KEY_A, "alpha") && append_once(file, KEY_B, "beta"));
    unlinkat(place->fd, "l.mbox.index", 0);
    g_assert_true(append_once(file, KEY_C, "gamma"));
    g_autofree char *index = contents(place, "l.mbox.index"), *intent = contents(place, "l.mbox.intent");
    g_assert_cmpuint(count_of(index, KEY_A) + count_of(index, KEY_B), ==, 0);
    g_assert_cmpuint(count_of(index, KEY_C), ==, 1);
    g_assert_nonnull(strstr(intent, KEY_C));
    MboxKey waiting = {.text = KEY_B, .arrival = KEY_B[0]};
    bool known = true;
    g_assert_true(mbox_file_lock(file, 0, NULL) && mbox_file_knows(file, &waiting, &known, NULL));
    g_assert_false(known);
    mbox_file_abandon(file);
    g_autoptr(MboxFile) again = mbox_file_open(place->fd, "l", NULL);
    g_assert_true(append_once(again, KEY_C, "gamma"));
    g_autofree char *text = contents(place, "l.mbox");
    g_assert_cmpuint(count_of(text, "From a@b"), ==, 3);
}

/* Bytes that this process has read from files so far. */
static size_t octets_read(void)
{
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents("/proc/self/io", &text, NULL, NULL));
    const char *line = strstr(text, "rchar: ");
    g_assert_nonnull(line);
    return (size_t)strtoull(line + strlen("rchar: "), NULL, 10);
}

#define APPENDS 200
#define MAILS 100 /* of one append */
#define ARCHIVED (APPENDS * MAILS)

/* The key of the mail that arrived as the n-th. */
static MboxKey numbered(char text[MBOX_KEY_LENGTH + 1], unsigned n, bool again)
{
    g_snprintf(text, MBOX_KEY_LENGTH + 1, "%040x", n);
    return (MboxKey){.text = text, .arrival = 1000 + n, .again = again};
}

static void append_many(MboxFile *file, unsigned first, unsigned count)
{
    char text[MBOX_KEY_LENGTH + 1];
    g_assert_true(mbox_file_lock(file, 0, NULL));
    for (unsigned i = 0; i < count; i++) {
        MboxKey key = numbered(text, first + i, false);
        add_text(file, &key, text);
    }
    g_assert_true(append_added(file, NULL));
    mbox_file_end(file);
}

static bool knows(MboxFile *file, unsigned n, bool again)
{
    char text[MBOX_KEY_LENGTH + 1];
    MboxKey key = numbered(text, n, again);
    bool known = false;
    g_assert_true(mbox_file_lock(file, 0, NULL));
    g_assert_true(mbox_file_knows(file, &key, &known, NULL));
    mbox_file_abandon(file);
    return known;
}

/* After a restart everything that waits may have been stored; to know it costs what was stored since
 * it arrived, not the whole archive. */
static void test_long(Place *place, gconstpointer data)
{
    g_autoptr(MboxFile) before = mbox_file_open(place->fd, "l", NULL);
    for (unsigned i = 0; i < APPENDS; i++)
        append_many(before, i * MAILS, MAILS);
    g_autoptr(MboxFile) file = mbox_file_open(place->fd, "l", NULL);
    for (unsigned i = 0; i < ARCHIVED; i += 997)
        g_assert_true(knows(file, i, false) && knows(file, i, true));
    g_assert_true(knows(file, ARCHIVED - 1, false));
    size_t start = octets_read();
    for (unsigned i = 0; i < MAILS; i++)
        g_assert_false(knows(file, ARCHIVED + i, i % 2 == 0));
    size_t fresh = octets_read() - start;
    for (unsigned i = 1; i <= MAILS; i++)
        g_assert_true(knows(file, ARCHIVED - i, i % 2 == 0));
    size_t last = octets_read() - start - fresh;
    g_test_message("%zu octets read for %d mails that are new, %zu for %d of the last append", fresh, MAILS, last,
                   MAILS);
    g_assert_cmpuint(fresh, <, MAILS * 8192);
    g_assert_cmpuint(last, <, MAILS * 32768);
}

/* Check that a mail that waits is taken as not stored by us since we began, so that nothing that we stored is read,
 * unless its key says otherwise. */
static void test_backlog(Place *place, gconstpointer data)
{
    g_autoptr(MboxFile) file = mbox_file_open(place->fd, "l", NULL);
    append_many(file, 0, MAILS);
    g_autoptr(MboxFile) again = mbox_file_open(place->fd, "l", NULL);
    g_assert_true(mbox_file_lock(again, 0, NULL));
    mbox_file_end(again);
    for (unsigned i = 1; i < APPENDS; i++)
        append_many(again, i * MAILS, MAILS);
    char text[MBOX_KEY_LENGTH + 1];
    bool known = false;
    g_assert_true(mbox_file_lock(again, 0, NULL));
    size_t start = octets_read();
    for (unsigned i = 1; i < ARCHIVED; i += 101) {
        MboxKey key = numbered(text, MAILS + i, false);
        g_assert_true(mbox_file_knows(again, &key, &known, NULL));
        g_assert_false(known);
    }
    g_assert_cmpuint(octets_read() - start, <, 4096);
    for (unsigned i = 1; i < ARCHIVED; i += 997) {
        MboxKey key = numbered(text, i, true);
        g_assert_true(mbox_file_knows(again, &key, &known, NULL));
        g_assert_true(known);
    }
}

/* Lines without a mark, since somebody cut the index, and arrivals that go back: what is there is found. */
static void test_unmarked(Place *place, gconstpointer data)
{
    g_autoptr(MboxFile) file = mbox_file_open(place->fd, "l", NULL);
    append_many(file, 0, 300);
    g_autofree char *path = g_build_filename(place->path, "l.mbox.index", NULL);
    g_assert_cmpint(truncate(path, 300 * 65), ==, 0); /* takes the mark away */
    append_many(file, 500, 10);
    append_many(file, 400, 10);
    append_many(file, 600, 10);
    g_autoptr(MboxFile) again = mbox_file_open(place->fd, "l", NULL);
    g_assert_true(knows(again, 0, false) && knows(again, 299, false));
    g_assert_true(knows(again, 500, false) && knows(again, 509, true));
    g_assert_true(knows(again, 400, true) && knows(again, 409, false));
    g_assert_true(knows(again, 609, false));
    g_assert_false(knows(again, 300, false) || knows(again, 410, true) || knows(again, 610, true));
}

/* Another process has the lock: FAIL_RACE, and after it is given up all is well. */
static void test_locked(Place *place, gconstpointer data)
{
    g_autoptr(MboxFile) file = mbox_file_open(place->fd, "l", NULL);
    int ready[2], leave[2];
    g_assert_true(pipe(ready) == 0 && pipe(leave) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        MboxFile *other = mbox_file_open(place->fd, "l", NULL);
        char octet = mbox_file_lock(other, 0, NULL) ? 'y' : 'n';
        bool said = write(ready[1], &octet, 1) == 1 && read(leave[0], &octet, 1) == 1;
        _exit(said ? 0 : 1);
    }
    char octet = 0;
    g_assert_cmpint(read(ready[0], &octet, 1), ==, 1);
    g_assert_cmpint(octet, ==, 'y');
    g_autoptr(GError) error = NULL;
    g_assert_false(mbox_file_lock(file, 30000, &error));
    g_assert_error(error, FAIL, FAIL_RACE);
    g_assert_cmpint(write(leave[1], "x", 1), ==, 1);
    int status = -1;
    waitpid(pid, &status, 0);
    g_assert_cmpint(status, ==, 0);
    g_assert_true(append_once(file, KEY_A, "alpha"));
    close(ready[0]), close(ready[1]), close(leave[0]), close(leave[1]);
}

/* Check that a mail that waits for the lock is appended to the new file when the holder of the lock puts another one
 * there. */
static void test_replaced(Place *place, gconstpointer data)
{
    g_autoptr(MboxFile) file = mbox_file_open(place->fd, "l", NULL);
    g_assert_true(append_once(file, KEY_A, "alpha"));
    int ready[2];
    g_assert_true(pipe(ready) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        MboxFile *other = mbox_file_open(place->fd, "l", NULL);
        bool good = mbox_file_lock(other, 0, NULL) && write(ready[1], "x", 1) == 1;
        g_usleep(50000); /* the other one waits; if it does not yet, the test shows less */
        g_autofree char *aside = g_build_filename(place->path, "old.mbox", NULL);
        good = good && g_file_set_contents(aside, "From a@b Thu Jan  1 00:00:00 1970\n\nother\n\n", -1, NULL) &&
               renameat(place->fd, "old.mbox", place->fd, "l.mbox") == 0;
        _exit(good ? 0 : 1);
    }
    char octet;
    g_assert_cmpint(read(ready[0], &octet, 1), ==, 1);
    g_assert_true(mbox_file_lock(file, 30 * G_USEC_PER_SEC, NULL));
    g_assert_true(append_once(file, KEY_B, "beta"));
    g_autofree char *text = contents(place, "l.mbox");
    g_assert_nonnull(strstr(text, "other"));
    g_assert_nonnull(strstr(text, "beta"));
    g_assert_null(strstr(text, "alpha"));
    int status = -1;
    waitpid(pid, &status, 0);
    g_assert_cmpint(status, ==, 0);
    close(ready[0]), close(ready[1]);
}

SUITE("mbox-file")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/mbox_file/index", Place, NULL, place_make, test_index, place_remove);
    g_test_add("/mbox_file/torn", Place, NULL, place_make, test_torn, place_remove);
    g_test_add("/mbox_file/written again", Place, NULL, place_make, test_written_again, place_remove);
    g_test_add("/mbox_file/foreign tail", Place, NULL, place_make, test_foreign_tail, place_remove);
    g_test_add("/mbox_file/open line", Place, NULL, place_make, test_open_line, place_remove);
    g_test_add("/mbox_file/rotated", Place, NULL, place_make, test_rotated, place_remove);
    g_test_add("/mbox_file/removed", Place, NULL, place_make, test_removed, place_remove);
    g_test_add("/mbox_file/locked", Place, NULL, place_make, test_locked, place_remove);
    g_test_add("/mbox_file/replaced", Place, NULL, place_make, test_replaced, place_remove);
    g_test_add("/mbox_file/long", Place, NULL, place_make, test_long, place_remove);
    g_test_add("/mbox_file/backlog", Place, NULL, place_make, test_backlog, place_remove);
    g_test_add("/mbox_file/unmarked", Place, NULL, place_make, test_unmarked, place_remove);
    return g_test_run();
}
