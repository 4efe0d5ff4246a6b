/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* End a bench of the store at a fault, and print the rows of its table. */
#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/clock.h"

/* End the process with a message unless the call was ok. */
static inline void check(bool ok, GError *error)
{
    if (ok && !error)
        return;
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, error ? error->message : "failed");
    exit(1);
}

/* Print a row: `count` things were done since then (a time of clock_monotonic()). */
static inline void report(const char *what, int64_t count, int64_t since)
{
    double seconds = (double)(clock_monotonic() - since) / 1e6;
    printf("%-44s %10" G_GINT64_FORMAT " in %8.3f s  %10.0f /s\n", what, count, seconds, (double)count / seconds);
    fflush(stdout);
}

/* Print a row with the memory and processor time that this process has used. */
static inline void report_memory(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%-44s %10.1f MB, processor %.2f s\n", "  peak memory of that process", (double)usage.ru_maxrss / 1024,
           (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
               (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
    fflush(stdout);
}
