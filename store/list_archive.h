/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Under which name the archivers keep a list's posts. It is the List-Id, unless lists of that List-Id were removed
 * before it: then it is "test.example.com~2", and so on, which is the List-Id of no list. So whoever makes a list
 * gets no archive of somebody else's, nor posts of that list that still wait to be archived. List.archive counts
 * them, from 0.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

/* Return the name; g_free(). */
char *list_archive_name(const char *list_id, int64_t archive);

/* Count the archives that removed lists of this List-Id may have left: those from 0 to *count - 1. */
bool list_archive_removed(Store *store, const char *list_id, int64_t *count, GError **error);

/* Give a list another archive. */
bool list_archive_set(Store *store, const char *list_id, int64_t archive, GError **error);

/* Remember, in the transaction that removes a list, that its archive is its own. */
bool list_archive_leave(Store *store, const char *list_id, GError **error);
