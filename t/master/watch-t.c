/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/watch.h"
#include "t/suite.h"

#include <string.h>

#define FULL "beat progress=12 done=3 backlog=4 oldest=1700000000.000007 holding=1700000000.000007+ab"

static bool feed(Watch *watch, const char *text, int64_t now)
{
    return watch_feed(watch, text, strlen(text), now);
}

static void test_beat(void)
{
    Beat beat = {0};
    g_assert_cmpint(watch_parse(FULL, &beat), ==, WATCH_BEAT);
    g_assert_cmpuint(beat.progress, ==, 12);
    g_assert_cmpuint(beat.done, ==, 3);
    g_assert_cmpuint(beat.backlog, ==, 4);
    g_assert_cmpint(beat.oldest, ==, 1700000000000007);
    g_assert_cmpstr(beat.holding, ==, "1700000000.000007+ab");
    g_assert_cmpint(watch_parse("beat progress=1 done=1 backlog=0 oldest=0 holding=-", &beat), ==, WATCH_BEAT);
    g_assert_cmpstr(beat.holding, ==, "");
    g_assert_cmpint(beat.oldest, ==, 0);
    g_assert_cmpint(watch_parse("beat progress=1 tried=4,0,5 settled=", &beat), ==, WATCH_BEAT);
    g_assert_cmpuint(beat.delays.counts[DELAY_UNTIL_TRIED][2], ==, 5);
    g_assert_cmpuint(beat.delays.counts[DELAY_UNTIL_SETTLED][0], ==, 0);
    /* a key of a younger child */
    g_assert_cmpint(watch_parse("beat progress=2 mood=good", &beat), ==, WATCH_BEAT);
    g_assert_cmpint(watch_parse("ready", &beat), ==, WATCH_READY);
    g_assert_cmpint(watch_parse("fault no such database", &beat), ==, WATCH_FAULT);
    g_assert_cmpint(watch_parse("anew FILE is another one", &beat), ==, WATCH_ANEW);
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
    for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
        Beat beat = {.progress = 77};
        g_assert_cmpint(watch_parse(lines[i], &beat), ==, WATCH_GARBAGE);
        g_assert_cmpuint(beat.progress, ==, 77); /* nothing of it was taken */
    }
    g_autofree char *name = g_strnfill(sizeof((Beat *)NULL)->holding, 'x');
    g_autofree char *line = g_strconcat("beat progress=1 holding=", name, NULL);
    Beat beat;
    g_assert_cmpint(watch_parse(line, &beat), ==, WATCH_GARBAGE);
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
    return g_test_run();
}
