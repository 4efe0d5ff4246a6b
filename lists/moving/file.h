/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read files that another list system has written, for the readers of such systems (moving.h). Root reads them, and
 * whoever owns a list there may have put links into its directory. So each path begins with the directory that the
 * operator named, and no step below that may be a symbolic link or "..": FAIL_NEVER.
 */
#include <glib.h>
#include <stdbool.h>
#include <sys/stat.h>

/* Open a regular file, or with O_DIRECTORY in flags a directory, to read it; *status is of the open one. Return the
 * descriptor, or -1: FAIL_MISSING there is none; FAIL_NEVER it is something else; FAIL_LATER it cannot be opened. */
int moving_open(const char *directory, const char *path, int flags, struct stat *status, GError **error);
/* Get the status of a regular file. False: there is none that moving_open() would open. */
bool moving_stat(const char *directory, const char *path, struct stat *status);
/* Return the names in a folder as fs_names() does. */
GPtrArray *moving_names(const char *directory, const char *path, GError **error);
/* Return the bytes of the whole file; g_bytes_unref(). NULL: as moving_open(), and FAIL_NEVER where it is larger than
 * MBOX_MAIL_MAX. */
GBytes *moving_read_file(const char *directory, const char *path, GError **error);

/* Fail with FAIL_MISSING: the directory is no list of this system, since it lacks this file, which each list has. The
 * message, which does not name the directory, names folders in it that are lists. Returns false. */
bool moving_no_list(const char *directory, const char *system, const char *file, GError **error);
/* Read that file of a list's directory as moving_read_file() does; where there is none, fail as moving_no_list(). */
GBytes *moving_read_mark(const char *directory, const char *system, const char *file, GError **error);
