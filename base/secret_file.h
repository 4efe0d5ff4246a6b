/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Check and read files that hold a secret, a key or a password. One rule holds for all of them; `config check`, each
 * start and whoever reads such a file ask here. The file is a regular one that belongs to root or to the user who reads
 * it. Nobody else can write it, and only the main group of that user can read it besides. So mode 600 is right, and for
 * a file that root keeps, 640 with that group. If root reads its own file, any group is right: it may be that of the
 * user of the site, who is judged by `config check` and when he reads.
 */
#include <glib.h>
#include <sys/stat.h>

/* Return what is wrong with the file of this status for a reader with this user and group, and how to mend it;
 * g_free(). NULL: it is as it should be. The path is only for the text. */
char *secret_file_fault(const char *path, const struct stat *status, uid_t user, gid_t group);

#define SECRET_FILE_MAX (64 * 1024) /* bytes; a key or a password is much shorter */

/* Read the whole file as text, for the user and group of this process; g_free(). FAIL_CONFIG: the file is missing, may
 * not be read, is longer than `most` bytes, or breaks the rule. FAIL_LATER: the system failed. */
char *secret_file_read(const char *path, size_t most, GError **error);

/* Read the secret that is the first line of a file of at most SECRET_FILE_MAX bytes, without its end and the blanks
 * around it; g_free(). It fails as secret_file_read() does, and with FAIL_CONFIG when that line is empty. */
char *secret_file_line(const char *path, GError **error);
