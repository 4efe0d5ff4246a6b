/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Drive the code of a runner without its frame (runners/runner.h): no claims, no loop, no signals. The runner is linked
 * with runnerframe.c in place of the frame, its main() under another name. The test calls that main(), which leaves the
 * runner's functions in runner_frame.spec, and then calls these. The runner gets configuration, spool and slice from
 * runner_frame. Functions of the frame that no such runner calls are missing, and the linker says so.
 */
#include <stdbool.h>

#include "runners/runner.h"

struct Runner {
    const RunnerSpec *spec;
    Config *config; /* the test's */
    Spool *spool;   /* the test's */
    Slice slice;    /* 0 of 1, where the test sets none */
    void *data;     /* the runner's */
    bool stopping;
};

extern Runner runner_frame;
