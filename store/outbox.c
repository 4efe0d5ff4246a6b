/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/outbox.h"

#include "store/store_internal.h"

#define COLUMNS "number, queue, meta, recipients, message, made_at, touched"

void outbox_row_free(OutboxRow *row)
{
    if (!row)
        return;
    g_free(row->queue);
    g_free(row->meta);
    g_free(row->recipients);
    g_clear_pointer(&row->message, g_bytes_unref);
    g_free(row);
}

static bool add(Store *store, const char *entry, OutboxRow *row, GError **error)
{
    size_t length;
    const void *octets = g_bytes_get_data(row->message, &length);
    return store_next_number(store, "outbox", &row->number, error) &&
           query_run(store, error, NULL,
                     "INSERT INTO outbox (number, entry, queue, meta, recipients, message, made_at, "
                     "touched) VALUES ($1, $2, $3, $4, $5, $6, $7, 0)",
                     INTEGER(row->number), TEXT(entry), TEXT(row->queue), TEXT(row->meta), TEXT(row->recipients),
                     BLOB(octets, length), INTEGER(row->made_at));
}

bool outbox_add(Store *store, const char *entry, OutboxRow *row, GError **error)
{
    Write write;
    return write_begin(store, &write, error) && write_end(store, &write, add(store, entry, row, error), error);
}

static OutboxRow *read_row(Query *query)
{
    OutboxRow *row = g_new0(OutboxRow, 1);
    row->number = query_integer(query, 0);
    row->queue = g_strdup(query_text(query, 1));
    row->meta = g_strdup(query_text(query, 2));
    row->recipients = g_strdup(query_text(query, 3));
    row->message = query_blob(query, 4);
    row->made_at = query_integer(query, 5);
    row->touched = query_integer(query, 6) != 0;
    return row;
}

static GPtrArray *read_all(Query *query, GError **error)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)outbox_row_free);
    Step step = STEP_FAILED;
    while (query && (step = query_step(query, error)) == STEP_ROW)
        g_ptr_array_add(rows, read_row(query));
    return step == STEP_DONE ? g_steal_pointer(&rows) : NULL;
}

bool outbox_count(Store *store, int64_t *count, int64_t *oldest, GError **error)
{
    g_autoptr(Query) query = query_start(
        store, error, "SELECT count(*), COALESCE(min(made_at), 0) FROM outbox WHERE entry IS NULL", NULL, 0);
    if (!query || query_step(query, error) != STEP_ROW)
        return false;
    *count = query_integer(query, 0);
    *oldest = query_integer(query, 1);
    return true;
}

bool outbox_find(Store *store, int64_t number, OutboxRow **row, GError **error)
{
    *row = NULL;
    g_autoptr(Query) query =
        query_open(store, error, "SELECT " COLUMNS " FROM outbox WHERE number = $1", INTEGER(number));
    Step step = query ? query_step(query, error) : STEP_FAILED;
    if (step == STEP_ROW)
        *row = read_row(query);
    return step != STEP_FAILED;
}

bool outbox_touch(Store *store, GError **error)
{
    return query_all(store, error, NULL, "UPDATE outbox SET touched = 1 WHERE entry IS NULL AND touched = 0", NULL, 0);
}

GPtrArray *outbox_waiting(Store *store, int64_t limit, GError **error)
{
    g_autoptr(Query) query =
        query_open(store, error, "SELECT " COLUMNS " FROM outbox WHERE entry IS NULL ORDER BY number LIMIT $1",
                   INTEGER(limit));
    return read_all(query, error);
}

GPtrArray *outbox_of(Store *store, const char *entry, GError **error)
{
    g_autoptr(Query) query =
        query_open(store, error, "SELECT " COLUMNS " FROM outbox WHERE entry = $1 ORDER BY number", TEXT(entry));
    return read_all(query, error);
}

bool outbox_remove(Store *store, int64_t number, GError **error)
{
    return query_run(store, error, NULL, "DELETE FROM outbox WHERE number = $1", INTEGER(number));
}

bool outbox_remove_of(Store *store, const char *entry, GError **error)
{
    return query_run(store, error, NULL, "DELETE FROM outbox WHERE entry = $1", TEXT(entry));
}

bool outbox_expire(Store *store, int64_t before, GError **error)
{
    return query_run(store, error, NULL, "DELETE FROM outbox WHERE entry IS NOT NULL AND made_at < $1",
                     INTEGER(before));
}
