/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Figures of runners: they add up in each range, old ones are forgotten, and they outlive the process. */
#include "master/history.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "master/supervisor.h"
#include "master/worker.h"
#include "t/master/timers.h"
#include "t/suite.h"

#define MINUTE (60 * CLOCK_SECOND)
#define NOW (INT64_C(1795860000) * CLOCK_SECOND) /* a multiple of six hours */

typedef struct Fixture {
    char *directory;
    int fd;
    History *history;
} Fixture;

static void set_up(Fixture *fixture, const void *data)
{
    fixture->directory = g_dir_make_tmp("history-XXXXXX", NULL);
    fixture->fd = open(fixture->directory, O_RDONLY | O_DIRECTORY);
    fixture->history = history_open(fixture->fd);
}

static void tear_down(Fixture *fixture, const void *data)
{
    g_autofree char *path = g_build_filename(fixture->directory, "history", NULL);
    history_free(fixture->history);
    g_unlink(path);
    g_rmdir(fixture->directory);
    close(fixture->fd);
    g_free(fixture->directory);
}

static void again(Fixture *fixture)
{
    history_free(fixture->history);
    fixture->history = history_open(fixture->fd);
}

static void add(Fixture *fixture, int64_t now, const char *runner, uint64_t done, uint64_t backlog, uint64_t oldest)
{
    const HistorySample sample = {runner, done, backlog, oldest};
    history_add(fixture->history, now, &sample, 1, &(Delays){0});
}

/* The last figures of a runner as text, "- 3 4". */
static void expect(const Fixture *fixture, const char *range, int64_t now, const char *runner, const char *figure,
                   const char *wanted)
{
    json_auto_t *all = history_json(fixture->history, range, now);
    const json_t *array = json_object_get(json_object_get(json_object_get(all, "runners"), runner), figure);
    g_autoptr(GString) found = g_string_new(NULL);
    for (size_t at = MAX(json_array_size(array), 3) - 3; at < json_array_size(array); at++) {
        const json_t *one = json_array_get(array, at);
        g_string_append(found, found->len > 0 ? " " : "");
        if (json_is_null(one))
            g_string_append(found, "-");
        else
            g_string_append_printf(found, "%d", (int)json_integer_value(one));
    }
    g_assert_cmpstr(found->str, ==, wanted);
}

static void test_ranges(Fixture *fixture, const void *data)
{
    add(fixture, NOW, "in", 5, 2, 9);
    add(fixture, NOW + 30 * CLOCK_SECOND, "in", 1, 7, 3);
    add(fixture, NOW + MINUTE, "in", 2, 1, 0);
    add(fixture, NOW + MINUTE, "out", 40, 0, 0);
    expect(fixture, "hour", NOW + MINUTE, "in", "done", "- 6 2");
    expect(fixture, "hour", NOW + MINUTE, "in", "backlog", "- 7 1");
    expect(fixture, "hour", NOW + MINUTE, "in", "oldest", "- 9 0");
    expect(fixture, "hour", NOW + MINUTE, "out", "done", "- 0 40");
    expect(fixture, "day", NOW + MINUTE, "in", "done", "- - 8");
    expect(fixture, "month", NOW + MINUTE, "in", "backlog", "- - 7");
    g_assert_null(history_json(fixture->history, "year", NOW));
    /* A minute without a sample, then the same place an hour later. */
    expect(fixture, "hour", NOW + 2 * MINUTE, "in", "done", "6 2 -");
    add(fixture, NOW + 60 * MINUTE, "in", 3, 0, 0);
    expect(fixture, "hour", NOW + 60 * MINUTE, "in", "done", "- - 3");
    expect(fixture, "month", NOW + 60 * MINUTE, "in", "done", "- - 11");
}

