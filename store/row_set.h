/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Insert many rows into one table, or remove many. ROW_SET_ROWS rows go in one statement, so that the caller waits for
 * a server once for all of them. Make a set, add rows, end it, free it. Rows that were added and not ended are lost.
 * For this folder only.
 */
#include "store/store_internal.h"

#define ROW_SET_ROWS 100

/* The parts of the statement: HEAD ($1, $2, ...), ($3, $4, ...), ... TAIL. head is like "INSERT INTO person (key,
 * created_at) VALUES", and tail like "ON CONFLICT DO NOTHING", or NULL; or they are "DELETE FROM member WHERE key IN
 * (VALUES" and ")". Both are string literals. */
typedef struct RowSetKind {
    const char *head, *tail;
    unsigned columns; /* values of one row */
} RowSetKind;

typedef struct RowSet RowSet;
RowSet *row_set_new(Store *store, const RowSetKind *kind);
void row_set_free(RowSet *set);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RowSet, row_set_free)
/* Add a row, whose values are copied. Each ROW_SET_ROWS rows are written at once, so false may be about earlier
 * rows. */
bool row_set_add_all(RowSet *set, const Value *values, GError **error);
#define row_set_add(set, error, ...) row_set_add_all(set, (const Value[]){__VA_ARGS__}, error)
/* Write the rows that are not written yet. Then the set is empty, and can be filled again or freed. */
bool row_set_end(RowSet *set, GError **error);
