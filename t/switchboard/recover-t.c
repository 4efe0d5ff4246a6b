/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "switchboard/recover.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utime.h>

#include "base/fail.h"
#include "base/fs.h"
#include "switchboard/hop.h"
#include "t/suite.h"
#include "t/switchboard/fixture.h"

static const char *const queues[] = {"out", "archive", "out", NULL};

/* Stops the world before the n-th call that changes or syncs something. */
typedef struct Stop {
    int countdown;
    unsigned calls;
} Stop;

static int stop_at(const FsEvent *event, void *data)
{
    (void)event;
    Stop *stop = data;
    stop->calls++;
    return stop->countdown-- <= 0 ? EIO : 0;
}

#define PARENTS_MAX 3

/* Stores so many messages, claims them, and makes a hop with three children of each that stops, as if the
 * process died, before call number at. Returns false when it ended before that. */
static bool hops_until(Fixture *fixture, unsigned count, int at)
{
    for (unsigned i = 0; i < count; i++)
        g_free(fixture_store(fixture, "in", "m"));
    g_assert_nonnull(spool_queue(fixture->spool, "out", NULL));
    g_assert_nonnull(spool_queue(fixture->spool, "archive", NULL));
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    g_autoptr(GPtrArray) entries = fixture_claim(inbox);
    g_assert_cmpuint(entries->len, ==, count);
    Outcome *batch[PARENTS_MAX];
    for (unsigned i = 0; i < count; i++) {
        batch[i] = outcome_new(entries->pdata[i]);
        for (int k = 0; queues[k]; k++)
            outcome_add(batch[i], draft_from_entry(queues[k], batch[i]->parent));
    }
    g_autoptr(Hop) hop = hop_new(fixture->spool);
    Stop stop = {.countdown = at};
    fs_set_hook(stop_at, &stop);
    bool ended = hop_commit(hop, batch, count, NULL) && hop_settle(hop, NULL);
    fs_set_hook(NULL, NULL);
    for (unsigned i = 0; i < count; i++) {
        ended = ended && !batch[i]->error;
        outcome_free(batch[i]);
    }
    return !ended;
}

/* Calls of one parent's hop: a create and three writes a child; syncs of five files and
 * directories; the parent's rename and its sync; the publications. */
#define CALLS_CHILDREN (12 + 5)
#define CALLS_COMMIT (CALLS_CHILDREN + 2)

static bool hop_until(Fixture *fixture, int at)
{
    return hops_until(fixture, 1, at);
}

static unsigned total(Fixture *fixture, const char *suffix)
{
    return fixture_count(fixture, "out", suffix) + fixture_count(fixture, "archive", suffix);
}

/* For every call of a hop: die there, recover (dying in recovery at every
 * call, too), and find of each parent either itself or its three children, never both, never
 * neither. R1 to R4. */
static void every_step(Fixture *fixture, unsigned count)
{
    unsigned forward = 0, back = 0;
    bool stopped = true;
    for (int at = 0; stopped; at++) {
        stopped = hops_until(fixture, count, at);
        bool unclean = true;
        for (int dies = 0; unclean; dies++) {
            fixture_reopen(fixture);
            g_assert_nonnull(spool_queue(fixture->spool, "in", NULL));
            Stop stop = {.countdown = dies};
            RecoverReport report = {0};
            fs_set_hook(stop_at, &stop);
            unclean = !recover_slice(spool_queue(fixture->spool, "in", NULL), (Slice){0, 1}, false, &report, NULL);
            fs_set_hook(NULL, NULL);
            forward += report.rolled_forward;
            back += report.rolled_back;
        }
        unsigned parents = fixture_count(fixture, "in", ""), children = total(fixture, "");
        g_assert_cmpuint(children, ==, total(fixture, ".msg"));
        g_assert_cmpuint(children, ==, 3 * (count - parents));
        g_assert_cmpuint(fixture_count(fixture, "in", ".msg"), ==, parents);
        fixture_tear_down(fixture, NULL);
        fixture_set_up(fixture, NULL);
    }
    g_assert_cmpuint(forward, >, 3);
    g_assert_cmpuint(back, >, 3);
}

static void test_every_step(Fixture *fixture, gconstpointer data)
{
    every_step(fixture, 1);
}

static void test_every_step_together(Fixture *fixture, gconstpointer data)
{
    every_step(fixture, PARENTS_MAX);
}

