/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read a file named on the command line; "-" is standard input. Open it before the store or the spool, since opening
 * those may give up the right to read it (site.h).
 */
#include <glib.h>
#include <stdint.h>
#include <stdio.h>

typedef FILE InputFile;

/* Open the file. FAIL_MISSING: there is none. FAIL_NEVER: it is a directory. FAIL_LATER: it cannot be read. */
InputFile *input_open(const char *path, GError **error);
void input_close(InputFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(InputFile, input_close)

/* Return the words for the file in messages: the path, or "standard input". */
const char *input_name(const char *path);

/* Return the size of the file in bytes; 0: it is not known, as for a pipe. */
uint64_t input_size(InputFile *file);

/* Read the whole file, of which nothing was read before; path is for messages. FAIL_LATER: it cannot be read.
 * FAIL_NEVER: it is larger than 2 GiB. */
GBytes *input_read(InputFile *file, const char *path, GError **error);

/* Read a password that a person or a script gives, from the first line of a file; "-" and NULL are standard input. From
 * a terminal it is asked for and not shown. It is never an argument, which every list of processes shows. g_free().
 * NULL: FAIL_NEVER, there is no line, or it is longer than 1023 bytes; or as input_open(). */
char *input_secret(const char *path, GError **error);
