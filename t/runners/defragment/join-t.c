/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Joins that fail: the entry that is to join its set is set aside, or cannot join it now. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "t/runners/defragment/bench.h"

#define ONE "Subject: whole\r\nMessage-ID: <w@example.org>\r\nContent-Type: text/plain\r\n\r\none\r\n"
#define TWO "two\r\n"
#define DAY (86400 * CLOCK_SECOND)

static void set_up(Bench *bench, gconstpointer data)
{
    bench_set_up(bench, "");
}

static void tear_down(Bench *bench, gconstpointer data)
{
    bench_tear_down(bench);
}

/* The index says that the last part's entry joined the set; but that was set aside, so it did not. */
static void test_set_aside(Bench *bench, gconstpointer data)
{
    bench_send(bench, "i", 1, 2, ONE);
    bench_work(bench);
    g_autofree char *first = fixture_files(&bench->fixture, "defragment", ".msg");
    bench_send(bench, "i", 2, 2, TWO);
    g_autofree char *both = fixture_files(&bench->fixture, "defragment", ".msg");
    g_auto(GStrv) names = g_strsplit(both, ",", -1);
    const char *joiner = strcmp(names[0], first) == 0 ? names[1] : names[0];
    bench_join(bench, joiner, 2);
    g_autofree char *from = fixture_file_path(&bench->fixture, "defragment", joiner);
    g_autofree char *file = g_strdup_printf("%.*s.psv", NAME_LENGTH, joiner);
    g_autofree char *preserved = fixture_file_path(&bench->fixture, "defragment", file);
    g_autofree char *held = fixture_file_path(&bench->fixture, "hold", joiner);
    const char *const aside[] = {preserved, held};
    for (size_t i = 0; i < G_N_ELEMENTS(aside); i++) {
        g_assert_cmpint(rename(i == 0 ? from : aside[i - 1], aside[i]), ==, 0);
        bench_work(bench);
        bench_assert_state(bench, FRAGMENT_OPEN, false, 1);
        bench_assert_waiting(bench, 1, DAY, 2 * DAY);
        if (i == 0)
            bench_join(bench, joiner, 2);
    }
    g_assert_cmpint(rename(held, from), ==, 0);
    bench_work(bench);
    bench_assert_joined(bench, "one\r\ntwo\r\n");
}

/* The same, in shunt, where only the metadata says what the entry was. */
static void test_shunted(Bench *bench, gconstpointer data)
{
    static const char shunted[] = "0000000001.000001+bcdef0123456789abcdef0123456789abcdef012.msg";
    bench_send(bench, "i", 1, 2, ONE);
    bench_work(bench);
    json_t *meta = json_object();
    meta_set_string(meta, META_LIST, BENCH_LIST);
    json_t *fault = json_object();
    meta_set_string(fault, "name", shunted);
    json_object_set_new(meta, META_FAULT, fault);
    Intake aside = {.draft = draft_new("shunt", meta)};
    g_assert_true(intake_store(bench->fixture.spool, &aside, 1, false));
    draft_free(aside.draft);
    bench_join(bench, shunted, 2);
    bench_work(bench);
    bench_assert_state(bench, FRAGMENT_OPEN, false, 1);
    bench_assert_waiting(bench, 1, DAY, 2 * DAY);
    bench_send(bench, "i", 2, 2, TWO);
    bench_work(bench);
    bench_assert_joined(bench, "one\r\ntwo\r\n");
}

/* Says what a running runner does; each step is taken when there is nothing to do. */
typedef struct Live {
    Bench *bench;
    unsigned step;
    bool sent;
} Live;

/* Set aside, and all that follows from it done: the other part waits again. */
static bool is_shunted(Bench *bench)
{
    g_autofree char *file = fixture_files(&bench->fixture, "defragment", ".msg");
    EntryName name;
    g_autoptr(FragmentSet) set = bench_set(bench);
    return set->state == FRAGMENT_OPEN && bench_count(bench, "shunt") == 1 && name_parse(file, &name, NULL) &&
           name.due > clock_now() + DAY;
}

static bool after_shunt(void *data)
{
    Live *live = data;
    if (live->sent)
        return bench_count(live->bench, "in") == 0 && live->step++ < 1000;
    if (is_shunted(live->bench)) {
        bench_send(live->bench, "i", 2, 2, TWO);
        live->sent = true;
    }
    g_usleep(10000);
    return live->step++ < 1000;
}

static void send_both(Bench *bench)
{
    bench_send(bench, "i", 1, 2, ONE);
    bench_send(bench, "i", 2, 2, TWO);
}

/* Check that a refusal of the whole does not pass by waiting: the runner sets the last part aside, and the set is open
 * again while it runs. */
static void test_shunted_live(Bench *bench, gconstpointer data)
{
    Live live = {.bench = bench};
    BenchRun run = {.refusal = EEXIST, .feed = after_shunt, .data = &live};
    send_both(bench);
    g_assert_true(bench_run(bench, &run));
    g_assert_cmpuint(bench_count(bench, "shunt"), ==, 1);
    bench_assert_joined(bench, "one\r\ntwo\r\n");
    bench_assert_state(bench, FRAGMENT_JOINED, true, 2);
}

/* The same, when it dies before it could say so, or before it set anything aside. */
static void test_shunted_and_killed(Bench *bench, gconstpointer data)
{
    unsigned kill_at = 0, shunted = 0;
    for (bool whole = false; !whole; kill_at++) {
        BenchRun run = {.refusal = EEXIST, .kill_at = kill_at + 1};
        send_both(bench);
        whole = bench_run(bench, &run);
        bench_work(bench);
        bench_work(bench); /* the other part, if it was woken at the end of that */
        if (bench_count(bench, "shunt") == 0) {
            bench_assert_joined(bench, "one\r\ntwo\r\n");
        } else {
            shunted++;
            bench_assert_state(bench, FRAGMENT_OPEN, false, 1);
            bench_assert_waiting(bench, 1, DAY, 2 * DAY);
        }
        bench_tear_down(bench);
        bench_set_up(bench, "");
    }
    g_test_message("%u moments, set aside %u times", kill_at, shunted);
    g_assert_cmpuint(shunted, >, 2);
    g_assert_cmpuint(kill_at, >, shunted);
}

static bool until_joined(void *data)
{
    Live *live = data;
    g_usleep(100000);
    return bench_count(live->bench, "in") == 0 && live->step++ < 300;
}

/* No room for the whole: the set waits with its last part, which joins it later. */
static void test_disk_full(Bench *bench, gconstpointer data)
{
    Live live = {.bench = bench};
    BenchRun run = {.refusal = ENOSPC, .feed = until_joined, .data = &live};
    send_both(bench);
    g_assert_true(bench_run(bench, &run));
    bench_assert_joined(bench, "one\r\ntwo\r\n");
    bench_assert_state(bench, FRAGMENT_JOINED, true, 2);
}

#define ADD(name, function) g_test_add("/defragment/join/" name, Bench, NULL, set_up, function, tear_down)

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    if (!g_getenv("TMPDIR") && access("/dev/shm", W_OK | X_OK) == 0)
        g_setenv("TMPDIR", "/dev/shm", TRUE);
    ADD("set-aside", test_set_aside);
    ADD("shunted", test_shunted);
    ADD("shunted-live", test_shunted_live);
    ADD("shunted-and-killed", test_shunted_and_killed);
    ADD("disk-full", test_disk_full);
    return g_test_run();
}
