/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/event_row.h"

#include "store/store_internal.h"

void event_row_free(EventRow *event)
{
    if (!event)
        return;
    g_free(event->id);
    g_free(event->type);
    g_free(event->list_id);
    g_free(event->body);
    g_free(event);
}

static bool is_there(Store *store, const char *id, bool *there, GError **error)
{
    g_autoptr(Query) query = query_open(store, error, "SELECT 1 FROM event WHERE id = $1", TEXT(id));
    Step step = query ? query_step(query, error) : STEP_FAILED;
    *there = step == STEP_ROW;
    return step != STEP_FAILED;
}

static bool add(Store *store, EventRow *event, GError **error)
{
    bool there;
    if (!is_there(store, event->id, &there, error))
        return false;
    return there || (store_next_number(store, "event", &event->number, error) &&
                     query_run(store, error, NULL,
                               "INSERT INTO event (number, id, type, list_id, made_at, body) "
                               "VALUES ($1, $2, $3, $4, $5, $6)",
                               INTEGER(event->number), TEXT(event->id), TEXT(event->type), TEXT(event->list_id),
                               INTEGER(event->made_at), TEXT(event->body)));
}

bool event_row_add(Store *store, EventRow *event, GError **error)
{
    Write write;
    return write_begin(store, &write, error) && write_end(store, &write, add(store, event, error), error);
}

GPtrArray *event_row_after(Store *store, int64_t number, int64_t limit, GError **error)
{
    g_autoptr(GPtrArray) events = g_ptr_array_new_with_free_func((GDestroyNotify)event_row_free);
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT number, id, type, list_id, made_at, body FROM event "
                                        "WHERE number > $1 ORDER BY number LIMIT $2",
                                        INTEGER(number), INTEGER(limit));
    Step step = STEP_FAILED;
    while (query && (step = query_step(query, error)) == STEP_ROW) {
        EventRow *event = g_new0(EventRow, 1);
        event->number = query_integer(query, 0);
        event->id = g_strdup(query_text(query, 1));
        event->type = g_strdup(query_text(query, 2));
        event->list_id = g_strdup(query_text(query, 3));
        event->made_at = query_integer(query, 4);
        event->body = g_strdup(query_text(query, 5));
        g_ptr_array_add(events, event);
    }
    return step == STEP_DONE ? g_steal_pointer(&events) : NULL;
}

bool event_row_last(Store *store, int64_t *number, GError **error)
{
    g_autoptr(Query) query = query_open(store, error, "SELECT value FROM counter WHERE name = $1", TEXT("event"));
    Step step = query ? query_step(query, error) : STEP_FAILED;
    *number = step == STEP_ROW ? query_integer(query, 0) : 0;
    return step != STEP_FAILED;
}

bool event_row_expire(Store *store, int64_t before, GError **error)
{
    return store_expire_rows(store, "SELECT made_at FROM event WHERE made_at < $1 ORDER BY made_at LIMIT 1 OFFSET $2",
                             "DELETE FROM event WHERE made_at <= $1", before, error);
}
