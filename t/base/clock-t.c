/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/clock.h"
#include "t/suite.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 20000 };

static void test_forward(void)
{
    int64_t first = clock_monotonic();
    g_usleep(2000);
    int64_t second = clock_monotonic();
    g_assert_cmpint(second - first, >=, 2000);
    g_assert_cmpint(ABS(clock_now() - g_get_real_time()), <, 10 * CLOCK_SECOND);
}

static gpointer take_many(gpointer data)
{
    int64_t *taken = data;
    for (int i = 0; i < ROUNDS; i++)
        taken[i] = clock_unique();
    return NULL;
}

static int compare(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static void test_unique(void)
{
    g_autofree int64_t *taken = g_new(int64_t, THREADS * ROUNDS);
    GThread *threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = g_thread_new("clock", take_many, taken + i * ROUNDS);
    for (int i = 0; i < THREADS; i++)
        g_thread_join(threads[i]);
    for (int i = 1; i < ROUNDS; i++)
        g_assert_cmpint(taken[i], >, taken[i - 1]);
    qsort(taken, THREADS * ROUNDS, sizeof *taken, compare);
    for (int i = 1; i < THREADS * ROUNDS; i++)
        g_assert_cmpint(taken[i], !=, taken[i - 1]);
}

static void test_text(void)
{
    g_autofree char *text = clock_text(INT64_C(1795181425) * CLOCK_SECOND + 999999);
    g_assert_cmpstr(text, ==, "2026-11-20T13:30:25Z");
    g_autofree char *mail = clock_rfc5322(INT64_C(1795181425) * CLOCK_SECOND);
    g_assert_cmpstr(mail, ==, "Fri, 20 Nov 2026 13:30:25 +0000");
    g_autofree char *leap = clock_rfc5322(INT64_C(1709164800) * CLOCK_SECOND);
    g_assert_cmpstr(leap, ==, "Thu, 29 Feb 2024 00:00:00 +0000");
    g_autofree char *impossible = clock_text(INT64_MAX);
    g_assert_cmpstr(impossible, ==, "-");
}

/* The environment is read once, so each case is a process of its own. */
static void test_offset(void)
{
    if (g_test_subprocess()) {
        g_assert_cmpint(ABS(clock_now() - g_get_real_time() - 3600 * CLOCK_SECOND), <, 10 * CLOCK_SECOND);
        return;
    }
    g_setenv("LISTRUNNER_CLOCK_OFFSET", "3600", TRUE);
    g_test_trap_subprocess(NULL, 0, 0);
    g_unsetenv("LISTRUNNER_CLOCK_OFFSET");
    g_test_trap_assert_passed();
}

static void test_file(void)
{
    if (g_test_subprocess()) {
        const char *file = g_getenv("LISTRUNNER_CLOCK_FILE");
        static const int64_t offsets[] = {86400, -86400};
        int64_t before = clock_unique(), begun = clock_steady();
        g_assert_cmpint(ABS(begun - clock_now()), <, 10 * CLOCK_SECOND);
        for (size_t i = 0; i < G_N_ELEMENTS(offsets); i++) {
            g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT "\n", offsets[i]);
            g_assert_true(g_file_set_contents(file, text, -1, NULL));
            int64_t wrong = clock_now() - g_get_real_time() - offsets[i] * CLOCK_SECOND;
            g_assert_cmpint(ABS(wrong), <, 10 * CLOCK_SECOND);
            int64_t after = clock_unique();
            g_assert_cmpint(after, >, before); /* although the clock went back */
            before = after;
            int64_t steady = clock_steady(); /* does not notice */
            g_assert_cmpint(steady, >=, begun);
            g_assert_cmpint(steady, <, begun + 10 * CLOCK_SECOND);
            g_assert_cmpint(ABS(clock_of_steady(steady) - clock_now()), <, 10 * CLOCK_SECOND);
        }
        return;
    }
    g_autofree char *directory = g_dir_make_tmp("clock-XXXXXX", NULL);
    g_autofree char *file = g_build_filename(directory, "offset", NULL);
    g_setenv("LISTRUNNER_CLOCK_FILE", file, TRUE);
    g_test_trap_subprocess(NULL, 0, 0);
    g_unsetenv("LISTRUNNER_CLOCK_FILE");
    g_unlink(file);
    g_rmdir(directory);
    g_test_trap_assert_passed();
}

SUITE("clock")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/clock/forward", test_forward);
    g_test_add_func("/clock/unique", test_unique);
    g_test_add_func("/clock/text", test_text);
    g_test_add_func("/clock/offset", test_offset);
    g_test_add_func("/clock/file", test_file);
    return g_test_run();
}
