/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Find the directories and files in which the archivers of this host (sections [archiver.NAME] with a path) keep the
 * posts of a list, and remove them. */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"

/* Return a list's name as one part of a path; g_free(). '/', and characters that would hide the file or lead to a
 * parent directory, are written as %XX. A name too long for a file is cut, with a hash in place of its end. */
char *archive_file_name(const char *list_id);

/* Find the archiver of that name, or (NULL) the first one, whose maildirs have an index
 * (store/archive/archive_index.h); return their directory and, in *name (may be NULL), the archiver's name, both
 * borrowed. NULL: there is none that is enabled. */
const char *archive_place_indexed(const Config *config, const char *archiver, const char **name);

/* Return the host that keeps the archive of that archiver ([archiver.NAME] host), borrowed. NULL: this host keeps it,
 * or there is no such archiver. */
const char *archive_place_host(const Config *config, const char *archiver);

/* Return the paths of all directories (maildir, mhonarc) and files (mbox) that exist for one list; g_strfreev().
 * archive_name is that of list_archive_name(). */
char **archive_places(const Config *config, const char *archive_name);

/* Remove one path of archive_places(): a directory with all that is in it, or an mbox with the files that the archiver
 * keeps beside it. FAIL_LATER: a part is left, and the call can be repeated. */
bool archive_place_remove(const char *place, GError **error);
