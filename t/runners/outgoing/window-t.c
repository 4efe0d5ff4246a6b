/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The window's accounting, trace by trace; the numbers are those of the variant that compares with a tolerance. */
#include "runners/outgoing/window.h"
#include "t/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Trace {
    Window window;
    WindowLimits limits;
    unsigned events;
} Trace;

static Feedback feedback(const char *text)
{
    Feedback parsed;
    g_autoptr(GError) error = NULL;
    g_assert_true(feedback_parse(text, &parsed, &error));
    g_assert_no_error(error);
    return parsed;
}

static Trace trace_new(const char *positive, const char *negative, unsigned cohorts)
{
    Trace trace = {.limits = {.initial = 5, .limit = 20, .cohorts = cohorts}};
    trace.limits.positive = feedback(positive);
    trace.limits.negative = feedback(negative);
    window_init(&trace.window, &trace.limits);
    return trace;
}

/* One event of a saturated destination: busy is the window. */
static void event(Trace *trace, char what)
{
    trace->events++;
    if (what == '+')
        window_success(&trace->window, &trace->limits, trace->window.size);
    else
        window_failure(&trace->window, &trace->limits);
}

static void expect(const Trace *trace, unsigned window, double success, double failure, double cohorts)
{
    g_test_message("event %u: %u(%g,%g,%g)", trace->events, trace->window.size, trace->window.success,
                   trace->window.failure, trace->window.cohorts);
    g_assert_cmpuint(trace->window.size, ==, window);
    g_assert_cmpfloat_with_epsilon(trace->window.success, success, 1e-4);
    g_assert_cmpfloat_with_epsilon(trace->window.failure, failure, 1e-4);
    g_assert_cmpfloat_with_epsilon(trace->window.cohorts, cohorts, 1e-4);
}

/* Successes only: the event at which each window from 6 on is reached. */
static void expect_growth(const char *positive, const unsigned *at, size_t count)
{
    Trace trace = trace_new(positive, "1", 1);
    for (size_t i = 0; i < count; i++) {
        while (trace.events < at[i] - 1)
            event(&trace, '+');
        g_assert_cmpuint(trace.window.size, ==, 5 + i);
        event(&trace, '+');
        g_assert_cmpuint(trace.window.size, ==, 6 + i);
    }
    for (int i = 0; i < 100; i++)
        event(&trace, '+');
    g_assert_cmpuint(trace.window.size, ==, 20);
}

static void t1(void)
{
    unsigned at[15];
    for (unsigned i = 0; i < 15; i++)
        at[i] = i + 1;
    expect_growth("1", at, 15);
}

static void t2(void)
{
    static const unsigned at[] = {5, 11, 18, 26, 35, 45, 56, 68, 81, 95, 110, 126, 143, 161, 180};
    expect_growth("1/concurrency", at, 15);
    Trace trace = trace_new("1/concurrency", "1", 1);
    for (unsigned i = 1; i <= 4; i++) {
        event(&trace, '+');
        expect(&trace, 5, 0.2 * i, 0, 0);
    }
    event(&trace, '+');
    expect(&trace, 6, 0, 0, 0);
    for (unsigned i = 1; i <= 5; i++) {
        event(&trace, '+');
        expect(&trace, 6, i / 6.0, 0, 0);
    }
    event(&trace, '+');
    expect(&trace, 7, 0, 0, 0);
}

static void t3(void)
{
    static const unsigned at[] = {3, 5, 8, 11, 13, 17, 20, 23, 27, 31, 34, 38, 43, 47, 51};
    expect_growth("1/sqrt_concurrency", at, 15);
}

static void t4(void)
{
    unsigned at[15];
    for (unsigned i = 0; i < 15; i++)
        at[i] = 4 * (i + 1);
    expect_growth("1/4", at, 15);
}

static void t5(void)
{
    Trace trace = trace_new("1", "1", 1);
    event(&trace, '-');
    expect(&trace, 4, 0, 0, 0.2);
    event(&trace, '-');
    expect(&trace, 3, 0, 0, 0.45);
    event(&trace, '-');
    expect(&trace, 2, 0, 0, 0.7833);
    event(&trace, '-');
    g_assert_true(window_dead(&trace.window));
    g_assert_cmpfloat_with_epsilon(trace.window.cohorts, 1.2833, 1e-4);
}

static void expect_death(Trace *trace, unsigned at, double cohorts)
{
    while (!window_dead(&trace->window))
        event(trace, '-');
    g_assert_cmpuint(trace->events, ==, at);
    g_assert_cmpfloat_with_epsilon(trace->window.cohorts, cohorts, 2e-4);
}

static void t6(void)
{
    Trace trace = trace_new("1", "1/concurrency", 1);
    static const double failure[] = {.8, .55, .3, .05};
    static const double cohorts[] = {.2, .45, .7, .95};
    for (int i = 0; i < 4; i++) {
        event(&trace, '-');
        expect(&trace, 4, 0, failure[i], cohorts[i]);
    }
    expect_death(&trace, 5, 1.2);
}

