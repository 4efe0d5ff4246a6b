/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Count the rows of a collection, so that nobody counts a million of them, and so that the row at a given place is
 * found without stepping over those before it. For this folder only.
 *
 * A collection is the members of a list in one role, all addresses, or all users. It is cut, in the order of its keys,
 * into spans of at most SPAN_MOST rows; a row of the table `span` says where one begins and how many rows it has. One
 * that grows beyond that is halved. Whoever adds, removes or moves a row calls span_count() in the same transaction,
 * when the row has changed, since halving a span reads its rows.
 */
#include <stdbool.h>
#include <stdint.h>

#include "store/store_internal.h"

#define SPAN_MOST 1000

typedef struct SpanOf {
    int64_t list; /* 0: of no list */
    int kind;     /* a Role, or what follows */
} SpanOf;
#define SPAN_MEMBERS(list, role) ((SpanOf){list, role}) /* by folded address */
#define SPAN_ADDRESSES ((SpanOf){0, 4})                 /* by folded address */
#define SPAN_USERS ((SpanOf){0, 5})                     /* by span_user_key() */

#define SPAN_USER_KEY_SIZE 20
/* The key of a person in 19 digits, so that the text sorts as the number does. */
void span_user_key(int64_t person, char key[SPAN_USER_KEY_SIZE]);

/* Begin a collection without rows. */
bool span_begin(Store *store, SpanOf of, GError **error);
/* Delete the spans of a list, in all roles. */
bool span_forget(Store *store, int64_t list, GError **error);
/* Take note that delta rows with this key were added or (negative) removed. Nothing happens to a collection that was
 * forgotten. */
bool span_count(Store *store, SpanOf of, const char *key, int64_t delta, GError **error);
/* Take note that one row was added for each of the keys, which are sorted. */
bool span_count_sorted(Store *store, SpanOf of, const char *const *keys, size_t count, GError **error);
/* As span_count(), of one user. */
bool span_count_user(Store *store, int64_t person, int64_t delta, GError **error);
/* Send the query of span_total() ahead (store/store.h says how). */
void span_total_soon(Store *store, SpanOf of);
/* Set how many rows there are, or -1 when the collection was forgotten. */
bool span_total(Store *store, SpanOf of, int64_t *total, GError **error);
/* Find the span of the row at this place (from 0; the last span's where there are not so many): the key where it begins
 * (g_free()), and the row's place in it. One that was forgotten is one span. */
bool span_seek(Store *store, SpanOf of, int64_t place, char **begins, int64_t *within, GError **error);