static void test_rolls_forward(Fixture *fixture, gconstpointer data)
{
    g_assert_true(hop_until(fixture, CALLS_COMMIT));
    g_assert_cmpuint(fixture_count(fixture, "in", ".done"), ==, 1);
    g_assert_cmpuint(total(fixture, ".tmp"), ==, 3);
    RecoverReport report = fixture_recover(fixture, "in", true);
    g_assert_cmpuint(report.rolled_forward, ==, 1);
    g_assert_cmpuint(total(fixture, ".msg"), ==, 3);
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 0);
}

static void test_rolls_forward_rest(Fixture *fixture, gconstpointer data)
{
    g_assert_true(hop_until(fixture, CALLS_COMMIT + 2)); /* two of three are published */
    g_assert_cmpuint(total(fixture, ".msg"), ==, 2);
    fixture_recover(fixture, "in", true);
    g_assert_cmpuint(total(fixture, ".msg"), ==, 3);
    g_assert_cmpuint(total(fixture, ""), ==, 3);
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 0);
}

static void test_rolls_back(Fixture *fixture, gconstpointer data)
{
    g_assert_true(hop_until(fixture, CALLS_CHILDREN));
    RecoverReport report = fixture_recover(fixture, "in", true);
    g_assert_cmpuint(report.rolled_back, ==, 1);
    g_assert_cmpuint(total(fixture, ""), ==, 0);
    g_assert_cmpuint(fixture_count(fixture, "in", ".msg"), ==, 1);
}

/* The claim of the parent did not reach the disk, nor perhaps what brought it into the queue. Before any
 * work: with other children, the next hop could be rolled forward together with these. */
static void test_rolls_back_other(Fixture *fixture, gconstpointer data)
{
    static const char *const states[] = {".msg", ".tmp", ".list-0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33.tmp"};
    static const char *const then[] = {".msg", ".msg", ".tmp"};
    for (size_t i = 0; i < G_N_ELEMENTS(states); i++) {
        g_assert_true(hop_until(fixture, CALLS_CHILDREN));
        fixture_set_state(fixture, ".bak", states[i]);
        g_assert_cmpuint(fixture_recover(fixture, "in", false).strays, ==, 0);
        g_assert_cmpuint(total(fixture, ""), ==, 0);
        g_assert_cmpuint(fixture_count(fixture, "in", then[i]), ==, 1);
        g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 1);
        fixture_tear_down(fixture, NULL);
        fixture_set_up(fixture, NULL);
    }
}

/* R8. What is whole was perhaps promised; what is not cannot have been. */
static void test_takes_in(Fixture *fixture, gconstpointer data)
{
    g_autofree char *stored = fixture_store(fixture, "in", "whole");
    EntryName whole;
    g_assert_true(name_parse(stored, &whole, NULL));
    fixture_set_state(fixture, ".msg", ".tmp");
    g_free(fixture_store(fixture, "in", "part"));
    g_autofree char *file = fixture_files(fixture, "in", ".msg");
    g_autofree char *path = fixture_file_path(fixture, "in", file);
    g_autofree char *text = NULL;
    gsize length = 0;
    g_assert_true(g_file_get_contents(path, &text, &length, NULL));
    g_assert_true(g_file_set_contents(path, text, (gssize)length - 1, NULL));
    fixture_set_state(fixture, ".msg", ".tmp");
    RecoverReport other = {0};
    Slice not_ours = {1 - slice_of(whole.hash, 2), 2};
    g_assert_true(recover_slice(spool_queue(fixture->spool, "in", NULL), not_ours, false, &other, NULL));
    g_assert_cmpuint(other.completed, ==, 0);
    g_assert_cmpuint(fixture_count(fixture, "in", ".tmp"), ==, 2);
    for (int round = 0; round < 2; round++) {
        g_assert_cmpuint(fixture_recover(fixture, "in", false).completed, ==, 1 - (unsigned)round);
        g_assert_cmpuint(fixture_count(fixture, "in", ".msg"), ==, 1);
        g_assert_cmpuint(fixture_count(fixture, "in", ".tmp"), ==, 1);
    }
    g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
    g_autoptr(Entry) entry = fixture_claim_one(inbox);
    g_autofree char *message = fixture_text(entry);
    g_assert_cmpstr(message, ==, "whole");
}

