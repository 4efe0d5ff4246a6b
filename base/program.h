/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Other people's programs that get something on standard input and answer on standard output, with limits. */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Program {
    char *const *words;       /* the program, found by PATH, and its arguments */
    char *const *environment; /* NULL: that of this process */
    int64_t timeout;          /* us; then it is killed, and what it started with it */
    size_t output_max;        /* the most bytes that it may write */
    size_t memory_max;        /* bytes of address space; 0: no limit */
} Program;

/* Run it with input as a file that may be read in any way; what it writes to standard error goes to ours. *code is its
 * exit code, *output what it wrote. FAIL_LATER: it could not be started, took too long, was ended by a signal, or wrote
 * too much. Waits for its end: for short work only. */
bool program_run(const Program *program, GBytes *input, int *code, GBytes **output, GError **error);
