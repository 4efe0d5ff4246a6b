/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep posts that a list has accepted, and that are to be sent only at a later time, due_at. The bytes are kept in the
 * database, whole, so that they outlive queues and any host can send them. Whoever sends or drops a post removes its
 * row; a row is also removed with its list. Times are microseconds since 1970. Errors are those of the store.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

typedef struct Scheduled {
    int64_t number; /* for people: unique in the store */
    char *list_id, *message_id, *subject, *sender;
    char *author; /* the owner or moderator on whose word it waits; NULL: nobody's standing matters */
    char *meta;   /* the entry's metadata, JSON */
    int64_t made_at, due_at;
    int64_t size;    /* bytes of message; not for scheduled_add() */
    GBytes *message; /* NULL from scheduled_each() */
} Scheduled;

void scheduled_free(Scheduled *scheduled);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Scheduled, scheduled_free)

/* Add the post, which stays the caller's; its number is set. FAIL_MISSING: there is no such list. */
bool scheduled_add(Store *store, Scheduled *scheduled, GError **error);

/* Return the post of that number with its message; scheduled_free(). FAIL_MISSING: there is none. */
Scheduled *scheduled_find(Store *store, int64_t number, GError **error);

/* Change when the post of that number is due. FAIL_MISSING: there is none. */
bool scheduled_set_due(Store *store, int64_t number, int64_t due, GError **error);

/* Remove the post of that number. FAIL_MISSING: there is none. So when several processes send a post, each in a
 * transaction with this call, only one of them succeeds. */
bool scheduled_remove(Store *store, int64_t number, GError **error);

/* Remove all that this address has waiting on all lists, as sender or as author. */
bool scheduled_remove_sender(Store *store, const char *sender, GError **error);

/* Call each for the posts of a list, or (list_id NULL) of all lists, in the order in which they are due. each must not
 * write to the store; it returns false to stop, and scheduled_each() then returns true. */
typedef bool ScheduledEach(const Scheduled *scheduled, void *data);
bool scheduled_each(Store *store, const char *list_id, ScheduledEach *each, void *data, GError **error);

/* Return the numbers of the posts whose due_at is not after `by`, the earliest first: of int64_t, g_array_unref(). */
GArray *scheduled_due(Store *store, int64_t by, GError **error);

/* Count the posts that scheduled_due() returns. *oldest is the earliest due_at; 0: there is none. */
bool scheduled_count_due(Store *store, int64_t by, int64_t *count, int64_t *oldest, GError **error);

/* Count the scheduled posts of a list; 0 also where there is no such list. */
bool scheduled_count(Store *store, const char *list_id, int64_t *count, GError **error);
