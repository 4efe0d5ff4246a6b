/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Posts held for moderation. The octets are kept here, whole, so that a held
 * post outlives queues and can be decided from any host.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/list.h"
#include "store/store_type.h"

typedef struct Held {
    int64_t number; /* for people: the request id, unique in the store */
    char *list_id, *message_id, *subject, *sender, *reason;
    char *meta;       /* the entry's metadata, JSON */
    int64_t held_at;
    GBytes *message;  /* NULL from held_each() */
    int64_t attempts; /* held_attempt() so far; 0 from held_each() */
} Held;

void held_free(Held *held);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Held, held_free)

/* number is set on return. */
bool held_add(Store *store, Held *held, GError **error);
Held *held_find(Store *store, int64_t number, GError **error);
/* Counts that somebody begins to decide about it. Once this is committed, whoever finds more than his own attempt must
 * look for what another left outside the store. A number that is not held is passed over. */
bool held_attempt(Store *store, int64_t number, GError **error);
bool held_remove(Store *store, int64_t number, GError **error);
/* How many are held on all lists, and since when the oldest (0: none). */
bool held_count(Store *store, int64_t *count, int64_t *oldest, GError **error);
/* Those of a list, whole, in order: up to limit (of Held, freed with the array) after the first `skip`; how many. */
GPtrArray *held_page(Store *store, const char *list_id, int64_t skip, unsigned limit, GError **error);
bool held_total(Store *store, const char *list_id, int64_t *total, GError **error);
typedef bool HeldEach(const Held *held, void *data);
bool held_each(Store *store, const char *list_id, HeldEach *each, void *data, GError **error); /* list_id NULL: all */
