/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Compare a database, after a restore, with a spool of another age, and make it learn from that spool. Times are
 * microseconds since 1970. Errors are those of the store.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

/* When a post was last seen, held, or worked on; 0: never. */
bool restored_newest(Store *store, int64_t *newest, GError **error);

/* A post that a list took. */
typedef struct RestoredPost {
    const char *list_id, *message_id; /* borrowed */
    const char *trace;                /* of its entries; borrowed */
    int64_t seen_at;
} RestoredPost;

/* Call each for the posts that were seen since, by list, in order of time; it returns false to stop, and must not
 * write. */
typedef bool RestoredEach(const RestoredPost *post, void *data);
bool restored_posts(Store *store, int64_t since, RestoredEach *each, void *data, GError **error);

/* See that the next post of the list gets no lower number than that. *raised: it would have got one. FAIL_MISSING:
 * there is no such list. */
bool restored_raise_number(Store *store, const char *list_id, int64_t number, bool *raised, GError **error);
