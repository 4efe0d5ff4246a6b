/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/watch.h"

#include <signal.h>
#include <string.h>

#include "t/suite.h"

#define FULL "beat progress=12 done=3 backlog=4 oldest=1700000000.000007 holding=1700000000.000007+ab"

static bool feed(Watch *watch, const char *text, int64_t now)
{
    return watch_feed(watch, text, strlen(text), now);
}

/* Have the child say one line; return what is known of it then. */
static const Beat *said(Watch *watch, const char *line)
{
    g_autofree char *text = g_strconcat(line, "\n", NULL);
    feed(watch, text, 1);
    return &watch->beat;
}

static void test_beat(void)
{
    Watch watch;
    watch_init(&watch, 0);
    const Beat *beat = said(&watch, FULL);
    g_assert_cmpuint(beat->progress, ==, 12);
    g_assert_cmpuint(beat->done, ==, 3);
    g_assert_cmpuint(beat->backlog, ==, 4);
    g_assert_cmpint(beat->oldest, ==, 1700000000000007);
    g_assert_cmpstr(beat->holding, ==, "1700000000.000007+ab");
    beat = said(&watch, "beat progress=1 done=1 backlog=0 oldest=0 holding=-");
    g_assert_cmpstr(beat->holding, ==, "");
    g_assert_cmpint(beat->oldest, ==, 0);
    beat = said(&watch, "beat progress=1 tried=4,0,5 settled=");
    g_assert_cmpuint(beat->delays.counts[DELAY_UNTIL_TRIED][2], ==, 5);
    g_assert_cmpuint(beat->delays.counts[DELAY_UNTIL_SETTLED][0], ==, 0);
    /* a key of a younger child */
    g_assert_cmpuint(said(&watch, "beat progress=2 mood=good")->progress, ==, 2);
    said(&watch, "fault no such database");
    g_assert_cmpstr(watch.fault, ==, "no such database");
    said(&watch, "anew FILE is another one");
    g_assert_cmpstr(watch.anew, ==, "FILE is another one");
    g_assert_cmpuint(watch.garbage, ==, 0);
    g_assert_true(feed(&watch, "ready\n", 1));
    watch_clear(&watch);
}

static void expect_garbage(const char *line)
{
    Watch watch;
    watch_init(&watch, 0);
    watch.beat.progress = 77;
    said(&watch, line);
    g_assert_cmpuint(watch.garbage, ==, 1);
    g_assert_cmpuint(watch.beat.progress, ==, 77); /* nothing of it was taken */
    g_assert_null(watch.fault);
    g_assert_null(watch.notice);
    g_assert_null(watch.anew);
    watch_clear(&watch);
}

static void test_garbage(void)
{
    static const char *const lines[] = {
        "", "Ready", "ready ", "beat", "beat ", "beat progress", "beat progress=", "beat progress=-1",
        "beat progress=1x", "beat progress=18446744073709551616", "beat done=1", "beat progress=1  done=2",
        "beat progress=1 oldest=1.5", "beat progress=1 oldest=99999999999999999999", "beat progress=1 oldest=.000001",
        "beat progress=1 holding=", "beat progress=1 holding=a\x01", "beat progress=1 =2", "fault ",
        "beat progress=1 tried=1,x",
        "notice ", "notices", "anew", "anew ",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(lines); i++)
        expect_garbage(lines[i]);
    g_autofree char *name = g_strnfill(sizeof((Beat *)NULL)->holding, 'x');
    g_autofree char *line = g_strconcat("beat progress=1 holding=", name, NULL);
    expect_garbage(line);
}

/* The same bytes in every possible pair of pieces. */
static void test_pieces(void)
{
    const char *text = "ready\n" FULL "\nfault why\n";
    for (size_t cut = 0; cut <= strlen(text); cut++) {
        Watch watch;
        watch_init(&watch, 1);
        bool ready = watch_feed(&watch, text, cut, 2);
        ready |= watch_feed(&watch, text + cut, strlen(text) - cut, 3);
        g_assert_true(ready);
        g_assert_cmpuint(watch.beat.progress, ==, 12);
        g_assert_cmpstr(watch.fault, ==, "why");
        g_assert_cmpuint(watch.garbage, ==, 0);
        watch_clear(&watch);
    }
}

/* Check that a child's notice holds until it tells something else, or that it is over. */
static void test_notice(void)
{
    Watch watch;
    watch_init(&watch, 0);
    g_assert_null(watch.notice);
    feed(&watch, "ready\nnotice slow\nbeat progress=1\n", 1);
    g_assert_cmpstr(watch.notice, ==, "slow");
    feed(&watch, "notice slower\nnotice slower\n", 7);
    g_assert_cmpstr(watch.notice, ==, "slower");
    g_assert_cmpint(watch.spoke, ==, 7);
    feed(&watch, "notice\n", 8);
    g_assert_null(watch.notice);
    g_assert_cmpuint(watch.garbage, ==, 0);
    watch_clear(&watch);
}

