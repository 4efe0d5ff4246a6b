/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * A set of six parts in every order of arrival, killed at every moment: before each call that changes or syncs a
 * file, and on both sides of each transaction. The sender repeats what was not acknowledged. Whatever happens, one
 * whole comes out, and nothing stays behind. Three ways: all parts in one batch, one at a time, and in two slices that
 * become one.
 *
 * All 720 orders and moments: -m thorough (an hour or more); with LISTRUNNER_EXHAUSTIVE=A/B every B'th order from A.
 * Else four orders, and each third moment; under valgrind (LISTRUNNER_VALGRIND) one order, and each sixth. A kill is no
 * power cut, so the files lie in memory where that is possible.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "t/runners/defragment/bench.h"

#define PARTS 6
#define ORDERS 720
#define WHOLE "Subject: whole\r\nMessage-ID: <whole@example.org>\r\nContent-Type: text/plain\r\n\r\none\r\ntwo\r\n"

typedef enum Way { WAY_BATCH, WAY_SINGLE, WAY_RESCALE, WAYS } Way;

/* Holds what the sender knows, in memory shared with the runner's process. */
typedef struct Sender {
    unsigned acknowledged;
    unsigned moments;
} Sender;

typedef struct Trial {
    Bench *bench;
    Sender *sender;
    int order[PARTS];
    Way way;
    char *parts[PARTS];
} Trial;

/* The number'th permutation of 1 .. PARTS. */
static void make_order(unsigned number, int order[PARTS])
{
    int left[PARTS] = {1, 2, 3, 4, 5, 6};
    for (unsigned i = 0, remain = PARTS; i < PARTS; i++, remain--) {
        unsigned at = number % remain;
        number /= remain;
        order[i] = left[at];
        memmove(left + at, left + at + 1, (remain - at - 1) * sizeof *left);
    }
}

/* Parts that cut the header, an empty one among them. */
static void make_parts(Trial *trial)
{
    static const int cuts[PARTS + 1] = {0, 5, 30, 30, 74, 80, (int)sizeof WHOLE - 1};
    for (int i = 0; i < PARTS; i++) {
        g_autofree char *body = g_strndup(WHOLE + cuts[i], (gsize)(cuts[i + 1] - cuts[i]));
        trial->parts[i] = bench_part("six@example.org", i + 1, i == PARTS - 1 ? PARTS : 0, body);
    }
}

/* Sends the next part; the count goes up when it is acknowledged. */
static bool send_next(Trial *trial, Spool *spool)
{
    if (trial->sender->acknowledged >= PARTS)
        return false;
    const char *octets = trial->parts[trial->order[trial->sender->acknowledged] - 1];
    g_assert_true(bench_put(trial->bench, spool, BENCH_SENDER, octets));
    trial->sender->acknowledged++;
    return true;
}

/* In the runner's process. */
static bool feed(void *data)
{
    Trial *trial = data;
    g_autoptr(Spool) spool = spool_open(trial->bench->fixture.path, NULL);
    bool more = send_next(trial, spool);
    while (trial->way == WAY_BATCH && send_next(trial, spool))
        more = true;
    return more;
}

/* One run of every slice. True: nobody was killed. */
static bool run_once(Trial *trial, unsigned slices, unsigned kill_at)
{
    bool whole = true;
    for (unsigned slice = 0; slice < slices; slice++) {
        BenchRun run = {.slice = slice, .slices = slices, .kill_at = kill_at, .feed = feed, .data = trial,
                        .moments = &trial->sender->moments};
        whole = bench_run(trial->bench, &run) && whole;
    }
    return whole;
}

static void check(Trial *trial)
{
    static const char *const empty[] = {"defragment", "shunt", "corrupt"};
    for (size_t i = 0; i < G_N_ELEMENTS(empty); i++)
        g_assert_cmpuint(bench_count(trial->bench, empty[i]), ==, 0);
    g_assert_cmpuint(bench_count(trial->bench, "in"), ==, 1);
    g_autoptr(Entry) entry = bench_only(trial->bench, "in");
    g_autofree char *message = fixture_text(entry), *body = bench_body(entry);
    g_assert_cmpstr(body, ==, "one\r\ntwo\r\n");
    g_assert_nonnull(strstr(message, "\r\nSubject: whole\r\nMessage-ID: <whole@example.org>\r\nContent-Type: "));
}

