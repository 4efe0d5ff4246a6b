/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read the clocks of the system, and write times as text. All times and intervals are microseconds in an int64_t; those
 * of the wall clock count from 1970 UTC.
 *
 * Tests move the wall clock through the environment: LISTRUNNER_CLOCK_OFFSET holds seconds to add, and
 * LISTRUNNER_CLOCK_FILE names a file that holds them and may change while the process runs.
 */
#include <stdbool.h>
#include <stdint.h>

#define CLOCK_SECOND INT64_C(1000000)

#define CLOCK_ENV_FILE "LISTRUNNER_CLOCK_FILE"

/* Return the time of the wall clock, which may be set forward or back at any moment. */
int64_t clock_now(void);

/* Return a time that is near the wall clock's but never jumps: it was the wall clock's when this process first called
 * the function, and has counted on evenly since. Use it for rates and waits whose times are also shown or saved: they
 * then do not end early or last longer when somebody sets the clock. */
int64_t clock_steady(void);

/* Translate a time of clock_steady() into the time that the wall clock, as it is set now, shows at that moment. */
int64_t clock_of_steady(int64_t steady);

/* Return the time of the wall clock, made later where needed: each call in this process returns a greater value than
 * the call before. Use it for names. */
int64_t clock_unique(void);

/* Return the time of a clock that only goes forward, from an arbitrary start: for time-outs and rates. */
int64_t clock_monotonic(void);

/* Return the time of a clock that only goes forward, and also counts while the machine sleeps. All processes read the
 * same values until the machine is booted again. */
int64_t clock_boot(void);

/* Copy the kernel's random name for the present boot. Save it beside a time of clock_boot(): times of different boots
 * cannot be compared. Return false when the system does not tell the name. The function is async-signal-safe. */
#define CLOCK_BOOT_ID_SIZE 37
bool clock_boot_id(char id[CLOCK_BOOT_ID_SIZE]);

/* Return a wall-clock time as text for people, "2026-11-20T13:20:00Z", or "-" when it is out of range. g_free() */
char *clock_text(int64_t time);

/* Return a wall-clock time as an RFC 5322 date-time in UTC, "Fri, 20 Nov 2026 13:20:00 +0000". g_free() */
char *clock_rfc5322(int64_t time);
