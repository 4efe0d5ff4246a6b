/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Run SQL statements over whichever driver the store has. The files of the tables are written with it. For this folder
 * only.
 *
 * Statements are string literals with parameters $1, $2, ..., kept prepared under the literal's address; one text
 * serves every driver. Never let a statement fail for a reason that can be asked beforehand (some databases end a
 * transaction at the first error): use ON CONFLICT DO NOTHING and query_run()'s count.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/driver/driver.h"
#include "store/store_type.h"

typedef struct Query Query;

/* Prepare a query whose result fits in memory, and bind its values. The first query_step() runs it, and a driver may
 * read the whole result then. Texts and blobs in values are borrowed: keep them until the query is freed. NULL with
 * error: it cannot be prepared. */
Query *query_start(Store *store, GError **error, const char *sql, const Value *values, size_t count);
#define query_open(store, error, sql, ...) \
    query_start(store, error, sql, (const Value[]){__VA_ARGS__}, sizeof((const Value[]){__VA_ARGS__}) / sizeof(Value))

/* Prepare a query as query_start() does, for results of any size: rows are fetched as they are asked for. Other queries
 * may run meanwhile, but store_begin() and store_commit() fail while a stream is open. */
Query *query_stream_start(Store *store, GError **error, const char *sql, const Value *values, size_t count);
#define query_stream(store, error, sql, ...) \
    query_stream_start(store, error, sql, (const Value[]){__VA_ARGS__}, \
                       sizeof((const Value[]){__VA_ARGS__}) / sizeof(Value))
void query_free(Query *query);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Query, query_free)

/* Go to the next row: STEP_ROW; STEP_DONE: there is none any more; STEP_FAILED with error, also for query NULL, which
 * could not be started and has set error. The functions below read the columns of that row, which count from 0. */
Step query_step(Query *query, GError **error);
bool query_is_null(Query *query, int column);
int64_t query_integer(Query *query, int column);
int query_choice(Query *query, int column);       /* -1 for NULL */
const char *query_text(Query *query, int column); /* borrowed until the next step; NULL for NULL */
GBytes *query_blob(Query *query, int column);     /* a copy, g_bytes_unref(); empty for NULL */
/* Return the bytes of text or of a blob, borrowed until the next step; NULL for NULL. */
const void *query_bytes(Query *query, int column, size_t *length);
/* After the first step, return how many columns a row has. */
int query_columns(Query *query);
/* After the first step, return the name of a column, borrowed, and set *type to the type of its value. */
const char *query_column(Query *query, int column, ValueType *type);
/* Run the query to the end, and return the first column of all rows; g_strfreev(). The query stays the caller's. NULL:
 * it failed, or query is NULL since it could not be started. */
char **query_texts(Query *query, GError **error);

/* Announce a query that only reads and that will follow with this text and these values (store.h, xxx_soon()). The
 * first announced query that is run sends all of them in one round trip; a driver without round trips ignores it.
 * Inside a transaction nothing is done. An announcement is dropped once it was used. */
void query_soon_all(Store *store, bool stream, const char *sql, const Value *values, size_t count);
#define query_soon(store, sql, ...)                                 \
    query_soon_all(store, false, sql, (const Value[]){__VA_ARGS__}, \
                   sizeof((const Value[]){__VA_ARGS__}) / sizeof(Value))
#define query_stream_soon(store, sql, ...) \
    query_soon_all(store, true, sql, (const Value[]){__VA_ARGS__}, sizeof((const Value[]){__VA_ARGS__}) / sizeof(Value))

/* Run a statement to its end; *changed (may be NULL) is the number of rows that it changed. */
bool query_all(Store *store, GError **error, int64_t *changed, const char *sql, const Value *values, size_t count);
#define query_run(store, error, changed, sql, ...) \
    query_all(store, error, changed, sql, (const Value[]){__VA_ARGS__}, \
              sizeof((const Value[]){__VA_ARGS__}) / sizeof(Value))

/* Run a query, and set *number to the first column of its first row; where there is no row, it stays as it is. */
bool query_number_all(Store *store, GError **error, int64_t *number, const char *sql, const Value *values,
                      size_t count);
#define query_number(store, error, number, sql, ...)                          \
    query_number_all(store, error, number, sql, (const Value[]){__VA_ARGS__}, \
                     sizeof((const Value[]){__VA_ARGS__}) / sizeof(Value))
/* Run a query, and set *exists: does it have a row? */
bool query_exists_all(Store *store, GError **error, bool *exists, const char *sql, const Value *values, size_t count);
#define query_exists(store, error, exists, sql, ...)                          \
    query_exists_all(store, error, exists, sql, (const Value[]){__VA_ARGS__}, \
                     sizeof((const Value[]){__VA_ARGS__}) / sizeof(Value))
/* Run a statement that changes a row which must be there, or inserts one which must not. Where it changes no row,
 * `refusal` is the result: an expression that is evaluated only then, mostly fail(error, FAIL_MISSING, ...). */
#define query_change_one(store, error, refusal, sql, ...)                                    \
    ({                                                                                       \
        int64_t changed_ = 0;                                                                \
        query_run(store, error, &changed_, sql, __VA_ARGS__) && (changed_ > 0 || (refusal)); \
    })

/* Run a statement inside a transaction, for a caller that needs neither rows nor their number. A driver may send the
 * statement without waiting; then a later statement or the commit fails in its place. */
bool query_later_all(Store *store, GError **error, const char *sql, const Value *values, size_t count);
#define query_later(store, error, sql, ...) \
    query_later_all(store, error, sql, (const Value[]){__VA_ARGS__}, \
                    sizeof((const Value[]){__VA_ARGS__}) / sizeof(Value))
