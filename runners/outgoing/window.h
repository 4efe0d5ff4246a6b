/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Decide how many deliveries may be under way to a destination at once (its window), and whether the destination is
 * dead, from the results of earlier deliveries. The functions only calculate; the caller tells them each result.
 *
 * A success adds the positive feedback to a sum, and the window grows when the sum has reached 1; so it changes at
 * the end of its cycle. A failure takes the negative feedback away, and the window shrinks at once,
 * then again after each full 1; a change to one side forgets the sum of the other. Each failure also adds
 * 1/window to the cohorts: a measure of how many full windows failed in a row. At the limit of cohorts the
 * destination is dead. Sums are compared with a tolerance of 1e-9, so that ten tenths make one.
 */
#include <glib.h>
#include <stdbool.h>

typedef enum FeedbackIndex { FEEDBACK_CONSTANT, FEEDBACK_CONCURRENCY, FEEDBACK_SQRT_CONCURRENCY } FeedbackIndex;

/* A feedback, as people write it: "x", "x/y", "x/concurrency" or "x/sqrt_concurrency", 0 <= x <= 1. */
typedef struct Feedback {
    double value;
    FeedbackIndex index;
} Feedback;

/* Read a feedback. FAIL_CONFIG: the text is wrong; the message says what is allowed. */
bool feedback_parse(const char *text, Feedback *feedback, GError **error);

typedef struct WindowLimits {
    unsigned initial;
    unsigned limit; /* 0: none */
    Feedback positive, negative;
    unsigned cohorts; /* failed cohorts that make it dead; 0: it never dies */
} WindowLimits;

typedef struct Window {
    unsigned size; /* 0: dead */
    double success, failure, cohorts;
} Window;

void window_init(Window *window, const WindowLimits *limits);

/* Take in a delivery that ended well; busy counts those under way, this one included. True: the destination was dead,
 * and is alive again. */
bool window_success(Window *window, const WindowLimits *limits, unsigned busy);

/* Take in a delivery that failed for the destination's sake. True: the destination died of that. */
bool window_failure(Window *window, const WindowLimits *limits);

/* Shrink the window as after a failure, without counting cohorts: the destination works, and wants less. */
void window_shrink(Window *window, const WindowLimits *limits);

/* Make a dead destination alive, since its time is over; busy counts the deliveries under way. */
void window_revive(Window *window, const WindowLimits *limits, unsigned busy);

static inline bool window_dead(const Window *window)
{
    return window->size == 0;
}
