/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/posts/held.h"

#include "base/clock.h"
#include "base/fail.h"
#include "store/row.h"
#include "store/store_internal.h"

#define COLUMNS \
    "held.number, list.list_id, held.message_id, held.subject, held.sender, held.reason, held.meta, held.held_at, " \
    "held.told, length(held.message), held.list_number, held.asked_until"
#define FROM " FROM held JOIN list ON list.key = held.list "

static const RowField held_row[] = {
    ROW(Held, number),      ROW(Held, list_id),     ROW(Held, message_id), ROW(Held, subject), ROW(Held, sender),
    ROW(Held, reason),      ROW(Held, meta),        ROW(Held, held_at),    ROW(Held, told),    ROW(Held, size),
    ROW(Held, list_number), ROW(Held, asked_until), ROW(Held, message)};

void held_free(Held *held)
{
    row_free(held_row, held);
}

/* Adds to what held posts of the list take. A list that goes takes its row along. */
static bool count_room(Store *store, int64_t list, int64_t room, int64_t strangers, GError **error)
{
    return query_run(store, error, NULL,
                     "INSERT INTO held_sum (list, room, strangers) VALUES ($1, $2, $3) ON CONFLICT (list) DO UPDATE "
                     "SET room = held_sum.room + excluded.room, strangers = held_sum.strangers + excluded.strangers",
                     INTEGER(list), INTEGER(room), INTEGER(strangers));
}

bool held_add(Store *store, Held *held, GError **error)
{
    int64_t key;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun || !list_key(store, held->list_id, &key, error) ||
        !store_next_number(store, "held", &held->number, error) ||
        !query_number(store, error, &held->list_number,
                      "UPDATE list SET held_last = held_last + 1 WHERE key = $1 RETURNING held_last", INTEGER(key)))
        return false;
    size_t length = 0;
    const void *octets = held->message ? g_bytes_get_data(held->message, &length) : NULL;
    const int64_t room = (int64_t)length + HELD_ROW_BYTES;
    return count_room(store, key, room, held->stranger ? room : 0, error) &&
           query_run(store, error, NULL,
                     "INSERT INTO held (number, list, message_id, subject, sender, reason, meta, held_at, message, "
                     "told, list_number, room, stranger, spool) "
                     "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
                     INTEGER(held->number), INTEGER(key), TEXT(held->message_id), TEXT(held->subject),
                     TEXT(held->sender), TEXT(held->reason), TEXT(held->meta), INTEGER(held->held_at),
                     BLOB(octets, length), INTEGER(held->told), INTEGER(held->list_number), INTEGER(room),
                     INTEGER(held->stranger), TEXT(held->spool ? held->spool : "")) &&
           write_end(&write, error);
}

#define FIND "SELECT " COLUMNS ", held.message" FROM

Held *held_find(Store *store, int64_t number, GError **error)
{
    g_autoptr(Query) query = query_open(store, error, FIND "WHERE held.number = $1", INTEGER(number));
    return row_find(query, Held, held_row, fail(error, FAIL_MISSING, "there is no held post %" G_GINT64_FORMAT, number),
                    error);
}

Held *held_find_in_list(Store *store, const char *list_id, int64_t list_number, GError **error)
{
    int64_t list;
    if (!list_key(store, list_id, &list, error))
        return NULL;
    g_autoptr(Query) query = query_open(store, error, FIND "WHERE held.list = $1 AND held.list_number = $2",
                                        INTEGER(list), INTEGER(list_number));
    return row_find(query, Held, held_row,
                    fail(error, FAIL_MISSING, "there is no held post %" G_GINT64_FORMAT, list_number), error);
}

/* Removes the row, and counts it out; *there false: there was none. */
static bool delete_row(Store *store, int64_t number, bool *there, GError **error)
{
    g_autoptr(Query) query = query_open(store, error,
                                        "DELETE FROM held WHERE number = $1 RETURNING list, room, room * stranger",
                                        INTEGER(number));
    Step step = query_step(query, error);
    *there = step == STEP_ROW;
    if (step != STEP_ROW)
        return step == STEP_DONE;
    const int64_t list = query_integer(query, 0), room = query_integer(query, 1), strangers = query_integer(query, 2);
    g_clear_pointer(&query, query_free);
    return count_room(store, list, -room, -strangers, error);
}

