/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The time in a From_ line of a mailbox, "Wed Jan  3 11:11:11 2001", as programs of forty years wrote it: with a zone
 * or without, in other orders, with names of zones and comments. (A Date field is read by mail/date.h.) Any text may be
 * given, and nothing fails.
 */
#include <stdint.h>

/* Return microseconds since 1970, 0 for a text that is no time. Without a zone it is UTC. */
int64_t mbox_time_read(const char *text);
