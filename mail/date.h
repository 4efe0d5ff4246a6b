/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The time in a Date field (RFC 5322, 3.3 and 4.3), as mail programs of forty years wrote it: with or without a day of
 * the week, seconds and zone, years of two digits, comments, names of zones. The line of an mbox is read, too ("Wed Jan
 * 3 11:11:11 2001"). Any text may be given, and nothing fails.
 */
#include <stdint.h>

/* Return microseconds since 1970, 0 for a text that is no time. Without a zone it is UTC. */
int64_t date_read(const char *text);
