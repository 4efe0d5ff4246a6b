/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Test that a parser's work grows with the length of its input, and not with its square. doubling_check() runs the
 * parser on a text that is repeated as a hostile sender would, then on input four times as long. It fails the test when
 * the cost more than rises by the factor 2.5 per doubling. Square growth has the factor 4, so the limit leaves room for
 * caches and for neighbours on the machine. Time is the thread's own processor time, the best of several runs.
 */
#include <glib.h>
#include <malloc.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

/* Under valgrind and the address sanitizer times mean nothing: there each input is read once, and is short. */
#ifdef __SANITIZE_ADDRESS__
#define DOUBLING_TIMELESS true
#else
#define DOUBLING_TIMELESS (g_getenv("LISTRUNNER_VALGRIND") != NULL)
#endif

#define DOUBLING_LIMIT 2.5
#define DOUBLING_SMALLEST (16 * 1024)    /* bytes of input to begin with */
#define DOUBLING_LARGEST (256 * 1024)    /* and no more than this, however fast the parser is */
#define DOUBLING_MEASURABLE 0.001        /* seconds */
#define DOUBLING_RUNS 3
#define DOUBLING_TRIES 4

/* The input is: before, then unit again and again, then after. With next, unit makes up the first half and next the
 * second. All but unit may be NULL. */
typedef struct Doubling {
    const char *before, *unit, *next, *after;
} Doubling;

/* Run the parser once over the text, which ends with a NUL that length does not count. */
typedef void DoublingRun(const char *text, size_t length, void *data);

/* Return the seconds that the parser needs for an input of this size in bytes. */
static inline double doubling_seconds(const Doubling *input, size_t size, DoublingRun *run, void *data)
{
    g_autoptr(GString) text = g_string_sized_new(size + 1024);
    g_string_append(text, input->before ? input->before : "");
    while (text->len < (input->next ? size / 2 : size))
        g_string_append(text, input->unit);
    while (text->len < size)
        g_string_append(text, input->next);
    g_string_append(text, input->after ? input->after : "");
    double best = G_MAXDOUBLE;
    for (int i = 0; i < DOUBLING_RUNS; i++) {
        struct timespec begin, end;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
        run(text->str, text->len, data);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
        best = MIN(best, (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
    }
    return best;
}

/* Fail the test if the parser's cost for this input grows too fast. */
static inline void doubling_check(const Doubling *input, DoublingRun *run, void *data)
{
    g_autofree char *before = g_strescape(input->before ? input->before : "", NULL);
    g_autofree char *unit = g_strescape(input->unit, NULL), *next = g_strescape(input->next ? input->next : "", NULL);
    g_autofree char *name = g_strdup_printf("%s, then %s%s%s repeated", before, unit, *next ? " and " : "", next);
    if (DOUBLING_TIMELESS) {
        doubling_seconds(input, DOUBLING_SMALLEST / 16, run, data);
        return;
    }
    /* Memory stays with the process; otherwise pages that the kernel clears are counted as the parser's work. */
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    size_t size = DOUBLING_SMALLEST;
    while (size < DOUBLING_LARGEST && doubling_seconds(input, size, run, data) < DOUBLING_MEASURABLE)
        size *= 2;
    for (int i = 1;; i++, size *= 2) { /* what has a limit, such as a depth, is past it after some tries */
        double one = doubling_seconds(input, size, run, data), four = doubling_seconds(input, 4 * size, run, data);
        g_test_message("%s: %zu bytes in %.3f ms, %zu bytes in %.3f ms", name, size, one * 1e3, 4 * size,
                       four * 1e3);
        if (four <= one * DOUBLING_LIMIT * DOUBLING_LIMIT || four < DOUBLING_MEASURABLE)
            return;
        if (i == DOUBLING_TRIES)
            g_error("%s: %zu bytes take %.3f ms, %zu bytes %.3f ms", name, size, one * 1e3, 4 * size, four * 1e3);
    }
}

static inline void doubling_check_all(const Doubling *inputs, size_t count, DoublingRun *run, void *data)
{
    for (size_t i = 0; i < count; i++)
        doubling_check(&inputs[i], run, data);
}