bool held_remove(Store *store, int64_t number, GError **error)
{
    int64_t now = clock_now();
    bool there;
    return STORE_WRITE(
        store, error,
        query_run(store, error, NULL,
                  "INSERT INTO spent_token (token, fate, spent_at) "
                  "SELECT token, CASE WHEN asked_until <= $2 THEN 2 ELSE 1 END, $2 FROM held " /* TokenFate */
                  "WHERE number = $1 AND token IS NOT NULL ON CONFLICT (token) DO NOTHING",
                  INTEGER(number), INTEGER(now)) &&
            delete_row(store, number, &there, error) &&
            (there || fail(error, FAIL_MISSING, "there is no held post %" G_GINT64_FORMAT, number)));
}

bool held_remove_sender(Store *store, const char *sender, GError **error)
{
    g_autofree char *lower = g_utf8_strdown(sender, -1);
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun)
        return false;
    g_autoptr(Query) query = query_open(store, error, "SELECT number FROM held WHERE lower(sender) = $1", TEXT(lower));
    g_autoptr(GArray) numbers = row_integers(query, error);
    g_clear_pointer(&query, query_free);
    if (!numbers)
        return false;
    bool there;
    for (guint at = 0; at < numbers->len; at++)
        if (!delete_row(store, g_array_index(numbers, int64_t, at), &there, error))
            return false;
    return write_end(&write, error);
}

bool held_ask(Store *store, int64_t number, const char *token, int64_t until, GError **error)
{
    g_autofree char *hash = pending_token_hash(token);
    return STORE_WRITE(store, error,
                       query_run(store, error, NULL,
                                 "UPDATE held SET token = $2, asked_until = $3, told = $4 WHERE number = $1",
                                 INTEGER(number), TEXT(hash), INTEGER(until), INTEGER(HELD_TOLD_MANY)));
}

Held *held_find_token(Store *store, const char *token, int64_t now, GError **error)
{
    g_autofree char *hash = pending_token_hash(token);
    g_autoptr(Query) query = query_open(store, error, FIND "WHERE held.token = $1 AND held.asked_until > $2",
                                        TEXT(hash), INTEGER(now));
    return row_find(query, Held, held_row, fail(error, FAIL_MISSING, "no held post waits for this token"), error);
}

/* The conditions that every statement of held_select() ends with, and their parameters behind the first. */
#define FILTER \
    "($2 IS NULL OR lower(held.sender) = $2) AND ($3 = 0 OR held.held_at < $3) AND held.held_at >= $4 AND " \
    "held.number >= $5 AND ($6 = 0 OR held.number <= $6) AND " \
    "($7 = 0 OR (held.token IS NOT NULL AND held.asked_until <= $7)) ORDER BY held.number"

bool held_select(Store *store, const HeldFilter *filter, HeldEach *each, void *data, GError **error)
{
    int64_t key = 0;
    if (filter->list_id && !list_key(store, filter->list_id, &key, error))
        return false;
    g_autofree char *sender = filter->sender ? g_utf8_strdown(filter->sender, -1) : NULL;
    const Value values[] = {INTEGER(key),           TEXT(sender),           INTEGER(filter->before),
                            INTEGER(filter->after), INTEGER(filter->first), INTEGER(filter->last),
                            INTEGER(filter->asked_before)};
    const char *sql = filter->list_id && filter->untold
                          ? "SELECT " COLUMNS FROM "WHERE held.list = $1 AND held.told = 0 AND " FILTER
                      : filter->list_id ? "SELECT " COLUMNS FROM "WHERE held.list = $1 AND " FILTER
                      : filter->untold  ? "SELECT " COLUMNS FROM "WHERE $1 = 0 AND held.told = 0 AND " FILTER
                                        : "SELECT " COLUMNS FROM "WHERE $1 = 0 AND " FILTER;
    g_autoptr(Query) query = query_stream_start(store, error, sql, values, G_N_ELEMENTS(values));
    return row_each(query, Held, held_row, each, held_free, data, error);
}

