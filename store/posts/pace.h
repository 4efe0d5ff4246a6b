/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Count posts to a list by the hour, for each address and for all together. So a rule can tell when somebody posts far
 * more than before. An hour begins with the first post after the last hour has ended. There is one row for each address
 * that posts and one for the list; the timer removes a row that was not touched for PACE_KEPT.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "store/store_type.h"

#define PACE_KEPT (90 * 86400 * CLOCK_SECOND)

typedef struct Pace {
    int64_t posts;    /* counted in the hour that runs */
    int64_t past;     /* posts of the busiest hour before, rounded; they count half after each 30 days */
    int64_t first_at; /* when counting began; 0: never */
} Pace;

/* Fill *pace for the address (any case of letters), or with address NULL for all posts to the list. FAIL_MISSING: there
 * is no such list. */
bool pace_find(Store *store, const char *list_id, const char *address, int64_t now, Pace *pace, GError **error);
/* Count one post of the address; address NULL counts it among all posts to the list. A post takes both calls. */
bool pace_count(Store *store, const char *list_id, const char *address, int64_t now, GError **error);