/* R8. What the disk damaged after it was stored: in its head, in the middle, in its end line. */
static void test_takes_in_damaged(Fixture *fixture, gconstpointer data)
{
    static const double places[] = {0.0, 0.5, 0.99};
    for (size_t i = 0; i < G_N_ELEMENTS(places); i++) {
        g_free(fixture_store(fixture, "in", "damaged"));
        g_autofree char *ready = fixture_files(fixture, "in", ".msg");
        g_autofree char *path = fixture_file_path(fixture, "in", ready);
        g_autofree char *text = NULL;
        gsize length = 0;
        g_assert_true(g_file_get_contents(path, &text, &length, NULL));
        text[(gsize)(places[i] * (double)length)] ^= 0x10;
        g_assert_true(g_file_set_contents(path, text, (gssize)length, NULL));
        fixture_set_state(fixture, ".msg", ".tmp");
        g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
        g_autoptr(GPtrArray) entries = fixture_claim(inbox);
        g_assert_cmpuint(entries->len, ==, 0);
        g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 0);
        g_assert_cmpuint(fixture_count(fixture, "corrupt", ".msg"), ==, i + 1);
    }
}

/* True when the directory in which something becomes ready was synced before. */
static int see_ready(const FsEvent *event, void *data)
{
    static int dir = -1;
    bool *durable = data;
    if (event->call == FS_RENAME && g_str_has_suffix(event->to, ".msg"))
        *durable = event->fd == dir;
    else if (event->call == FS_SYNC_DIR)
        dir = event->fd;
    return 0;
}

static void make_old(Fixture *fixture, const char *file)
{
    g_autofree char *path = fixture_file_path(fixture, "in", file);
    struct utimbuf times = {.actime = 1000000000, .modtime = 1000000000};
    g_assert_cmpint(utime(path, &times), ==, 0);
}

/* R8 while the runner lives: of what is whole, what nobody has touched for long; of the own slice only. */
static void test_takes_in_later(Fixture *fixture, gconstpointer data)
{
    const int64_t age = 300 * INT64_C(1000000);
    Queue *in = spool_queue(fixture->spool, "in", NULL);
    g_free(fixture_store(fixture, "in", "part"));
    fixture_set_state(fixture, ".msg", ".tmp");
    g_autofree char *part = fixture_files(fixture, "in", ".tmp");
    g_autofree char *path = fixture_file_path(fixture, "in", part);
    g_assert_cmpint(truncate(path, 100), ==, 0);
    make_old(fixture, part);
    g_free(fixture_store(fixture, "in", "whole"));
    g_autofree char *ready = fixture_files(fixture, "in", ".msg");
    EntryName name;
    g_assert_true(name_parse(ready, &name, NULL));
    fixture_set_state(fixture, ".msg", ".tmp");
    unsigned completed = 9;
    g_assert_true(recover_intake(in, (Slice){0, 1}, age, &completed, NULL));
    g_assert_cmpuint(completed, ==, 0); /* its intake may live */
    g_autofree char *both = fixture_files(fixture, "in", ".tmp");
    g_auto(GStrv) files = g_strsplit(both, ",", -1);
    for (char **file = files; *file; file++)
        make_old(fixture, *file);
    g_assert_true(recover_intake(in, (Slice){1 - slice_of(name.hash, 2), 2}, age, &completed, NULL));
    g_assert_cmpuint(completed, ==, 0);
    bool durable = false;
    fs_set_hook(see_ready, &durable);
    g_assert_true(recover_intake(in, (Slice){0, 1}, age, &completed, NULL));
    fs_set_hook(NULL, NULL);
    g_assert_cmpuint(completed, ==, 1);
    g_assert_true(durable);
    g_autofree char *then = fixture_files(fixture, "in", ".msg");
    g_assert_cmpstr(then, ==, ready);
    g_autofree char *left = fixture_files(fixture, "in", ".tmp");
    g_assert_cmpstr(left, ==, part);
}

/* R8 and intake that is made again until it is stored: a try that was stored may be due at another time by now,
 * and in any state; what a later try left does not become a second one. */