/* Back to an empty spool and index. */
static void clean(Trial *trial)
{
    static const char *const queues[] = {"in", "defragment"};
    for (size_t i = 0; i < G_N_ELEMENTS(queues); i++) {
        g_autofree char *files = fixture_files(&trial->bench->fixture, queues[i], "");
        g_auto(GStrv) names = g_strsplit(files, ",", -1);
        for (char **name = names; *name && **name; name++) {
            g_autofree char *path = fixture_file_path(&trial->bench->fixture, queues[i], *name);
            unlink(path);
        }
    }
    g_autoptr(Store) store = bench_store(trial->bench);
    g_assert_true(fragment_forget(store, G_MAXINT64, NULL));
    trial->sender->acknowledged = 0;
}

/* The same with a kill at one moment. Parts put but never acknowledged by their writer are swept by hand. */
static bool try_moment(Trial *trial, unsigned kill_at)
{
    unsigned slices = trial->way == WAY_RESCALE ? 2 : 1;
    bool whole = run_once(trial, slices, kill_at);
    if (!whole || slices > 1)
        g_assert_true(run_once(trial, 1, 0));
    g_autofree char *unfinished = fixture_files(&trial->bench->fixture, "defragment", ".tmp");
    g_auto(GStrv) names = g_strsplit(unfinished, ",", -1);
    for (char **name = names; *name && **name; name++) {
        g_assert_cmpuint(strlen(*name), ==, NAME_LENGTH + 4); /* untagged: of intake */
        g_autofree char *path = fixture_file_path(&trial->bench->fixture, "defragment", *name);
        unlink(path);
    }
    check(trial);
    clean(trial);
    return whole;
}

static void test_orders(gconstpointer data)
{
    Bench bench;
    Trial trial = {.bench = &bench, .way = GPOINTER_TO_UINT(data)};
    const char *share = g_getenv("LISTRUNNER_EXHAUSTIVE");
    bool valgrind = g_getenv("LISTRUNNER_VALGRIND") != NULL;
    unsigned stride = valgrind ? ORDERS : 180, first = 0, step = g_test_thorough() ? 1 : valgrind ? 6 : 3, runs = 0;
    if (g_test_thorough() && (!share || sscanf(share, "%u/%u", &first, &stride) != 2))
        stride = 1;
    bench_set_up(&bench, "");
    trial.sender = mmap(NULL, sizeof(Sender), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    g_assert_true(trial.sender != MAP_FAILED);
    *trial.sender = (Sender){0};
    make_parts(&trial);
    for (unsigned number = first; number < ORDERS; number += stride) {
        make_order(number, trial.order);
        bool whole = false;
        for (unsigned kill_at = 1 + number / stride % step; !whole; kill_at += step, runs++)
            whole = try_moment(&trial, kill_at);
    }
    g_test_message("%u runs, at most %u moments in one", runs, trial.sender->moments);
    g_assert_cmpuint(trial.sender->moments, >, 20);
    for (int i = 0; i < PARTS; i++)
        g_free(trial.parts[i]);
    munmap(trial.sender, sizeof(Sender));
    bench_tear_down(&bench);
}

/* A set of so many parts that its entries go in several portions, killed here and there while they do. */
static void test_many(void)
{
    enum { MANY = 3 * HOP_PORTION, STEP = 29 };
    Bench bench;
    Sender *sender = mmap(NULL, sizeof(Sender), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    g_assert_true(sender != MAP_FAILED);
    bench_set_up(&bench, "");
    Trial trial = {.bench = &bench, .sender = sender};
    unsigned kills = 0, last = 0;
    for (unsigned kill_at = 0; kill_at <= last; kill_at = kill_at == 0 ? last - MANY : kill_at + STEP) {
        for (int i = 1; i <= MANY; i++)
            bench_send(&bench, "many@example.org", i, MANY, i == 1 ? WHOLE : "");
        BenchRun run = {.kill_at = kill_at, .moments = &sender->moments};
        bool whole = bench_run(&bench, &run);
        last = MAX(last, sender->moments);
        kills += !whole;
        if (!whole)
            bench_work(&bench);
        check(&trial);
        clean(&trial);
    }
    g_test_message("%u kills, the last of %u moments", kills, last);
    g_assert_cmpuint(kills, >=, MANY / STEP);
    bench_tear_down(&bench);
    munmap(sender, sizeof(Sender));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    if (!g_getenv("TMPDIR") && access("/dev/shm", W_OK | X_OK) == 0)
        g_setenv("TMPDIR", "/dev/shm", TRUE);
    g_test_add_data_func("/defragment/crash/batch", GUINT_TO_POINTER(WAY_BATCH), test_orders);
    g_test_add_data_func("/defragment/crash/single", GUINT_TO_POINTER(WAY_SINGLE), test_orders);
    g_test_add_data_func("/defragment/crash/rescale", GUINT_TO_POINTER(WAY_RESCALE), test_orders);
    g_test_add_func("/defragment/crash/many", test_many);
    return g_test_run();
}
