/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/window.h"

#include <math.h>
#include <string.h>

#include "base/config.h"
#include "base/fail.h"

#define EPSILON 1e-9

bool feedback_parse(const char *text, Feedback *feedback, GError **error)
{
    const char *divisor;
    if (!config_feedback_parse(text, &feedback->value, &divisor))
        return fail(error, FAIL_CONFIG, "found \"%s\"; allowed is " CONFIG_FEEDBACK_ALLOWED, text);
    feedback->index = !divisor                            ? FEEDBACK_CONSTANT
                      : strcmp(divisor, "concurrency") == 0 ? FEEDBACK_CONCURRENCY
                                                          : FEEDBACK_SQRT_CONCURRENCY;
    return true;
}

static double feedback_at(const Feedback *feedback, unsigned window)
{
    switch (feedback->index) {
    case FEEDBACK_CONCURRENCY:
        return feedback->value / window;
    case FEEDBACK_SQRT_CONCURRENCY:
        return feedback->value / sqrt(window);
    default:
        return feedback->value;
    }
}

void window_init(Window *window, const WindowLimits *limits)
{
    unsigned initial = MAX(limits->initial, 1);
    *window = (Window){.size = limits->limit > 0 ? MIN(initial, limits->limit) : initial};
}

void window_revive(Window *window, const WindowLimits *limits, unsigned busy)
{
    window_init(window, limits);
    if (busy > 0) /* these are under way already: a smaller window would only forbid to replace them */
        window->size = limits->limit > 0 ? MIN(busy, limits->limit) : busy;
}

/* Rounding leaves crumbs; they are nothing. */
static double swept(double sum)
{
    return fabs(sum) < EPSILON ? 0 : sum;
}

bool window_success(Window *window, const WindowLimits *limits, unsigned busy)
{
    window->cohorts = 0;
    if (window_dead(window)) {
        window_revive(window, limits, busy);
        return true;
    }
    /* A window that is not filled proves nothing about a larger one, so it does not grow ahead of the demand. Else a
     * quiet hour of single mails would open it to the limit, and the next large list would meet the server all at
     * once. */
    bool room = limits->limit == 0 || window->size < limits->limit;
    if (!room || window->size >= busy + limits->initial)
        return false;
    window->success += feedback_at(&limits->positive, window->size);
    while (window->success >= 1 - EPSILON) {
        window->size++;
        window->success = swept(window->success - 1);
        window->failure = 0; /* the failures of a smaller window say nothing of this one */
    }
    if (limits->limit > 0)
        window->size = MIN(window->size, limits->limit);
    return false;
}

void window_shrink(Window *window, const WindowLimits *limits)
{
    if (window_dead(window))
        return;
    /* The first failure shrinks the window at once, and growth waits for the end of its cycle: too much concurrency
     * costs the other side, too little only us. */
    window->failure = swept(window->failure - feedback_at(&limits->negative, window->size));
    while (window->failure < -EPSILON) {
        if (window->size > 1)
            window->size--;
        window->success = 0;
        window->failure = swept(window->failure + 1);
    }
}

bool window_failure(Window *window, const WindowLimits *limits)
{
    if (window_dead(window))
        return false; /* that late news changes nothing */
    /* By cohorts, and not by failures: a full window that fails at the same moment is one event, whatever its size. */
    window->cohorts += 1.0 / window->size;
    if (limits->cohorts > 0 && window->cohorts >= limits->cohorts - EPSILON) {
        window->size = 0;
        return true;
    }
    window_shrink(window, limits);
    return false;
}
