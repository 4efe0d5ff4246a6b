/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Directories with all that is in them, for backup and restore. Errors are FAIL_LATER and name the file. Only
 * directories and regular files count; others, such as sockets, are left out.
 */
#include <glib.h>
#include <stdbool.h>

/* Make a directory, and those above it, mode 0700; it may be there. */
bool file_tree_make(const char *path, GError **error);

/* Copy a file with its mode, less what everybody may, to a place where none is, and sync it. */
bool file_tree_copy_file(const char *from, const char *to, GError **error);

/* Copy what is in a directory, with its modes, into another one, which is made when it is missing; what that has stays.
 * `except`, a name directly in it, is left out (NULL: nothing). Files are synced, directories are not. */
bool file_tree_copy(const char *from, const char *to, const char *except, GError **error);

/* Give each file of a directory, but for `except` as above, a second name (a hard link) below `to`, and take away names
 * there whose first name is gone or belongs to another file by now. So a repeated call costs little more than reading
 * the directories. Files may come and go meanwhile; *changed is set when anything differed from the last call. */
bool file_tree_follow(const char *from, const char *to, const char *except, bool *changed, GError **error);
