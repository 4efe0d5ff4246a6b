/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Drive the code of a runner without its frame (runners/runner.h): no claims, no loop, no signals. The runner is linked
 * with runnerframe.c in place of the frame, its main() under another name. That main() leaves its functions in
 * runner_frame.spec, which the test calls. What a runner asks its frame for here comes from runner_frame; functions of
 * the frame that no such runner calls are missing, which the linker tells.
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
