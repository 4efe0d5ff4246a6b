/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Structs that are read from rows: the fields of one, in the order of the columns of its SELECT. For this folder only.
 */
#include <stddef.h>

#include "store/store_internal.h"

typedef enum RowType {
    ROW_TEXT,    /* char *, owned; NULL for NULL */
    ROW_INTEGER, /* int64_t */
    ROW_CHOICE,  /* int or an enum; -1 for NULL */
    ROW_FLAG,    /* bool */
} RowType;

typedef struct RowField {
    RowType type;
    size_t offset;
} RowField;

/* An enum is an unsigned int for the compiler. */
#define ROW(struct_, field_) \
    { \
        _Generic(((struct_ *)0)->field_, char *: ROW_TEXT, int64_t: ROW_INTEGER, int: ROW_CHOICE, \
                 unsigned: ROW_CHOICE, bool: ROW_FLAG), offsetof(struct_, field_) \
    }

/* Fill the fields from the columns at first and behind it. Texts that are there already are not freed. */
#define row_read(query, first, fields, row) row_read_fields(query, first, fields, G_N_ELEMENTS(fields), row)
void row_read_fields(Query *query, int first, const RowField *fields, size_t count, void *row);

/* Free the texts. */
#define row_clear(fields, row) row_clear_fields(fields, G_N_ELEMENTS(fields), row)
void row_clear_fields(const RowField *fields, size_t count, void *row);

/* Run the query (NULL: it could not be started) to its end, and return what read() made of each row; the array frees it
 * with free_row(). */
typedef void *RowReader(Query *query);
GPtrArray *row_collect(Query *query, RowReader *read, GDestroyNotify free_row, GError **error);
