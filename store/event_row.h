/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Events that were told lately (lists/event.h), for those who read them in their order. A number is given once and
 * grows; who has read up to one goes on behind it.
 *
 * The right to read an event hangs on the list that it tells of and on the domain in which that was then. Both are
 * noted by their keys, since a list or domain that is removed and made again has its name once more, and is another.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

/* Where the list was when something happened on it; mail_host NULL or empty: nobody noted that. */
typedef struct EventPlace {
    char *mail_host;
    int64_t list, domain; /* keys; domain 0: one that was made by an older program */
} EventPlace;

void event_place_clear(EventPlace *place);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(EventPlace, event_place_clear)

typedef struct EventRow {
    int64_t number;
    char *id, *type, *list_id;
    EventPlace place;
    char *body; /* JSON, one line */
    int64_t made_at;
} EventRow;

void event_row_free(EventRow *event);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(EventRow, event_row_free)

/* Adds it and sets its number. One whose id is there already stays as it is. */
bool event_row_add(Store *store, EventRow *event, GError **error);
/* Fill *place, which the caller clears, with where the list is now. Empty where there is no such list. */
bool event_place_find(Store *store, const char *list_id, EventPlace *place, GError **error);
/* Is the list there, not one of the same name made since? And is the domain? */
bool event_row_stands(Store *store, const EventRow *event, bool *list, bool *domain, GError **error);
/* The next ones behind a number, at most limit: of EventRow. */
GPtrArray *event_row_after(Store *store, int64_t number, int64_t limit, GError **error);
/* The number of the last one that there ever was; 0: there was none. */
bool event_row_last(Store *store, int64_t *number, GError **error);
/* Removes those that were made before. */
bool event_row_expire(Store *store, int64_t before, GError **error);
