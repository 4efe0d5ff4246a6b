/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Help to compare a database that was restored from a backup with a spool that is older or newer. Some functions answer
 * questions for that; others raise what the spool shows to be too low. Times are microseconds since 1970. Errors are
 * those of the store.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

/* Set *newest to when a post was last seen on a list, held, or worked on, as far as the database knows; 0: never. */
bool restored_newest(Store *store, int64_t *newest, GError **error);

/* A post that a list took. */
typedef struct RestoredPost {
    const char *list_id, *message_id; /* borrowed */
    const char *trace;                /* of its entries; borrowed */
    int64_t seen_at;
} RestoredPost;

/* Call each for the posts that lists saw after `since`, by list, in order of time. each must not write to the store; it
 * returns false to stop, and restored_posts() then returns true. */
typedef bool RestoredEach(const RestoredPost *post, void *data);
bool restored_posts(Store *store, int64_t since, RestoredEach *each, void *data, GError **error);

/* Make sure that the next post of the list gets at least this number. *raised: it would have got a lower one.
 * FAIL_MISSING: there is no such list. */
bool restored_raise_number(Store *store, const char *list_id, int64_t number, bool *raised, GError **error);
