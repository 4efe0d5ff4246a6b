/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Time. Wall-clock times are microseconds since 1970 UTC in an int64_t; the
 * name says so (arrival, due). Intervals are microseconds too, in variables
 * that end in _us, or seconds where they come from the configuration.
 *
 * Tests move the wall clock through the environment: LISTRUNNER_CLOCK_OFFSET
 * holds seconds to add, and LISTRUNNER_CLOCK_FILE names a file that holds
 * them and may change while the process runs.
 */
#include <stdbool.h>
#include <stdint.h>

#define CLOCK_SECOND INT64_C(1000000)

#define CLOCK_ENV_FILE "LISTRUNNER_CLOCK_FILE"

/* The wall clock. */
int64_t clock_now(void);

/* The wall clock as it was when this process first asked, gone on without a step since then: for rates and waits, which
 * must not end or last because somebody sets the clock, and whose times are shown and saved nevertheless. */
int64_t clock_steady(void);

/* Return the time of the wall clock at a moment of clock_steady(). */
int64_t clock_of_steady(int64_t steady);

/* The wall clock, but never the same value twice in this process and never
 * going back: for names. */
int64_t clock_unique(void);

/* A clock that only goes forward: for time-outs and rates. */
int64_t clock_monotonic(void);

/* The same, but it counts on while the machine sleeps, and is one for all its processes until it is started anew. */
int64_t clock_boot(void);

/* Copy the name of this run of the kernel, by which times of clock_boot() of another run are told apart. False: the
 * system does not say. Async-signal-safe. */
#define CLOCK_BOOT_ID_SIZE 37
bool clock_boot_id(char id[CLOCK_BOOT_ID_SIZE]);

/* "2026-11-20T13:20:00Z", for people; free with g_free(). */
char *clock_text(int64_t time);

/* RFC 5322 date-time in UTC, "Fri, 20 Nov 2026 13:20:00 +0000". */
char *clock_rfc5322(int64_t time);
