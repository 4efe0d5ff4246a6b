/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep counts of the rows of large collections. So their number is known without counting, and the row at a given place
 * is found without stepping over all rows before it. For this folder only.
 *
 * A collection is the members of a list in one role, all addresses, or all users. It is cut, in the order of its keys,
 * into spans of at most SPAN_MOST rows; a row of the table `span` says where one begins and how many rows it has. One
 * that grows beyond that is halved. Each function that adds, removes or moves a row calls span_count() in the same
 * transaction. For a row that is added it does so afterwards, since halving a span reads its rows.
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
/* Write the key of a person in 19 digits, so that the text sorts as the number does. */
void span_user_key(int64_t person, char key[SPAN_USER_KEY_SIZE]);

/* Begin a collection, which has no rows yet. */
bool span_begin(Store *store, SpanOf of, GError **error);
/* Delete the spans of a list's members in all roles, before many members are removed. Then nothing is counted there,
 * and the collection counts as forgotten. */
bool span_forget(Store *store, int64_t list, GError **error);
/* Take note that delta rows with this key were added or (negative) removed. Nothing happens to a collection that was
 * forgotten. */
bool span_count(Store *store, SpanOf of, const char *key, int64_t delta, GError **error);
/* Take note that one row was added (each: 1) or removed (each: -1) for each of the keys, which are sorted. */
bool span_count_sorted(Store *store, SpanOf of, const char *const *keys, size_t count, int each, GError **error);
/* Take note, as span_count() does, of delta users: rows of SPAN_USERS with the key of this person. */
bool span_count_user(Store *store, int64_t person, int64_t delta, GError **error);
/* Announce span_total() (store/store.h says how). */
void span_total_soon(Store *store, SpanOf of);
/* Set *total to the number of rows, or to -1 where the collection was forgotten. */
bool span_total(Store *store, SpanOf of, int64_t *total, GError **error);
/* Find the span that has the row at this place (from 0), or the last span where there are not so many rows. *begins
 * (g_free()) is the key where it begins, and *within the row's place in it, from 0. A forgotten collection counts as
 * one span that begins with "". */
bool span_seek(Store *store, SpanOf of, int64_t place, char **begins, int64_t *within, GError **error);
