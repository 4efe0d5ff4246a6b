/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Passwords that a person or a script gives to a verb: never as an argument, which every list of processes shows. */
#include <glib.h>

/* Read the first line of a file, "-" (and NULL) being standard input; from a terminal it is asked for and not shown.
 * Call it before the store or the spool are opened (cli/input.h). g_free(). NULL: FAIL_NEVER, there is no line, or it
 * is longer than 1023 bytes; or as input_open(). */
char *secret_input(const char *path, GError **error);
