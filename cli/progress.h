/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A bar on standard error while long work runs, when that is a terminal;
 * nothing anywhere else. Redrawn at most ten times a second.
 */
#include <stdint.h>

typedef struct Progress {
    const char *what;   /* "members" */
    uint64_t total;     /* of the measure that is passed to progress_show(); 0: not known */
    int64_t next;       /* when to draw again */
    int terminal;       /* 0 not asked yet, 1 yes, -1 no */
} Progress;

void progress_show(Progress *progress, uint64_t done, uint64_t count);

/* Take the bar away. */
void progress_end(Progress *progress);