static void test_file(Fixture *fixture, const void *data)
{
    add(fixture, NOW, "in", 5, 2, 9);
    again(fixture);
    expect(fixture, "hour", NOW, "in", "done", "- - 5");
    add(fixture, NOW, "in", 1, 0, 0);
    expect(fixture, "hour", NOW, "in", "done", "- - 6");
    /* A damaged one is begun anew: cut, or with a name without end. */
    int file = openat(fixture->fd, "history", O_WRONLY);
    g_assert_cmpint(ftruncate(file, 1000), ==, 0);
    again(fixture);
    expect(fixture, "hour", NOW, "in", "done", "");
    add(fixture, NOW, "in", 4, 0, 0);
    again(fixture);
    expect(fixture, "hour", NOW, "in", "done", "- - 4");
    char junk[2000];
    memset(junk, 'x', sizeof junk);
    g_assert_cmpint(pwrite(file, junk, sizeof junk, 16), ==, sizeof junk);
    close(file);
    again(fixture);
    expect(fixture, "hour", NOW, "in", "done", "");
}

static void add_delay(Fixture *fixture, int64_t now, DelayUntil until, int64_t delay, uint64_t recipients)
{
    Delays delays = {0};
    delays_add(&delays, until, delay, recipients);
    history_add(fixture->history, now, NULL, 0, &delays);
}

/* "HALF MOST" of the last period, or of all of them, to a tenth of a second; "-" where there are none. */
static void expect_delays(const Fixture *fixture, const char *range, int64_t now, const char *until, bool all,
                          const char *wanted)
{
    json_auto_t *history = history_json(fixture->history, range, now);
    const json_t *delays = json_object_get(json_object_get(history, "delays"), until);
    const json_t *half = json_object_get(delays, all ? "all_half" : "half");
    const json_t *most = json_object_get(delays, all ? "all_most" : "most");
    if (!all) {
        g_assert_cmpuint(json_array_size(half), ==, json_array_size(most));
        half = json_array_get(half, json_array_size(half) - 1);
        most = json_array_get(most, json_array_size(most) - 1);
    }
    g_autofree char *found = json_is_null(half) && json_is_null(most)
                                 ? g_strdup("-")
                                 : g_strdup_printf("%.1f %.1f", json_real_value(half), json_real_value(most));
    g_assert_cmpstr(found, ==, wanted);
}

/* How long mail took is kept by period, each kind for itself, until its time comes again. */
static void test_delays(Fixture *fixture, const void *data)
{
    add_delay(fixture, NOW, DELAY_UNTIL_TRIED, 3 * CLOCK_SECOND, 100); /* above 2 s, up to 4 s */
    expect_delays(fixture, "hour", NOW, "tried", false, "3.0 4.0");
    expect_delays(fixture, "hour", NOW, "settled", false, "-");
    add_delay(fixture, NOW + MINUTE, DELAY_UNTIL_TRIED, 50 * CLOCK_SECOND, 100); /* above 32 s, up to 64 s */
    expect_delays(fixture, "hour", NOW + MINUTE, "tried", false, "48.0 63.7");
    expect_delays(fixture, "hour", NOW + MINUTE, "tried", true, "4.0 63.4");
    expect_delays(fixture, "day", NOW + MINUTE, "tried", false, "4.0 63.4");
    add_delay(fixture, NOW + MINUTE, DELAY_UNTIL_SETTLED, 50 * CLOCK_SECOND, 1);
    again(fixture);
    expect_delays(fixture, "month", NOW + MINUTE, "settled", true, "48.0 63.7");
    expect_delays(fixture, "hour", NOW + 2 * MINUTE, "tried", false, "-");
    add_delay(fixture, NOW + 60 * MINUTE, DELAY_UNTIL_SETTLED, CLOCK_SECOND, 1);
    expect_delays(fixture, "hour", NOW + 60 * MINUTE, "tried", false, "-");
    expect_delays(fixture, "month", NOW + 60 * MINUTE, "tried", true, "4.0 63.4");
}

static void test_bounds(Fixture *fixture, const void *data)
{
    for (int i = 0; i < 2 * HISTORY_RUNNERS; i++) {
        g_autofree char *name = g_strdup_printf("runner-with-a-name-that-is-long-%d", i);
        add(fixture, NOW, name + (i % 2) * 12, UINT64_MAX, UINT64_MAX, UINT64_MAX);
    }
    json_auto_t *all = history_json(fixture->history, "hour", NOW);
    g_assert_cmpuint(json_object_size(json_object_get(all, "runners")), ==, HISTORY_RUNNERS);
    /* Without a file they are kept nevertheless. */
    history_free(fixture->history);
    fixture->history = history_open(-1);
    add(fixture, NOW, "in", 2, 0, 0);
    expect(fixture, "day", NOW, "in", "done", "- - 2");
}

