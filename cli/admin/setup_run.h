/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Run other programs, the MTA's and our own, for "listrunner setup" and "listrunner doctor". A program is found by
 * PATH, with the system directories behind it. words is the command, ended by NULL. */
#include <glib.h>
#include <stdbool.h>

/* Run a program, and return what it writes to standard output, without the line feed at its end; g_free(). NULL: it
 * could not be run, took over two minutes, or ended with another code than 0 (FAIL_LATER; it has said why on standard
 * error). */
char *setup_output(const char *const *words, GError **error);

/* Run a program whose output goes to ours, and wait for its end without a limit. *code is its exit code, or 128 and the
 * signal that ended it. False: it could not be run. */
bool setup_run(const char *const *words, int *code, GError **error);

/* Run a verb of this program (words: without the program) with the configuration file `config`, as setup_run() does. */
bool setup_verb(const char *config, const char *const *words, int *code, GError **error);

/* Can a program of that name be found? */
bool setup_has_program(const char *name);
