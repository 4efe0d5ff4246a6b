/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * How much is posted to a list, by one address or by all, compared with what was posted before. An hour begins with the
 * first post after the last hour has ended. Whatever the number of posts, there is one row for each address that posts
 * and one for the list; the timer removes a row that was not touched for PACE_KEPT.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "store/store_type.h"

#define PACE_KEPT (90 * 86400 * CLOCK_SECOND)

typedef struct Pace {
    int64_t posts;    /* counted in the hour that runs */
    int64_t past;     /* of the busiest hour before, rounded; what is 30 days old counts half */
    int64_t first_at; /* when counting began; 0: never */
} Pace;

/* address NULL: that of all posts to the list. An address is the same in any case of letters. */
bool pace_find(Store *store, const char *list_id, const char *address, int64_t now, Pace *pace, GError **error);
/* Count one post. */
bool pace_count(Store *store, const char *list_id, const char *address, int64_t now, GError **error);