/* ---- each entry counts once: two runners, two processes of one, and a process that was started anew ---- */

typedef struct Followed {
    char *directory;
    PlanRunner plans[2];
    Worker workers[2][2];
    Group groups[2];
    Master master;
    History *history;
} Followed;

static void follow(Followed *fixture, const void *data)
{
    (void)data;
    *fixture = (Followed){.plans = {{.name = (char *)"in"}, {.name = (char *)"out"}}};
    fixture->directory = g_dir_make_tmp("history-XXXXXX", NULL);
    fixture->master.base = event_base_new();
    fixture->master.state_dir = open(fixture->directory, O_RDONLY | O_DIRECTORY);
    fixture->master.groups = g_ptr_array_new();
    for (unsigned at = 0; at < 2; at++) {
        Group *group = &fixture->groups[at];
        *group = (Group){.master = &fixture->master, .plan = &fixture->plans[at], .workers = g_ptr_array_new()};
        for (unsigned instance = 0; instance < 2; instance++) {
            fixture->workers[at][instance] = (Worker){.group = group, .instance = instance, .starts = 1};
            g_ptr_array_add(group->workers, &fixture->workers[at][instance]);
        }
        g_ptr_array_add(fixture->master.groups, group);
    }
    fixture->history = history_open(fixture->master.state_dir);
    history_follow(fixture->history, &fixture->master);
}

static void stop_following(Followed *fixture, const void *data)
{
    (void)data;
    history_free(fixture->history);
    event_base_free(fixture->master.base);
    g_ptr_array_unref(fixture->master.groups);
    for (unsigned at = 0; at < 2; at++)
        g_ptr_array_unref(fixture->groups[at].workers);
    close(fixture->master.state_dir);
    g_autofree char *path = g_build_filename(fixture->directory, "history", NULL);
    g_unlink(path);
    g_rmdir(fixture->directory);
    g_free(fixture->directory);
}

/* Have the processes of a runner say how much each has done since its start. */
static void have_done(Followed *fixture, unsigned runner, uint64_t first, uint64_t second)
{
    fixture->workers[runner][0].watch.beat.done = first;
    fixture->workers[runner][1].watch.beat.done = second;
}

/* The entries of a runner in the last hour. */
static void expect_done(const Followed *fixture, const char *runner, json_int_t wanted)
{
    json_auto_t *all = history_json(fixture->history, "hour", clock_now());
    const json_t *array = json_object_get(json_object_get(json_object_get(all, "runners"), runner), "done"), *one;
    json_int_t sum = 0;
    size_t at;
    json_array_foreach(array, at, one)
        sum += json_integer_value(one);
    g_assert_cmpint(sum, ==, wanted);
}

static void test_once(Followed *fixture, const void *data)
{
    (void)data;
    have_done(fixture, 0, 5, 10);
    timers_run_out(fixture->master.base, 1);
    expect_done(fixture, "in", 15);
    expect_done(fixture, "out", 0);
    timers_run_out(fixture->master.base, 1); /* nothing was done meanwhile */
    expect_done(fixture, "in", 15);
    have_done(fixture, 0, 7, 10);
    have_done(fixture, 1, 1, 1);
    timers_run_out(fixture->master.base, 1);
    expect_done(fixture, "in", 17);
    expect_done(fixture, "out", 2);
    /* A new process counts from its own start, and one that tells less than before has done nothing. */
    fixture->workers[0][0].starts++;
    have_done(fixture, 0, 4, 9);
    timers_run_out(fixture->master.base, 1);
    expect_done(fixture, "in", 21);
    expect_done(fixture, "out", 2);
}

SUITE("history")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/history/ranges", Fixture, NULL, set_up, test_ranges, tear_down);
    g_test_add("/history/file", Fixture, NULL, set_up, test_file, tear_down);
    g_test_add("/history/delays", Fixture, NULL, set_up, test_delays, tear_down);
    g_test_add("/history/bounds", Fixture, NULL, set_up, test_bounds, tear_down);
    g_test_add("/history/each entry is counted once", Followed, NULL, follow, test_once, stop_following);
    return g_test_run();
}