static void t7(void)
{
    Trace trace = trace_new("1", "1/sqrt_concurrency", 1);
    event(&trace, '-');
    expect(&trace, 4, 0, .5528, .2);
    event(&trace, '-');
    expect(&trace, 4, 0, .0528, .45);
    event(&trace, '-');
    expect(&trace, 3, 0, .5528, .7);
    expect_death(&trace, 4, 1.0333);
}

static void t8(void)
{
    static const struct {
        unsigned window;
        double failure, cohorts;
    } steps[] = {{4, .8, .2},       {4, .55, .45},     {4, .3, .7},  {4, .05, .95}, {3, .8, 1.2},
                 {3, .4667, 1.5333}, {3, .1333, 1.8667}, {2, .8, 2.2}, {2, .3, 2.7},  {1, .8, 3.2}};
    Trace trace = trace_new("1", "1/concurrency", 10);
    for (size_t i = 0; i < G_N_ELEMENTS(steps); i++) {
        event(&trace, '-');
        expect(&trace, steps[i].window, 0, steps[i].failure, steps[i].cohorts);
    }
    for (double cohorts = 4.2; cohorts < 10; cohorts++) {
        event(&trace, '-');
        g_assert_cmpuint(trace.window.size, ==, 1);
        g_assert_cmpfloat_with_epsilon(trace.window.cohorts, cohorts, 1e-4);
    }
    expect_death(&trace, 17, 10.2);
}

static void t9(void)
{
    static const unsigned windows[] = {4, 3, 2, 1, 1};
    static const double cohorts[] = {.2, .45, .7833, 1.2833, 2.2833};
    Trace trace = trace_new("1", "1", 3);
    for (int i = 0; i < 5; i++) {
        event(&trace, '-');
        g_assert_cmpuint(trace.window.size, ==, windows[i]);
        g_assert_cmpfloat_with_epsilon(trace.window.cohorts, cohorts[i], 1e-4);
    }
    expect_death(&trace, 6, 3.2833);
    Trace ten = trace_new("1", "1", 10);
    expect_death(&ten, 13, 10.2833);
}

static void t10(void)
{
    for (unsigned cohorts = 1; cohorts <= 10; cohorts += 9) {
        Trace trace = trace_new("1", "1", cohorts);
        trace.limits.limit = 1;
        window_init(&trace.window, &trace.limits);
        expect_death(&trace, cohorts, cohorts);
    }
}

static void t11(void)
{
    Trace trace = trace_new("1", "1", 1);
    trace.window.size = 20;
    for (unsigned window = 19; window >= 8; window--) {
        event(&trace, '-');
        g_assert_cmpuint(trace.window.size, ==, window);
    }
    expect_death(&trace, 13, 1.005);
}

static void t12(void)
{
    Trace trace = trace_new("1", "1/concurrency", 1);
    trace.window.size = 20;
    event(&trace, '-');
    expect(&trace, 19, 0, .95, .05);
    while (trace.events < 19)
        event(&trace, '-');
    expect(&trace, 19, 0, .0026, .9974);
    expect_death(&trace, 20, 1.05);
}

typedef struct Step {
    char event;
    unsigned window;
    double success, failure, cohorts;
} Step;

static void follow(Trace *trace, const Step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        event(trace, steps[i].event);
        expect(trace, steps[i].window, steps[i].success, steps[i].failure, steps[i].cohorts);
    }
}

static void t13(void)
{
    static const Step steps[] = {{'-', 4, 0, .5, .2},  {'-', 4, 0, 0, .45}, {'-', 3, 0, .5, .7},
                                 {'+', 3, .5, .5, 0},  {'+', 4, 0, 0, 0},   {'-', 3, 0, .5, .25},
                                 {'-', 3, 0, 0, .5833}, {'+', 3, .5, 0, 0}};
    Trace trace = trace_new("1/2", "1/2", 100);
    follow(&trace, steps, G_N_ELEMENTS(steps));
}

static void t14(void)
{
    static const Step steps[] = {{'+', 5, .2, 0, 0}, {'+', 5, .4, 0, 0},       {'+', 5, .6, 0, 0},
                                 {'+', 5, .8, 0, 0}, {'+', 6, 0, 0, 0},        {'-', 5, 0, .8333, .1667},
                                 {'+', 5, .2, .8333, 0}, {'+', 5, .4, .8333, 0}, {'+', 5, .6, .8333, 0},
                                 {'+', 5, .8, .8333, 0}, {'+', 6, 0, 0, 0},      {'+', 6, .1667, 0, 0},
                                 {'-', 5, 0, .8333, .1667}};
    Trace trace = trace_new("1/concurrency", "1/concurrency", 1);
    follow(&trace, steps, G_N_ELEMENTS(steps));
}

