/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Other programs, the MTA's and our own, as "listrunner setup" and "listrunner doctor" run them. */
#include <glib.h>
#include <stdbool.h>

/* Run a program, found by PATH with the system directories behind it, and return what it writes to standard output,
 * without the line feed at its end; g_free(). NULL: it could not be run, took over two minutes, or ended with another
 * code than 0 (FAIL_LATER; it has said why on standard error). */
char *setup_output(const char *const *words, GError **error);

/* The same, with its output on ours. *code is its exit code. False: it could not be run. */
bool setup_run(const char *const *words, int *code, GError **error);

/* Run a verb of this program over the configuration, as setup_run() does. */
bool setup_verb(const char *config, const char *const *words, int *code, GError **error);

/* Is there a program of that name? */
bool setup_has_program(const char *name);