static void test_takes_in_once(Fixture *fixture, gconstpointer data)
{
    static const char *const states[] = {".msg", ".bak", ".psv", ".opc"};
    static const char *const then[] = {".msg", ".msg", ".psv", ".opc"};
    for (size_t i = 0; i < G_N_ELEMENTS(states); i++) {
        g_free(fixture_store(fixture, "in", "m"));
        g_autofree char *ready = fixture_files(fixture, "in", ".msg");
        g_autofree char *path = fixture_file_path(fixture, "in", ready);
        g_autofree char *digits = g_strndup(ready + NAME_LENGTH - HASH_DIGITS, HASH_DIGITS);
        g_autofree char *file = g_strconcat("1700000000.000001+", digits, states[i], NULL);
        g_autofree char *other = fixture_file_path(fixture, "in", file);
        g_autofree char *text = NULL;
        gsize length = 0;
        g_assert_true(g_file_get_contents(path, &text, &length, NULL));
        g_assert_true(g_file_set_contents(other, text, (gssize)length, NULL));
        g_autofree char *again = g_strconcat(path, ".tmp", NULL);
        memcpy(again + strlen(path) - 4, ".tmp", 5);
        g_assert_cmpint(g_rename(path, again), ==, 0);
        g_assert_cmpuint(fixture_recover(fixture, "in", false).completed, ==, 0);
        g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 1);
        g_assert_cmpuint(fixture_count(fixture, "in", then[i]), ==, 1);
        fixture_tear_down(fixture, NULL);
        fixture_set_up(fixture, NULL);
    }
}

static int reads_until_fault = -1; /* of those below; then one fails */

static bool read_fails(void)
{
    if (reads_until_fault < 0 || reads_until_fault-- > 0)
        return false;
    errno = EIO;
    return true;
}

/* In place of the library's. */
int fstat(int fd, struct stat *status)
{
    return read_fails() ? -1 : (int)syscall(SYS_fstat, fd, status);
}

ssize_t pread(int fd, void *into, size_t size, off_t from)
{
    return read_fails() ? -1 : (ssize_t)syscall(SYS_pread64, fd, into, size, from);
}

/* The compiler calls this with _FORTIFY_SOURCE where it knows the size of the buffer. */
ssize_t __pread_chk(int fd, void *into, size_t size, off_t from, size_t room);
ssize_t __pread_chk(int fd, void *into, size_t size, off_t from, size_t room)
{
    return pread(fd, into, size, from);
}

/* Check that a file that was whole once is not taken for a part, and swept, because the disk did not answer when we
 * looked. */
static void test_takes_in_unread(Fixture *fixture, gconstpointer data)
{
    bool met = true;
    unsigned faults = 0;
    for (int at = 0; met; at++, faults += met) {
        g_free(fixture_store(fixture, "in", "damaged"));
        g_autofree char *ready = fixture_files(fixture, "in", ".msg");
        g_autofree char *path = fixture_file_path(fixture, "in", ready);
        g_autofree char *text = NULL;
        gsize length = 0;
        unsigned swept;
        g_assert_true(g_file_get_contents(path, &text, &length, NULL));
        text[length / 2] ^= 0x10;
        g_assert_true(g_file_set_contents(path, text, (gssize)length, NULL));
        fixture_set_state(fixture, ".msg", ".tmp");
        g_autofree char *unfinished = fixture_files(fixture, "in", ".tmp");
        make_old(fixture, unfinished);
        reads_until_fault = at;
        recover_sweep(spool_queue(fixture->spool, "in", NULL), (Slice){0, 1}, 3600 * INT64_C(1000000), &swept, NULL);
        met = reads_until_fault < 0;
        reads_until_fault = -1;
        g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 1);
        g_assert_cmpuint(fixture_count(fixture, "in", ".psv"), ==, 0); /* it can be read again */
        if (fixture_count(fixture, "in", ".tmp") > 0)
            make_old(fixture, unfinished); /* a part of it may have been written again */
        recover_sweep(spool_queue(fixture->spool, "in", NULL), (Slice){0, 1}, 3600 * INT64_C(1000000), &swept, NULL);
        g_assert_cmpuint(fixture_count(fixture, "in", ".msg"), ==, 1);
        fixture_tear_down(fixture, NULL);
        fixture_set_up(fixture, NULL);
    }
    g_assert_cmpuint(faults, >, 4);
}

