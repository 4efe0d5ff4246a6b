/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/held.h"

#include "base/fail.h"
#include "store/store_internal.h"

#define COLUMNS \
    "held.number, list.list_id, held.message_id, held.subject, held.sender, held.reason, held.meta, held.held_at"
#define FROM " FROM held JOIN list ON list.key = held.list "

void held_free(Held *held)
{
    if (!held)
        return;
    g_free(held->list_id);
    g_free(held->message_id);
    g_free(held->subject);
    g_free(held->sender);
    g_free(held->reason);
    g_free(held->meta);
    g_clear_pointer(&held->message, g_bytes_unref);
    g_free(held);
}

/* Numbers are never used twice: people keep them in mails. */
static bool next_number(Store *store, int64_t *number, GError **error)
{
    g_autoptr(Query) query =
        query_start(store, error, "UPDATE counter SET value = value + 1 WHERE name = 'held' RETURNING value", NULL, 0);
    if (!query || query_step(query, error) != STEP_ROW)
        return false;
    *number = query_integer(query, 0);
    return true;
}

static bool insert(Store *store, Held *held, GError **error)
{
    int64_t key, number;
    if (!list_key(store, held->list_id, &key, error) || !next_number(store, &number, error))
        return false;
    size_t length = 0;
    const void *octets = held->message ? g_bytes_get_data(held->message, &length) : NULL;
    if (!query_run(store, error, NULL,
                   "INSERT INTO held (number, list, message_id, subject, sender, reason, meta, held_at, message) "
                   "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                   INTEGER(number), INTEGER(key), TEXT(held->message_id), TEXT(held->subject), TEXT(held->sender),
                   TEXT(held->reason), TEXT(held->meta), INTEGER(held->held_at), BLOB(octets, length)))
        return false;
    held->number = number;
    return true;
}

bool held_add(Store *store, Held *held, GError **error)
{
    Write write;
    return write_begin(store, &write, error) && write_end(store, &write, insert(store, held, error), error);
}

static Held *read_row(Query *query)
{
    Held *held = g_new0(Held, 1);
    held->number = query_integer(query, 0);
    held->list_id = g_strdup(query_text(query, 1));
    held->message_id = g_strdup(query_text(query, 2));
    held->subject = g_strdup(query_text(query, 3));
    held->sender = g_strdup(query_text(query, 4));
    held->reason = g_strdup(query_text(query, 5));
    held->meta = g_strdup(query_text(query, 6));
    held->held_at = query_integer(query, 7);
    return held;
}

Held *held_find(Store *store, int64_t number, GError **error)
{
    g_autoptr(Query) query =
        query_open(store, error,
                   "SELECT " COLUMNS ", held.message, COALESCE(held_attempt.attempts, 0)" FROM
                   "LEFT JOIN held_attempt ON held_attempt.number = held.number WHERE held.number = $1",
                   INTEGER(number));
    Step step = query ? query_step(query, error) : STEP_FAILED;
    if (step == STEP_DONE)
        fail(error, FAIL_MISSING, "there is no held post %" G_GINT64_FORMAT, number);
    if (step != STEP_ROW)
        return NULL;
    Held *held = read_row(query);
    held->message = query_blob(query, 8);
    held->attempts = query_integer(query, 9);
    return held;
}

bool held_attempt(Store *store, int64_t number, GError **error)
{
    return query_run(store, error, NULL,
                     "INSERT INTO held_attempt (number, attempts) SELECT number, 1 FROM held WHERE number = $1 "
                     "ON CONFLICT (number) DO UPDATE SET attempts = held_attempt.attempts + 1",
                     INTEGER(number));
}

static bool remove_row(Store *store, int64_t number, GError **error)
{
    int64_t removed = 0;
    return query_run(store, error, &removed, "DELETE FROM held WHERE number = $1", INTEGER(number)) &&
           (removed > 0 || fail(error, FAIL_MISSING, "there is no held post %" G_GINT64_FORMAT, number));
}

bool held_remove(Store *store, int64_t number, GError **error)
{
    Write write;
    return write_begin(store, &write, error) && write_end(store, &write, remove_row(store, number, error), error);
}

bool held_each(Store *store, const char *list_id, HeldEach *each, void *data, GError **error)
{
    int64_t key = 0;
    if (list_id && !list_key(store, list_id, &key, error))
        return false;
    g_autoptr(Query) query =
        list_id
            ? query_open(store, error, "SELECT " COLUMNS FROM "WHERE held.list = $1 ORDER BY held.number", INTEGER(key))
            : query_start(store, error, "SELECT " COLUMNS FROM "ORDER BY held.number", NULL, 0);
    Step step = STEP_FAILED;
    while (query && (step = query_step(query, error)) == STEP_ROW) {
        g_autoptr(Held) held = read_row(query);
        if (!each(held, data))
            return true;
    }
    return step == STEP_DONE;
}

bool held_count(Store *store, int64_t *count, int64_t *oldest, GError **error)
{
    g_autoptr(Query) query = query_start(store, error, "SELECT count(*), COALESCE((SELECT held_at FROM held "
                                         "ORDER BY number LIMIT 1), 0) FROM held", NULL, 0);
    if (!query || query_step(query, error) != STEP_ROW)
        return false;
    *count = query_integer(query, 0);
    *oldest = query_integer(query, 1);
    return true;
}

GPtrArray *held_page(Store *store, const char *list_id, int64_t skip, unsigned limit, GError **error)
{
    int64_t key;
    if (!list_key(store, list_id, &key, error))
        return NULL;
    g_autoptr(GPtrArray) page = g_ptr_array_new_with_free_func((GDestroyNotify)held_free);
    g_autoptr(Query) query = query_open(
        store, error,
        "SELECT " COLUMNS ", held.message" FROM "WHERE held.list = $1 ORDER BY held.number LIMIT $2 OFFSET $3",
        INTEGER(key), INTEGER(limit), INTEGER(skip));
    Step step = STEP_FAILED;
    while (query && (step = query_step(query, error)) == STEP_ROW) {
        Held *held = read_row(query);
        held->message = query_blob(query, 8);
        g_ptr_array_add(page, held);
    }
    return step == STEP_DONE ? g_steal_pointer(&page) : NULL;
}

bool held_total(Store *store, const char *list_id, int64_t *total, GError **error)
{
    int64_t key;
    if (!list_key(store, list_id, &key, error))
        return false;
    g_autoptr(Query) query = query_open(store, error, "SELECT count(*) FROM held WHERE list = $1", INTEGER(key));
    if (!query || query_step(query, error) != STEP_ROW)
        return false;
    *total = query_integer(query, 0);
    return true;
}
