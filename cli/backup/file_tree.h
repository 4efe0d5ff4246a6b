/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Copy or link directories with all that is in them, for backup and restore. Errors are FAIL_LATER and name the file.
 * Only directories and regular files count; others, such as sockets, are left out.
 */
#include <glib.h>
#include <stdbool.h>

/* Make a directory, and those above it, mode 0700; it may be there. */
bool file_tree_make(const char *path, GError **error);

/* Copy a file to a place where no file is, and sync it. The copy gets the file's mode for the owner and the group;
 * others get no rights. */
bool file_tree_copy_file(const char *from, const char *to, GError **error);

/* Copy what is in the directory `from`, with its modes as above, into `to`, which is made when it is missing. Other
 * files in `to` stay; a file of the same name is a fault. `except`, a name directly in `from`, is left out (NULL:
 * nothing). Files are synced, directories are not. */
bool file_tree_copy(const char *from, const char *to, const char *except, GError **error);

/* Make `to` a copy of the directory `from` by hard links, so that no byte is copied. Each file below `from`, but for
 * `except` as above, gets a second name below `to`. A name there goes when the file of that name below `from` is gone
 * or is another one. A repeated call costs little more than reading the directories. Files may come and go meanwhile;
 * *changed is set to true when anything differed from the last call, and else stays. */
bool file_tree_follow(const char *from, const char *to, const char *except, bool *changed, GError **error);
