/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Run other people's programs, which get something on standard input and answer on standard output, with limits. */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct Program {
    char *const *words;       /* the program, found by PATH, and its arguments */
    char *const *environment; /* NULL: that of this process */
    int64_t timeout;          /* us; then it is killed, with all that it started */
    size_t output_max;        /* the most bytes that it may write to any file; 0: no limit, and no output */
    size_t memory_max;        /* bytes of address space; 0: no limit */
    bool (*alive)(void *data); /* called every second while it runs; false: it has PROGRAM_GRACE left; may be NULL */
    void *data;
} Program;
#define PROGRAM_GRACE INT64_C(10000000) /* us */

/* Run the program and wait for its end. Its standard input is a file that holds input. *output, a new reference, is
 * what it writes to standard output; with output NULL that goes to our standard error, as its standard error always
 * does. *code is its exit code, or 128 plus the number of the signal that ended it; true is returned for any code.
 * FAIL_LATER: it could not be started, took too long, or wrote too much. */
bool program_run(const Program *program, GBytes *input, int *code, GBytes **output, GError **error);

/* Start the program and do not wait, for a caller with an event loop. The descriptors input and output become its
 * standard input and output. It gets a process group of its own, whose number is *pid. The caller waits for its end and
 * sees to the timeout; the other limits are set. */
bool program_start(const Program *program, int input, int output, pid_t *pid, GError **error);
