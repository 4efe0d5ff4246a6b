/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Show a bar on standard error while long work runs. Where standard error is no terminal nothing is shown. Call
 * progress_show() as often as you like: it draws at most ten times a second.
 */
#include <stdint.h>

typedef struct Progress {
    const char *what;   /* "members" */
    uint64_t total;     /* the value of `done` when all is done; 0: not known, so only `count` is shown */
    int64_t next;       /* when to draw again */
    int terminal;       /* 0 not asked yet, 1 yes, -1 no */
} Progress;

/* Show how far the work is: `done` of the total, in any unit such as bytes, and the number `count` of things done. */
void progress_show(Progress *progress, uint64_t done, uint64_t count);

/* Take the bar away. */
void progress_end(Progress *progress);
