/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep recent events (lists/event.h), so that programs can read them in order. Each event gets a greater number than
 * the one before. A reader remembers the last number that it has read, and asks event_row_after() for what came later.
 *
 * The right to read an event hangs on the list that it tells of and on the domain in which that was then. Both are
 * noted by their keys, since a list or domain that is removed and made again has its name once more, and is another.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

/* The list's key and domain when the event happened; mail_host NULL or empty: they were not noted. */
typedef struct EventPlace {
    char *mail_host;
    int64_t list, domain; /* keys */
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

/* Add the event and set its number. Where an event with its id is there already, that one stays as it is. */
bool event_row_add(Store *store, EventRow *event, GError **error);
/* Fill *place, which the caller clears, with where the list is now. Empty where there is no such list. */
bool event_place_find(Store *store, const char *list_id, EventPlace *place, GError **error);
/* Set *list to whether the event's list is still there, and is not another one that was made later with the same
 * List-Id. Set *domain to the same about the event's domain. False: the store failed. */
bool event_row_stands(Store *store, const EventRow *event, bool *list, bool *domain, GError **error);
/* Return the events with numbers greater than this one, in order, at most limit: of EventRow, freed with the array. */
GPtrArray *event_row_after(Store *store, int64_t number, int64_t limit, GError **error);
/* Set *number to that of the last event that was ever added, which may have expired; 0: there was none. */
bool event_row_last(Store *store, int64_t *number, GError **error);
/* Remove the events that were made before this time. */
bool event_row_expire(Store *store, int64_t before, GError **error);
