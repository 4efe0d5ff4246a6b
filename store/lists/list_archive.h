/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Name the archive in which archivers keep a list's posts. The name is the List-Id. Where an earlier list of the same
 * List-Id was removed, the name is "test.example.com~2", and so on; no list has such a List-Id. So whoever makes a list
 * again gets neither the archive of the removed list nor its posts that still wait to be archived. List.archive (from
 * 0) says which of these archives a list has.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

/* Return the name; g_free(). */
char *list_archive_name(const char *list_id, int64_t archive);

/* Count the archives that removed lists of this List-Id may have left: those from 0 to *count - 1. */
bool list_archive_removed(Store *store, const char *list_id, int64_t *count, GError **error);

/* Make this number the list's List.archive, so that its posts are kept under that name from now on. */
bool list_archive_set(Store *store, const char *list_id, int64_t archive, GError **error);

/* Remember that the list's archive stays its own, so that no later list of this List-Id gets it. Call it in the
 * transaction that removes the list. */
bool list_archive_leave(Store *store, const char *list_id, GError **error);