static void test_flood(void)
{
    Watch watch;
    watch_init(&watch, 0);
    g_autofree char *flood = g_strnfill(100000, 'y');
    g_assert_false(feed(&watch, flood, 1));
    g_assert_cmpuint(watch.pending->len, <=, WATCH_LINE_MAX);
    g_assert_false(feed(&watch, "\n", 2));
    g_assert_cmpuint(watch.garbage, ==, 1);
    g_assert_false(watch_feed(&watch, "rea\0dy\n", 7, 3));
    g_assert_cmpuint(watch.garbage, ==, 2);
    g_assert_cmpint(watch.spoke, ==, 0); /* garbage is no sign of life */
    g_assert_true(feed(&watch, "ready\n", 4));
    g_assert_cmpint(watch.spoke, ==, 4);
    watch_clear(&watch);
}

static void test_silence(void)
{
    Watch watch;
    watch_init(&watch, 1000);
    g_assert_cmpint(watch_deadline(&watch, 100), ==, 1100);
    feed(&watch, "ready\n", 1050);
    feed(&watch, "beat progress=1 backlog=0\n", 1060);
    g_assert_cmpint(watch_deadline(&watch, 100), ==, 1160);
    g_assert_false(watch_stalled(&watch, 100, 1109));
    g_assert_true(watch_stalled(&watch, 100, 1110));
    watch_clear(&watch);
}

static void test_no_progress(void)
{
    Watch watch;
    watch_init(&watch, 0);
    feed(&watch, "beat progress=1 backlog=2\n", 50); /* the clock of the backlog begins here */
    for (int64_t now = 60; now <= 140; now += 10)
        feed(&watch, "beat progress=1 backlog=2\n", now);
    g_assert_false(watch_stalled(&watch, 100, 99));
    g_assert_true(watch_stalled(&watch, 100, 100));
    g_assert_cmpint(watch_deadline(&watch, 100), ==, 150);
    feed(&watch, "beat progress=2 backlog=2\n", 145); /* it moves */
    g_assert_false(watch_stalled(&watch, 100, 146));
    g_assert_cmpint(watch_deadline(&watch, 100), ==, 245);
    feed(&watch, "beat progress=2 backlog=0\n", 150); /* nothing to do: nothing to move */
    feed(&watch, "beat progress=2 backlog=0\n", 900);
    g_assert_false(watch_stalled(&watch, 100, 940));
    feed(&watch, "beat progress=2 backlog=1\n", 960);
    g_assert_false(watch_stalled(&watch, 100, 970));
    watch_clear(&watch);
}

static void test_exit_text(void)
{
    g_autofree char *unknown = watch_exit_text(1 << 8, NULL);
    g_assert_cmpstr(unknown, ==, "exit 1");
    g_autofree char *later = watch_exit_text(CHILD_EXIT_LATER << 8, "disk full");
    g_assert_cmpstr(later, ==, "exit 75 (the system's fault, may pass): disk full");
    g_autofree char *killed = watch_exit_text(SIGKILL, NULL);
    g_assert_cmpstr(killed, ==, "signal 9 (Killed)");
}

static const ThrottleLimits limits = {CLOCK_SECOND, 60 * CLOCK_SECOND, 3600 * CLOCK_SECOND};

static void test_doubles(void)
{
    static const int64_t expected[] = {0, 1, 2, 4, 8, 16, 32, 60, 60, 60};
    Throttle throttle = {0};
    for (size_t i = 0; i < G_N_ELEMENTS(expected); i++)
        g_assert_cmpint(watch_delay(&throttle, &limits, CLOCK_SECOND, DEATH_OTHER), ==, expected[i] * CLOCK_SECOND);
}

static void test_quiet_life(void)
{
    Throttle throttle = {.streak = 5};
    g_assert_cmpint(watch_delay(&throttle, &limits, limits.quiet - 1, DEATH_OTHER), ==, 16 * CLOCK_SECOND);
    g_assert_cmpint(watch_delay(&throttle, &limits, limits.quiet, DEATH_OTHER), ==, 0);
    g_assert_cmpint(watch_delay(&throttle, &limits, 0, DEATH_OTHER), ==, CLOCK_SECOND);
}

