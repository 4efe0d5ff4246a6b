/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read structs from the rows of queries by a table of their fields. For this folder only. A table lists fields in the
 * order of the columns of the SELECT:
 *
 *   static const RowField domain_row[] = {ROW(Domain, mail_host), ROW(Domain, description)};
 *   row_read(query, 0, domain_row, domain);
 */
#include <stddef.h>

#include "base/mailbox.h"
#include "store/store_internal.h"

typedef enum RowType {
    ROW_TEXT,    /* char *, owned; NULL for NULL */
    ROW_INTEGER, /* int64_t */
    ROW_CHOICE,  /* int or an enum; -1 for NULL */
    ROW_FLAG,    /* bool */
    ROW_BLOB,    /* GBytes *, owned; empty for NULL */
    ROW_MAILBOX, /* const Mailbox *, owned; NULL for NULL */
} RowType;

typedef struct RowField {
    RowType type;
    size_t offset;
} RowField;

/* One field of a struct, whose RowType follows from the field's C type. (An enum is an unsigned int for the
 * compiler.) */
#define ROW(struct_, field_)                                                                        \
    {                                                                                               \
        _Generic(((struct_ *)0)->field_, char *: ROW_TEXT, int64_t: ROW_INTEGER, int: ROW_CHOICE, \
                 unsigned: ROW_CHOICE, bool: ROW_FLAG, GBytes *: ROW_BLOB, const Mailbox *: ROW_MAILBOX), \
            offsetof(struct_, field_) \
    }

/* Fill the fields of *row from the query's row, beginning with the column first (from 0). Texts are copied; what the
 * fields held before is not freed. Fields at the end of the table for which the row has no columns stay as they are, so
 * one table can serve a SELECT with the message and one without. */
#define row_read(query, first, fields, row) row_read_fields(query, first, fields, G_N_ELEMENTS(fields), row)
void row_read_fields(Query *query, int first, const RowField *fields, size_t count, void *row);

/* Free the texts and blobs of *row, and set them to NULL; row_free() frees the row itself too, and takes NULL. */
#define row_clear(fields, row) row_clear_fields(fields, G_N_ELEMENTS(fields), row)
#define row_free(fields, row) row_free_fields(fields, G_N_ELEMENTS(fields), row)
void row_clear_fields(const RowField *fields, size_t count, void *row);
void row_free_fields(const RowField *fields, size_t count, void *row);

/* Go to the query's next row (query_step()), and return a struct of this type (g_malloc()) with its fields; NULL where
 * *step is not STEP_ROW. */
#define row_next(query, type, fields, step, error) \
    ((type *)row_next_fields(query, fields, G_N_ELEMENTS(fields), sizeof(type), step, error))
void *row_next_fields(Query *query, const RowField *fields, size_t count, size_t size, Step *step, GError **error);
/* The struct of the first row. NULL with error: the query failed, or there is no row, and then the expression `missing`
 * was evaluated, which sets error: mostly fail(error, FAIL_MISSING, ...). */
#define row_find(query, type, fields, missing, error)              \
    ({                                                             \
        Step step_;                                                \
        type *row_ = row_next(query, type, fields, &step_, error); \
        if (step_ == STEP_DONE)                                    \
            (void)(missing);                                       \
        row_;                                                      \
    })
/* Call each(row, data) with a struct for each row, which is freed after it with free_row(); false ends it early. True
 * unless the query failed. */
typedef bool RowEach(const void *row, void *data);
#define row_each(query, type, fields, each, free_row, data, error)                                                   \
    row_each_fields(query, &(const RowKind){fields, G_N_ELEMENTS(fields), sizeof(type), (GDestroyNotify)(free_row)}, \
                    (RowEach *)(each), data, error)
typedef struct RowKind {
    const RowField *fields;
    size_t count, size;
    GDestroyNotify free_row;
} RowKind;
bool row_each_fields(Query *query, const RowKind *kind, RowEach *each, void *data, GError **error);

/* Run the query to its end, and return what read() made of each row; the array frees each with free_row(). The query
 * stays the caller's. NULL: the query failed, or query is NULL since it could not be started; error is set. */
typedef void *RowReader(Query *query);
GPtrArray *row_collect(Query *query, RowReader *read, GDestroyNotify free_row, GError **error);
/* The same with a struct of this type for each row, whose fields are filled from the row's columns. */
#define row_all(query, type, fields, free_row, error) \
    row_all_fields(query, fields, G_N_ELEMENTS(fields), sizeof(type), (GDestroyNotify)(free_row), error)
GPtrArray *row_all_fields(Query *query, const RowField *fields, size_t count, size_t size, GDestroyNotify free_row,
                          GError **error);
/* The same with the integer (int64_t) that each row has in its first column. */
GArray *row_integers(Query *query, GError **error);
