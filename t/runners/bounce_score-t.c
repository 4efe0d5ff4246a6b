/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/bounces/score.h"
#include "t/suite.h"

#define DAY BOUNCE_DAY
#define START (INT64_C(20000) * DAY)

static const ScoreRules plain = {.threshold = 500, .stale_us = 7 * DAY, .warnings = 3, .interval_us = 7 * DAY};
static const ScoreRules probing = {.threshold = 500, .stale_us = 7 * DAY, .warnings = 3, .interval_us = 7 * DAY,
                                   .probes = true};

static void test_threshold(void)
{
    BounceScore score = {0};
    for (int day = 0; day < 4; day++)
        g_assert_cmpuint(score_bounced(&plain, &score, 100, START + day * DAY), ==, SCORE_GREW);
    g_assert_cmpint(score.score, ==, 400);
    g_assert_cmpuint(score_bounced(&plain, &score, 0, START + 3 * DAY), ==, 0); /* that day counted already */
    g_assert_cmpuint(score_bounced(&plain, &score, 100, START + 4 * DAY), ==, SCORE_GREW | SCORE_DISABLE);
    g_assert_cmpint(score.disabled_at, ==, START + 4 * DAY);
    g_assert_cmpint(score.next_at, ==, START + 4 * DAY);
    g_assert_cmpuint(score_bounced(&plain, &score, 100, START + 5 * DAY), ==, 0);
}

static void test_soft(void)
{
    BounceScore score = {0};
    int days = 0;
    while (!(score_bounced(&plain, &score, 25, START + days * DAY) & SCORE_DISABLE))
        days++;
    g_assert_cmpint(days, ==, 19);
}

static void test_never(void)
{
    ScoreRules never = plain;
    never.threshold = 0;
    BounceScore score = {0};
    for (int day = 0; day < 100; day++)
        g_assert_cmpuint(score_bounced(&never, &score, 100, START + day * DAY), ==, SCORE_GREW);
}

/* The clock was ahead by years when these were written: what is due comes as long after now as after that. */
static void test_clock_ahead(void)
{
    BounceScore score = {0};
    score_bounced(&plain, &score, 100, START + 400 * DAY);
    score_believe(&score, START);
    g_assert_cmpint(score.last_bounce_at, ==, START);
    g_assert_cmpint(score.next_at, ==, START + 7 * DAY + 1);
    BounceScore off = {.disabled_at = START - DAY, .warned_at = START + 400 * DAY, .warnings = 1,
                       .next_at = START + 407 * DAY};
    score_believe(&off, START);
    g_assert_cmpint(off.disabled_at, ==, START - DAY);
    g_assert_cmpint(off.warned_at, ==, START);
    g_assert_cmpint(off.next_at, ==, START + 7 * DAY);
    BounceScore fresh = {.disabled_at = START + 400 * DAY, .next_at = START + 400 * DAY};
    score_believe(&fresh, START);
    g_assert_cmpint(fresh.next_at, ==, START);
}

static void test_stale(void)
{
    BounceScore score = {0};
    score_bounced(&plain, &score, 100, START);
    score_bounced(&plain, &score, 100, START + DAY);
    g_assert_cmpint(score.next_at, ==, START + 8 * DAY + 1);
    score_bounced(&plain, &score, 100, START + 8 * DAY); /* just in time */
    g_assert_cmpint(score.score, ==, 300);
    score_bounced(&plain, &score, 100, START + 15 * DAY + 1);
    g_assert_cmpint(score.score, ==, 100);
    g_assert_cmpuint(score_due(&plain, &score, score.next_at), ==, 0);
    g_assert_cmpint(score.score, ==, 0);
    g_assert_cmpint(score.next_at, ==, 0); /* no row is left */
}

