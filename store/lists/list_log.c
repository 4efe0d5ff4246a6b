/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/lists/list_log.h"

#include "base/fail.h"
#include "store/row.h"

#define COLUMNS "key, made_at, door, made_by, kind, name, before, after"
static const RowField log_row[] = {ROW(ListLogRow, key),    ROW(ListLogRow, made_at), ROW(ListLogRow, door),
                                   ROW(ListLogRow, by),     ROW(ListLogRow, kind),    ROW(ListLogRow, name),
                                   ROW(ListLogRow, before), ROW(ListLogRow, after)};

void list_log_row_free(ListLogRow *row)
{
    row_free(log_row, row);
}

bool list_log_add(Store *store, const char *list_id, ListLogRow *row, GError **error)
{
    int64_t list;
    return list_key(store, list_id, &list, error) &&
           STORE_WRITE(store, error,
                       (row->key = store_key_new(store, error)) != 0 &&
                           query_run(store, error, NULL,
                                     "INSERT INTO list_log (key, list, made_at, door, made_by, kind, name, before, "
                                     "after) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                                     INTEGER(row->key), INTEGER(list), INTEGER(row->made_at), TEXT(row->door),
                                     TEXT(row->by), TEXT(row->kind), TEXT(row->name), TEXT(row->before),
                                     TEXT(row->after)));
}

GPtrArray *list_log_page(Store *store, const char *list_id, const char *kind, int64_t before, unsigned limit,
                         GError **error)
{
    int64_t list, below = before > 0 ? before : G_MAXINT64;
    if (!list_key(store, list_id, &list, error))
        return NULL;
    g_autoptr(Query)
        query = kind ? query_open(store, error,
                                  "SELECT " COLUMNS " FROM list_log WHERE list = $1 AND kind = $2 AND key < $3 "
                                  "ORDER BY key DESC LIMIT $4",
                                  INTEGER(list), TEXT(kind), INTEGER(below), INTEGER(limit))
                     : query_open(store, error,
                                  "SELECT " COLUMNS
                                  " FROM list_log WHERE list = $1 AND key < $2 ORDER BY key DESC LIMIT $3",
                                  INTEGER(list), INTEGER(below), INTEGER(limit));
    return row_all(query, ListLogRow, log_row, list_log_row_free, error);
}

ListLogRow *list_log_find(Store *store, const char *list_id, int64_t key, GError **error)
{
    int64_t list;
    if (!list_key(store, list_id, &list, error))
        return NULL;
    g_autoptr(Query) query = query_open(store, error, "SELECT " COLUMNS " FROM list_log WHERE list = $1 AND key = $2",
                                        INTEGER(list), INTEGER(key));
    return row_find(query, ListLogRow, log_row,
                    fail(error, FAIL_MISSING, "the log of %s has no row %" G_GINT64_FORMAT, list_id, key), error);
}

GPtrArray *list_log_named(Store *store, const char *list_id, const char *kind, const char *name, unsigned limit,
                          GError **error)
{
    int64_t list;
    if (!list_key(store, list_id, &list, error))
        return NULL;
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT " COLUMNS " FROM list_log WHERE name = $1 AND list = $2 AND kind = $3 "
                                        "ORDER BY key DESC LIMIT $4",
                                        TEXT(name), INTEGER(list), TEXT(kind), INTEGER(limit));
    return row_all(query, ListLogRow, log_row, list_log_row_free, error);
}

bool list_log_expire(Store *store, int64_t before, GError **error)
{
    return STORE_EXPIRE(store, "list_log", "made_at", before, error);
}
