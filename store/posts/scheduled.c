/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/posts/scheduled.h"

#include "base/fail.h"
#include "store/row.h"
#include "store/store_internal.h"

#define COLUMNS                                                                                          \
    "s.number, list.list_id, s.message_id, s.subject, s.sender, s.author, s.meta, s.made_at, s.due_at, " \
    "length(s.message)"
#define FROM " FROM scheduled s JOIN list ON list.key = s.list "

static const RowField scheduled_row[] = {ROW(Scheduled, number),  ROW(Scheduled, list_id), ROW(Scheduled, message_id),
                                         ROW(Scheduled, subject), ROW(Scheduled, sender),  ROW(Scheduled, author),
                                         ROW(Scheduled, meta),    ROW(Scheduled, made_at), ROW(Scheduled, due_at),
                                         ROW(Scheduled, size),    ROW(Scheduled, message)};

void scheduled_free(Scheduled *scheduled)
{
    row_free(scheduled_row, scheduled);
}

bool scheduled_add(Store *store, Scheduled *scheduled, GError **error)
{
    int64_t key;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun || !list_key(store, scheduled->list_id, &key, error) ||
        !store_next_number(store, "scheduled", &scheduled->number, error))
        return false;
    size_t length = 0;
    const void *octets = scheduled->message ? g_bytes_get_data(scheduled->message, &length) : NULL;
    return query_run(store, error, NULL,
                     "INSERT INTO scheduled (number, list, message_id, subject, sender, author, meta, made_at, due_at, "
                     "message) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
                     INTEGER(scheduled->number), INTEGER(key), TEXT(scheduled->message_id), TEXT(scheduled->subject),
                     TEXT(scheduled->sender), TEXT(scheduled->author), TEXT(scheduled->meta),
                     INTEGER(scheduled->made_at), INTEGER(scheduled->due_at), BLOB(octets, length)) &&
           write_end(&write, error);
}

static bool fail_missing(int64_t number, GError **error)
{
    return fail(error, FAIL_MISSING, "there is no scheduled post %" G_GINT64_FORMAT, number);
}

Scheduled *scheduled_find(Store *store, int64_t number, GError **error)
{
    g_autoptr(Query)
        query = query_open(store, error, "SELECT " COLUMNS ", s.message" FROM "WHERE s.number = $1", INTEGER(number));
    return row_find(query, Scheduled, scheduled_row, fail_missing(number, error), error);
}

bool scheduled_set_due(Store *store, int64_t number, int64_t due, GError **error)
{
    return STORE_WRITE(store, error,
                       query_change_one(store, error, fail_missing(number, error),
                                        "UPDATE scheduled SET due_at = $2 WHERE number = $1", INTEGER(number),
                                        INTEGER(due)));
}

bool scheduled_remove(Store *store, int64_t number, GError **error)
{
    return STORE_WRITE(store, error,
                       query_change_one(store, error, fail_missing(number, error),
                                        "DELETE FROM scheduled WHERE number = $1", INTEGER(number)));
}

bool scheduled_remove_sender(Store *store, const char *sender, GError **error)
{
    g_autofree char *lower = g_utf8_strdown(sender, -1);
    return STORE_WRITE(store, error,
                       query_run(store, error, NULL,
                                 "DELETE FROM scheduled WHERE lower(sender) = $1 OR lower(author) = $1", TEXT(lower)));
}

bool scheduled_each(Store *store, const char *list_id, ScheduledEach *each, void *data, GError **error)
{
    int64_t key = 0;
    if (list_id && !list_key(store, list_id, &key, error))
        return false;
    g_autoptr(Query)
        query = list_id
                    ? query_stream(store, error, "SELECT " COLUMNS FROM "WHERE s.list = $1 ORDER BY s.due_at, s.number",
                                   INTEGER(key))
                    : query_stream(store, error, "SELECT " COLUMNS FROM "WHERE $1 = 0 ORDER BY s.due_at, s.number",
                                   INTEGER(key));
    return row_each(query, Scheduled, scheduled_row, each, scheduled_free, data, error);
}

GArray *scheduled_due(Store *store, int64_t by, GError **error)
{
    g_autoptr(Query) query = query_open(
        store, error, "SELECT number FROM scheduled WHERE due_at <= $1 ORDER BY due_at, number", INTEGER(by));
    return row_integers(query, error);
}

bool scheduled_count_due(Store *store, int64_t by, int64_t *count, int64_t *oldest, GError **error)
{
    g_autoptr(Query) query = query_open(
        store, error, "SELECT count(*), COALESCE(min(due_at), 0) FROM scheduled WHERE due_at <= $1", INTEGER(by));
    if (query_step(query, error) != STEP_ROW)
        return false;
    *count = query_integer(query, 0);
    *oldest = query_integer(query, 1);
    return true;
}

bool scheduled_count(Store *store, const char *list_id, int64_t *count, GError **error)
{
    return query_number(store, error, count,
                        "SELECT count(*) FROM scheduled WHERE list = (SELECT key FROM list WHERE "
                        "list_id = $1)",
                        TEXT(list_id));
}