static BounceScore probed(void)
{
    BounceScore score = {0};
    unsigned acts = 0;
    for (int day = 0; day < 5; day++)
        acts = score_bounced(&probing, &score, 100, START + day * DAY);
    g_assert_cmpuint(acts, ==, SCORE_GREW | SCORE_PROBE);
    g_assert_cmpint(score.score, ==, 0);
    g_assert_cmpint(score.probe_at, ==, START + 4 * DAY);
    g_assert_cmpint(score.next_at, ==, START + 14 * DAY);
    return score;
}

static void test_probe_came_back(void)
{
    BounceScore score = probed();
    g_assert_cmpuint(score_probe_bounced(&probing, &score, START + 5 * DAY), ==, SCORE_DISABLE);
    g_assert_cmpint(score.disabled_at, ==, START + 5 * DAY);
    g_assert_cmpuint(score_probe_bounced(&probing, &score, START + 6 * DAY), ==, 0);
    BounceScore clean = {0};
    g_assert_cmpuint(score_probe_bounced(&probing, &clean, START), ==, 0); /* none was sent */
}

static void test_probe_arrived(void)
{
    BounceScore score = probed();
    g_assert_cmpuint(score_due(&probing, &score, START + 13 * DAY), ==, 0);
    g_assert_cmpint(score.probe_at, !=, 0);
    g_assert_cmpuint(score_due(&probing, &score, score.next_at), ==, 0);
    g_assert_cmpint(score.probe_at, ==, 0);
    g_assert_cmpint(score.next_at, ==, 0);
    g_assert_cmpuint(score_probe_bounced(&probing, &score, START + 15 * DAY), ==, 0);
}

/* Points that come while a probe is out turn stale before it has arrived. */
static void test_probe_and_points(void)
{
    BounceScore score = probed();
    score_bounced(&probing, &score, 100, START + 5 * DAY);
    g_assert_cmpint(score.next_at, ==, START + 12 * DAY + 1);
    score_due(&probing, &score, score.next_at);
    g_assert_cmpint(score.score, ==, 0);
    g_assert_cmpint(score.next_at, ==, START + 14 * DAY);
}

static void test_warnings(void)
{
    BounceScore score = {0};
    for (int day = 0; day < 5; day++)
        score_bounced(&plain, &score, 100, START + day * DAY);
    for (int warning = 1; warning <= 3; warning++) {
        int64_t now = score.next_at + 5; /* a little late, as always */
        g_assert_cmpuint(score_due(&plain, &score, now), ==, SCORE_WARN);
        g_assert_cmpint(score.warnings, ==, warning);
        g_assert_cmpint(score.next_at, ==, now + 7 * DAY);
    }
    g_assert_cmpuint(score_due(&plain, &score, score.next_at), ==, SCORE_REMOVE);
}

static void test_no_warnings(void)
{
    ScoreRules rules = plain;
    rules.warnings = 0;
    BounceScore score = {0};
    score_bounced(&rules, &score, 500, START);
    g_assert_cmpuint(score_due(&rules, &score, score.next_at), ==, SCORE_REMOVE);
}

static void test_forgiven(void)
{
    BounceScore score = {0};
    score_bounced(&plain, &score, 500, START);
    score_forgive(&score);
    g_assert_cmpuint(score_bounced(&plain, &score, 100, START + DAY), ==, SCORE_GREW);
    g_assert_cmpint(score.score, ==, 100);
}

SUITE("bounce_score")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/bounce-score/threshold", test_threshold);
    g_test_add_func("/bounce-score/soft", test_soft);
    g_test_add_func("/bounce-score/never", test_never);
    g_test_add_func("/bounce-score/clock ahead", test_clock_ahead);
    g_test_add_func("/bounce-score/stale", test_stale);
    g_test_add_func("/bounce-score/probe-came-back", test_probe_came_back);
    g_test_add_func("/bounce-score/probe-arrived", test_probe_arrived);
    g_test_add_func("/bounce-score/probe-and-points", test_probe_and_points);
    g_test_add_func("/bounce-score/warnings", test_warnings);
    g_test_add_func("/bounce-score/no-warnings", test_no_warnings);
    g_test_add_func("/bounce-score/forgiven", test_forgiven);
    return g_test_run();
}
