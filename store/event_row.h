/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Events that were told lately (lists/event.h), for those who read them in their order. A number is given once and
 * grows; who has read up to one goes on behind it.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

typedef struct EventRow {
    int64_t number;
    char *id, *type, *list_id;
    char *body; /* JSON, one line */
    int64_t made_at;
} EventRow;

void event_row_free(EventRow *event);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(EventRow, event_row_free)

/* Adds it and sets its number. One whose id is there already stays as it is. */
bool event_row_add(Store *store, EventRow *event, GError **error);
/* The next ones behind a number, at most limit: of EventRow. */
GPtrArray *event_row_after(Store *store, int64_t number, int64_t limit, GError **error);
/* The number of the last one that there ever was; 0: there was none. */
bool event_row_last(Store *store, int64_t *number, GError **error);
/* Removes those that were made before. */
bool event_row_expire(Store *store, int64_t before, GError **error);
