/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Insert many rows of one kind: ROW_SET_ROWS of them go in one statement, so that a server is waited for once for all.
 * For this folder only.
 */
#include "store/store_internal.h"

#define ROW_SET_ROWS 100

/* Statements are HEAD ($1, $2, ...), (...), ... TAIL, as in "INSERT INTO person (key, created_at) VALUES". Both texts
 * are literals. */
typedef struct RowSetKind {
    const char *head, *tail;
    unsigned columns;
} RowSetKind;

typedef struct RowSet RowSet;
RowSet *row_set_new(Store *store, const RowSetKind *kind);
void row_set_free(RowSet *set);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RowSet, row_set_free)
/* Add a row, whose values are copied. A failure may be that of rows before it. */
bool row_set_add_all(RowSet *set, const Value *values, GError **error);
#define row_set_add(set, error, ...) row_set_add_all(set, (const Value[]){__VA_ARGS__}, error)
/* Write those that are left. The set can be filled again. */
bool row_set_end(RowSet *set, GError **error);