static void test_stray(Fixture *fixture, gconstpointer data)
{
    g_assert_true(hop_until(fixture, CALLS_COMMIT));
    fixture_lose(fixture, "in", ".done");
    RecoverReport report = fixture_recover(fixture, "in", true);
    g_assert_cmpuint(report.strays, ==, 3);
    g_assert_cmpuint(total(fixture, ""), ==, 0);
    g_assert_cmpuint(fixture_count(fixture, "shunt", ".psv"), ==, 3);
}

/* Recovery that dies while it sets a stray aside leaves a part of it, which
 * must not be taken for the whole. */
static void test_stray_every_step(Fixture *fixture, gconstpointer data)
{
    g_assert_true(hop_until(fixture, CALLS_COMMIT));
    fixture_lose(fixture, "in", ".done");
    g_assert_nonnull(spool_queue(fixture->spool, "shunt", NULL));
    bool unclean = true;
    for (int dies = 0; unclean; dies++) {
        Stop stop = {.countdown = dies};
        RecoverReport report = {0};
        fs_set_hook(stop_at, &stop);
        g_assert_true(recover_slice(spool_queue(fixture->spool, "in", NULL), (Slice){0, 1}, true, &report, NULL));
        fs_set_hook(NULL, NULL);
        unclean = total(fixture, "") > 0; /* nothing hangs on them: they are left for another time */
    }
    g_assert_cmpuint(total(fixture, ""), ==, 0);
    g_assert_cmpuint(fixture_count(fixture, "shunt", ""), ==, 3);
    g_autofree char *kept = fixture_files(fixture, "shunt", ".psv");
    g_auto(GStrv) files = g_strsplit(kept, ",", -1);
    g_assert_cmpuint(g_strv_length(files), ==, 3);
    for (char **name = files; *name; name++) {
        g_autoptr(Entry) entry = entry_open(spool_queue(fixture->spool, "shunt", NULL), *name, NULL);
        g_assert_nonnull(entry);
    }
}

/* Another slice's children are its owner's business, and so are another queue's. */
static void other_slice(Fixture *fixture, const char *state)
{
    g_autofree char *file = fixture_files(fixture, "in", state);
    EntryName name;
    g_assert_true(name_parse(file, &name, NULL));
    unsigned owner = slice_of(name.hash, 2);
    RecoverReport report = {0};
    Queue *in = spool_queue(fixture->spool, "in", NULL), *out = spool_queue(fixture->spool, "out", NULL);
    g_assert_true(recover_slice(in, (Slice){1 - owner, 2}, true, &report, NULL));
    g_assert_true(recover_slice(out, (Slice){0, 1}, true, &report, NULL));
    g_assert_cmpuint(report.strays, ==, 0);
    g_assert_cmpuint(total(fixture, ".tmp"), ==, 3);
    g_assert_cmpuint(fixture_count(fixture, "in", state), ==, 1);
    g_assert_true(recover_slice(in, (Slice){owner, 2}, true, &report, NULL));
}

static void test_other_slice(Fixture *fixture, gconstpointer data)
{
    g_assert_true(hop_until(fixture, CALLS_COMMIT));
    other_slice(fixture, ".done");
    g_assert_cmpuint(total(fixture, ".msg"), ==, 3);
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 0);
    fixture_tear_down(fixture, NULL);
    fixture_set_up(fixture, NULL);
    g_assert_true(hop_until(fixture, CALLS_CHILDREN));
    other_slice(fixture, ".bak");
    g_assert_cmpuint(total(fixture, ""), ==, 0);
    g_assert_cmpuint(fixture_count(fixture, "in", ".msg"), ==, 1);
}

/* True after a sync of the directory in which something was set aside. */
static int see_preserved(const FsEvent *event, void *data)
{
    static int dir = -1;
    bool *durable = data;
    if (event->call == FS_RENAME && g_str_has_suffix(event->to, ".psv"))
        dir = event->fd;
    else if (event->call == FS_SYNC_DIR && event->fd == dir)
        *durable = true;
    return 0;
}