bool held_each(Store *store, const char *list_id, HeldEach *each, void *data, GError **error)
{
    return held_select(store, &(HeldFilter){.list_id = list_id}, each, data, error);
}

bool held_room(Store *store, const char *list_id, HeldRoom *room, GError **error)
{
    int64_t key = 0;
    if (list_id && !list_key(store, list_id, &key, error))
        return false;
    g_autoptr(Query) query = query_open(
        store, error,
        list_id ? "SELECT COALESCE(sum(room), 0), COALESCE(sum(strangers), 0) FROM held_sum WHERE list = $1"
                : "SELECT COALESCE(sum(room), 0), COALESCE(sum(strangers), 0) FROM held_sum WHERE $1 = 0",
        INTEGER(key));
    if (query_step(query, error) != STEP_ROW)
        return false;
    *room = (HeldRoom){query_integer(query, 0), query_integer(query, 1)};
    return true;
}

char **held_lists(Store *store, bool untold, GError **error)
{
    g_autoptr(Query) query = query_start(
        store, error,
        untold ? "SELECT list_id FROM list WHERE key IN (SELECT list FROM held WHERE told = 0) ORDER BY list_id"
               : "SELECT list_id FROM list WHERE key IN (SELECT list FROM held) ORDER BY list_id",
        NULL, 0);
    return query_texts(query, error);
}

bool held_set_told(Store *store, int64_t number, HeldTold told, GError **error)
{
    return STORE_WRITE(
        store, error,
        query_run(store, error, NULL, "UPDATE held SET told = $2 WHERE number = $1", INTEGER(number), INTEGER(told)));
}

bool held_notice_due(Store *store, const char *list_id, int64_t now, int64_t gap, bool *due, GError **error)
{
    int64_t key, changed = 0;
    g_auto(Write) write = write_begin(store, WRITE_LIST, error);
    if (!write.begun || !list_key(store, list_id, &key, error) ||
        !query_run(store, error, &changed,
                   "INSERT INTO held_notice (list, told_at) VALUES ($1, $2) "
                   "ON CONFLICT (list) DO UPDATE SET told_at = $2 WHERE held_notice.told_at <= $2 - $3",
                   INTEGER(key), INTEGER(now), INTEGER(gap)))
        return false;
    *due = changed > 0;
    return write_end(&write, error);
}

bool held_count(Store *store, int64_t *count, int64_t *oldest, GError **error)
{
    g_autoptr(Query) query = query_start(store, error, "SELECT count(*), COALESCE((SELECT held_at FROM held "
                                         "WHERE token IS NULL ORDER BY number LIMIT 1), 0) FROM held "
                                         "WHERE token IS NULL", NULL, 0);
    if (query_step(query, error) != STEP_ROW)
        return false;
    *count = query_integer(query, 0);
    *oldest = query_integer(query, 1);
    return true;
}

GPtrArray *held_page(Store *store, const char *list_id, int64_t after, int64_t skip, unsigned limit, GError **error)
{
    int64_t key;
    if (!list_key(store, list_id, &key, error))
        return NULL;
    g_autoptr(Query) query = query_open(
        store, error,
        FIND "WHERE held.list = $1 AND held.list_number > $4 ORDER BY held.list_number LIMIT $2 OFFSET $3",
        INTEGER(key), INTEGER(limit), INTEGER(skip), INTEGER(after));
    return row_all(query, Held, held_row, held_free, error);
}

bool held_total(Store *store, const char *list_id, int64_t *total, GError **error)
{
    int64_t key;
    if (!list_key(store, list_id, &key, error))
        return false;
    return query_number(store, error, total, "SELECT count(*) FROM held WHERE list = $1", INTEGER(key));
}