/* Check that the charge for an entry keeps nobody waiting for long who comes after it. */
static void test_charged(void)
{
    Throttle throttle = {.streak = 5};
    g_assert_cmpint(watch_delay(&throttle, &limits, 0, DEATH_AT_WORK), ==, 0);
    g_assert_cmpint(watch_delay(&throttle, &limits, 0, DEATH_AT_WORK), ==, 0);
    for (int i = 0; i < 5; i++)
        g_assert_cmpint(watch_delay(&throttle, &limits, 0, DEATH_CHARGED), ==, CLOCK_SECOND);
    g_assert_cmpint(watch_delay(&throttle, &limits, 0, DEATH_OTHER), ==, 2 * CLOCK_SECOND);
    g_assert_cmpint(watch_delay(&throttle, &limits, 0, DEATH_OTHER), ==, 4 * CLOCK_SECOND);
    Throttle fresh = {0};
    g_assert_cmpint(watch_delay(&fresh, &limits, 0, DEATH_CHARGED), ==, 0);
    g_assert_cmpint(watch_delay(&fresh, &limits, 0, DEATH_CHARGED), ==, CLOCK_SECOND);
}

/* A process that wanted to be replaced did not die, unless it wants that at once, again and again. */
static void test_renewal(void)
{
    Throttle throttle = {0};
    for (int i = 0; i < 5; i++)
        g_assert_cmpint(watch_delay(&throttle, &limits, limits.min, DEATH_RENEWAL), ==, 0);
    g_assert_cmpuint(throttle.streak, ==, 0);
    g_assert_cmpint(watch_delay(&throttle, &limits, 0, DEATH_RENEWAL), ==, 0);
    g_assert_cmpint(watch_delay(&throttle, &limits, 0, DEATH_RENEWAL), ==, limits.min);
}

/* The longest streak and limits that do not double evenly. */
static void test_edges(void)
{
    Throttle throttle = {.streak = G_MAXUINT};
    g_assert_cmpint(watch_delay(&throttle, &limits, 0, DEATH_OTHER), ==, limits.max);
    g_assert_cmpuint(throttle.streak, ==, G_MAXUINT);
    const ThrottleLimits flat = {5, 5, 100};
    Throttle other = {.streak = 1};
    g_assert_cmpint(watch_delay(&other, &flat, 0, DEATH_OTHER), ==, 5);
    g_assert_cmpint(watch_delay(&other, &flat, 0, DEATH_OTHER), ==, 5);
}

#define HOUR (3600 * CLOCK_SECOND)
#define START (1000000 * HOUR)

static void test_back(void)
{
    ClockBack back = {0};
    g_assert_cmpint(watch_clock(&back, START, HOUR), ==, 0);
    g_assert_cmpint(watch_clock(&back, START + HOUR, 2 * HOUR), ==, 0);
    g_assert_cmpint(watch_clock(&back, START + HOUR - CLOCK_SECOND, 2 * HOUR), ==, 0); /* too little */
    g_assert_cmpint(watch_clock(&back, START - HOUR, 2 * HOUR), ==, 2 * HOUR);
    g_assert_cmpint(watch_clock(&back, START, 3 * HOUR), ==, 2 * HOUR);
    g_assert_cmpint(watch_clock(&back, START + HOUR, 4 * HOUR), ==, 0); /* made up for */
    g_assert_cmpint(watch_clock(&back, START + HOUR, 4 * HOUR), ==, 0);
}

/* It was wrong for a while, and is as before. */
static void test_mended(void)
{
    ClockBack back = {0};
    watch_clock(&back, START, HOUR);
    g_assert_cmpint(watch_clock(&back, START - HOUR, HOUR), ==, HOUR);
    g_assert_cmpint(watch_clock(&back, START, HOUR), ==, 0);
    g_assert_cmpint(watch_clock(&back, START + 3 * HOUR, HOUR), ==, 0);
    g_assert_cmpint(watch_clock(&back, START, HOUR), ==, 3 * HOUR);
}

SUITE("watch")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/watch/beat", test_beat);
    g_test_add_func("/watch/garbage", test_garbage);
    g_test_add_func("/watch/pieces", test_pieces);
    g_test_add_func("/watch/notice", test_notice);
    g_test_add_func("/watch/flood", test_flood);
    g_test_add_func("/watch/silence", test_silence);
    g_test_add_func("/watch/no-progress", test_no_progress);
    g_test_add_func("/watch/exit text", test_exit_text);
    g_test_add_func("/throttle/doubles", test_doubles);
    g_test_add_func("/throttle/quiet-life", test_quiet_life);
    g_test_add_func("/throttle/charged", test_charged);
    g_test_add_func("/throttle/renewal", test_renewal);
    g_test_add_func("/throttle/edges", test_edges);
    g_test_add_func("/clock back/made up for", test_back);
    g_test_add_func("/clock back/mended", test_mended);
    return g_test_run();
}