static void t15(void)
{
    static const unsigned windows[] = {5, 4, 4, 4, 4, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4};
    Trace trace = trace_new("1/concurrency", "1/concurrency", 1);
    for (size_t i = 0; i < 16; i++) {
        event(&trace, i % 2 == 0 ? '+' : '-');
        g_assert_cmpuint(trace.window.size, ==, windows[i]);
    }
}

static void t16(void)
{
    static const unsigned windows[] = {6, 7, 8, 8, 8, 8};
    Trace trace = trace_new("1", "1", 1);
    for (size_t i = 0; i < G_N_ELEMENTS(windows); i++) {
        window_success(&trace.window, &trace.limits, 3);
        g_assert_cmpuint(trace.window.size, ==, windows[i]);
    }
}

static void t17(void)
{
    Trace trace = trace_new("1", "1", 1);
    expect_death(&trace, 4, 1.2833);
    g_assert_true(window_success(&trace.window, &trace.limits, 2));
    expect(&trace, 2, 0, 0, 0);
    trace.window.size = 0;
    window_revive(&trace.window, &trace.limits, 0);
    expect(&trace, 5, 0, 0, 0);
}

static void t18(void)
{
    static const Step steps[] = {{'+', 6, 0, 0, 0}, {'+', 7, 0, 0, 0}, {'+', 8, 0, 0, 0}, {'-', 7, 0, 0, .125}};
    Trace trace = trace_new("1", "1", 1);
    follow(&trace, steps, G_N_ELEMENTS(steps));
}

static void t19(void)
{
    Trace trace = trace_new("1", "1", 1);
    trace.limits.limit = 0;
    for (unsigned i = 0; i < 1000; i++)
        event(&trace, '+');
    g_assert_cmpuint(trace.window.size, ==, 1005);
    trace.limits.limit = 3;
    window_init(&trace.window, &trace.limits);
    for (unsigned i = 0; i < 10; i++) {
        g_assert_cmpuint(trace.window.size, ==, 3);
        event(&trace, '+');
    }
}

static void t20(void)
{
    for (int good = 0; good < 2; good++) {
        Trace trace = trace_new("1", "1", 1);
        expect_death(&trace, 4, 1.2833);
        if (good) {
            g_assert_true(window_success(&trace.window, &trace.limits, 1));
            g_assert_cmpuint(trace.window.size, ==, 1);
            continue;
        }
        Window before = trace.window;
        g_assert_false(window_failure(&trace.window, &trace.limits));
        g_assert_cmpmem(&before, sizeof before, &trace.window, sizeof trace.window);
    }
}

/* Nobody dies of being asked for less, and the window never closes. */
static void shrinks(void)
{
    Trace trace = trace_new("1", "1", 1);
    for (int i = 0; i < 50; i++)
        window_shrink(&trace.window, &trace.limits);
    expect(&trace, 1, 0, 0, 0);
    Trace immortal = trace_new("1", "1", 0);
    for (int i = 0; i < 50; i++)
        event(&immortal, '-');
    g_assert_cmpuint(immortal.window.size, ==, 1);
}

static void forms(void)
{
    static const struct {
        const char *text;
        double value;
        FeedbackIndex index;
    } good[] = {{"1", 1, FEEDBACK_CONSTANT},
                {"0.25", .25, FEEDBACK_CONSTANT},
                {"1/5", .2, FEEDBACK_CONSTANT},
                {"1 / 4", .25, FEEDBACK_CONSTANT},
                {"0", 0, FEEDBACK_CONSTANT},
                {"1/concurrency", 1, FEEDBACK_CONCURRENCY},
                {"0.5/sqrt_concurrency", .5, FEEDBACK_SQRT_CONCURRENCY}};
    for (size_t i = 0; i < G_N_ELEMENTS(good); i++) {
        Feedback parsed = feedback(good[i].text);
        g_assert_cmpfloat_with_epsilon(parsed.value, good[i].value, 1e-12);
        g_assert_cmpint(parsed.index, ==, good[i].index);
    }
    static const char *const bad[] = {"", "2", "-1", "x", "1/", "1/0", "1/x", "1/1/1", "nan", "1e400", "3/2", " 1x"};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        Feedback parsed;
        g_autoptr(GError) error = NULL;
        g_assert_false(feedback_parse(bad[i], &parsed, &error));
        g_assert_nonnull(strstr(error->message, "x/sqrt_concurrency"));
    }
}

SUITE("outgoing/window")
{
    g_test_init(&argc, &argv, NULL);
    static void (*const traces[])(void) = {t1,  t2,  t3,  t4,  t5,  t6,  t7,  t8,  t9,  t10,
                                           t11, t12, t13, t14, t15, t16, t17, t18, t19, t20};
    for (size_t i = 0; i < G_N_ELEMENTS(traces); i++) {
        g_autofree char *name = g_strdup_printf("/window/T%zu", i + 1);
        g_test_add_func(name, traces[i]);
    }
    g_test_add_func("/window/shrinks", shrinks);
    g_test_add_func("/window/forms", forms);
    return g_test_run();
}
