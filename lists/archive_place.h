/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Where the archivers of this host (sections [archiver.NAME] with a path) keep what belongs to a list. */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"

/* A list's name as part of a path: '/' and what could hide or climb is written as %XX, and a name too long for a file
 * is cut, with a hash in place of its end. g_free() */
char *archive_file_name(const char *list_id);

/* Find the archiver of that name, or (NULL) the first one, whose maildirs have an index (store/archive_index.h); return
 * their directory and, in *name (may be NULL), the archiver's name, both borrowed. NULL: there is none that is
 * enabled. */
const char *archive_place_indexed(const Config *config, const char *archiver, const char **name);

/* The other host that keeps the archive of that archiver ([archiver.NAME] host), borrowed. NULL: this one does, or
 * there is no such archiver. */
const char *archive_place_host(const Config *config, const char *archiver);

/* The directories and files that are there, for a name of list_archive_name(); g_strfreev(). */
char **archive_places(const Config *config, const char *archive_name);

/* Removes one of them, with all that is in it, and with the files that the archiver keeps beside an mbox. */
bool archive_place_remove(const char *place, GError **error);
