/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Read a file that another list system has written, for the readers of such systems (moving.h). */
#include <glib.h>
#include <stdbool.h>

/* Return the bytes of the whole file; g_bytes_unref(). NULL: FAIL_MISSING there is none; FAIL_NEVER it is no regular
 * file, or larger than MBOX_MAIL_MAX; FAIL_LATER it cannot be read. */
GBytes *moving_read_file(const char *path, GError **error);

/* Fail with FAIL_MISSING: the directory is no list of this system, since it lacks this file, which each list has. The
 * message, which does not name the directory, names folders in it that are lists. Returns false. */
bool moving_no_list(const char *directory, const char *system, const char *file, GError **error);
/* Read that file of a list's directory as moving_read_file() does; where there is none, fail as moving_no_list(). */
GBytes *moving_read_mark(const char *directory, const char *system, const char *file, GError **error);