/* After each crash it waits for longer, so that others go before it. */
static void test_preserves(Fixture *fixture, gconstpointer data)
{
    g_autofree char *stored = fixture_store(fixture, "in", "m");
    EntryName name;
    g_assert_true(name_parse(stored, &name, NULL));
    for (unsigned crash = 1; crash <= RECOVER_CRASHES_LIMIT; crash++) {
        int64_t before = clock_now();
        g_autoptr(Inbox) inbox = fixture_inbox(fixture, "in");
        g_autoptr(Entry) entry = inbox_claim_hash(inbox, name.hash, 0, NULL);
        g_assert_cmpuint(entry_crashes(entry), ==, crash - 1);
        int64_t wait = entry_name(entry)->due - before;
        g_assert_cmpint(wait, >=, crash == 1 ? -60 * CLOCK_SECOND : RECOVER_CRASH_DELAY << (crash - 2));
        g_assert_cmpint(wait, <=, crash == 1 ? 0 : 60 * CLOCK_SECOND);
        g_assert_true(entry_begin_work(entry, NULL)); /* and died with it in hand */
    }
    bool durable = false;
    fs_set_hook(see_preserved, &durable);
    RecoverReport report = fixture_recover(fixture, "in", true);
    fs_set_hook(NULL, NULL);
    g_assert_true(durable);
    g_assert_cmpuint(report.preserved, ==, 1);
    g_assert_cmpuint(fixture_count(fixture, "in", ".psv"), ==, 1);
}

static void test_sweeps(Fixture *fixture, gconstpointer data)
{
    g_free(fixture_store(fixture, "in", "old"));
    fixture_set_state(fixture, ".msg", ".tmp");
    g_autofree char *old = fixture_files(fixture, "in", ".tmp");
    g_autofree char *path = fixture_file_path(fixture, "in", old);
    g_assert_cmpint(truncate(path, 100), ==, 0);
    g_free(fixture_store(fixture, "in", "young"));
    unsigned swept;
    Queue *in = spool_queue(fixture->spool, "in", NULL);
    g_assert_true(recover_sweep(in, (Slice){0, 1}, 3600 * INT64_C(1000000), &swept, NULL));
    g_assert_cmpuint(swept, ==, 0);
    struct utimbuf times = {.actime = 1000000000, .modtime = 1000000000};
    g_assert_cmpint(utime(path, &times), ==, 0);
    EntryName name;
    g_assert_true(name_parse(old, &name, NULL));
    g_assert_true(recover_sweep(in, (Slice){1 - slice_of(name.hash, 2), 2}, 3600 * INT64_C(1000000), &swept, NULL));
    g_assert_cmpuint(swept, ==, 0); /* its owner will */
    g_assert_true(recover_sweep(in, (Slice){0, 1}, 3600 * INT64_C(1000000), &swept, NULL));
    g_assert_cmpuint(swept, ==, 1);
    g_assert_cmpuint(fixture_count(fixture, "in", ".msg"), ==, 1);
    g_assert_cmpuint(fixture_count(fixture, "in", ""), ==, 1);
    /* A whole file may have been promised, however old it is. */
    fixture_set_state(fixture, ".msg", ".tmp");
    g_autofree char *whole = fixture_files(fixture, "in", ".tmp");
    make_old(fixture, whole);
    g_assert_true(recover_sweep(in, (Slice){0, 1}, 3600 * INT64_C(1000000), &swept, NULL));
    g_assert_cmpuint(swept, ==, 0);
    g_assert_cmpuint(fixture_count(fixture, "in", ".msg"), ==, 1);
}

#define ADD(path, function) g_test_add(path, Fixture, NULL, fixture_set_up, function, fixture_tear_down)

SUITE("recover")
{
    g_test_init(&argc, &argv, NULL);
    ADD("/recover/every step", test_every_step);
    ADD("/recover/every step, parents together", test_every_step_together);
    ADD("/recover/rolls forward", test_rolls_forward);
    ADD("/recover/rolls forward the rest", test_rolls_forward_rest);
    ADD("/recover/rolls back", test_rolls_back);
    ADD("/recover/rolls back ready", test_rolls_back_other);
    ADD("/recover/takes in", test_takes_in);
    ADD("/recover/takes in damaged", test_takes_in_damaged);
    ADD("/recover/takes in what could not be read", test_takes_in_unread);
    ADD("/recover/takes in later", test_takes_in_later);
    ADD("/recover/takes in once", test_takes_in_once);
    ADD("/recover/stray", test_stray);
    ADD("/recover/stray, every step", test_stray_every_step);
    ADD("/recover/other slice", test_other_slice);
    ADD("/recover/preserves", test_preserves);
    ADD("/recover/sweeps", test_sweeps);
    return g_test_run();
}
