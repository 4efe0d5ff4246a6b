/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/outbox.h"

#include "base/fail.h"
#include "store/row.h"
#include "store/store_internal.h"

/* ---- units ---- */

static const RowField unit_row[] = {ROW(OutboxUnit, tag), ROW(OutboxUnit, queues), ROW(OutboxUnit, made_at),
                                    ROW(OutboxUnit, given_up)};

static void unit_free(OutboxUnit *unit)
{
    row_free(unit_row, unit);
}

bool outbox_unit_add(Store *store, const char *spool, const char *tag, const char *queues, int64_t now, GError **error)
{
    return query_change_one(
        store, error, fail(error, FAIL_RACE, "the unit was taken for one whose writer had died"),
        "INSERT INTO outbox_unit (spool, tag, queues, made_at, given_up, asked) VALUES ($1, $2, $3, $4, 0, 0) "
        "ON CONFLICT DO NOTHING",
        TEXT(spool), TEXT(tag), TEXT(queues), INTEGER(now));
}

bool outbox_unit_decide(Store *store, const char *spool, const char *tag, int64_t now, bool *committed, GError **error)
{
    if (!store_begin_people_durable(store, NULL, error))
        return false;
    /* It is written in any case, so that the commit waits for the disk: the row that is found may be one that a process
     * died committing. */
    int64_t given_up = -1;
    bool done = query_number(store, error, &given_up,
                             "INSERT INTO outbox_unit (spool, tag, queues, made_at, given_up, asked) "
                             "VALUES ($1, $2, '', $3, 1, 1) "
                             "ON CONFLICT (tag) DO UPDATE SET asked = outbox_unit.asked + 1 RETURNING given_up",
                             TEXT(spool), TEXT(tag), INTEGER(now)) &&
                (given_up >= 0 || fail(error, FAIL_LATER, "the database gives no answer"));
    *committed = given_up == 0;
    if (done)
        return store_commit(store, error);
    store_rollback(store);
    return false;
}

GPtrArray *outbox_units(Store *store, const char *spool, GError **error)
{
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT tag, queues, made_at, given_up FROM outbox_unit "
                                        "WHERE $1 IS NULL OR spool = $1 ORDER BY made_at",
                                        TEXT(spool));
    return row_all(query, OutboxUnit, unit_row, unit_free, error);
}

bool outbox_unit_is_kept(const OutboxUnit *unit)
{
    return !unit->given_up && g_str_has_prefix(unit->queues, OUTBOX_KEPT);
}

bool outbox_unit_take_kept(Store *store, const char *tag, bool *there, GError **error)
{
    int64_t removed = 0;
    bool done = query_run(store, error, &removed, "DELETE FROM outbox_unit WHERE tag = $1 AND given_up = 0", TEXT(tag));
    *there = removed > 0;
    return done && (!*there || outbox_remove_of(store, tag, error));
}

bool outbox_unit_remove(Store *store, const char *tag, GError **error)
{
    return query_run(store, error, NULL, "DELETE FROM outbox_unit WHERE tag = $1", TEXT(tag));
}

bool outbox_count(Store *store, const char *host, int64_t *count, int64_t *oldest, GError **error)
{
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT count(*), COALESCE(min(made_at), 0) FROM outbox_unit "
                                        "WHERE spool = COALESCE((SELECT spool FROM host WHERE name = $1), spool)",
                                        TEXT(host));
    if (query_step(query, error) != STEP_ROW)
        return false;
    *count = query_integer(query, 0);
    *oldest = query_integer(query, 1);
    return true;
}

/* ---- rows of runners' entries ---- */

static const RowField outbox_row[] = {ROW(OutboxRow, number), ROW(OutboxRow, sealed), ROW(OutboxRow, made_at)};

static void outbox_row_free(OutboxRow *row)
{
    row_free(outbox_row, row);
}

bool outbox_add(Store *store, const char *spool, const char *entry, OutboxRow *row, GError **error)
{
    size_t length;
    const void *octets = g_bytes_get_data(row->sealed, &length);
    return STORE_WRITE(store, error,
                       store_next_number(store, "outbox", &row->number, error) &&
                           query_run(store, error, NULL,
                                     "INSERT INTO outbox (number, entry, sealed, made_at, spool) "
                                     "VALUES ($1, $2, $3, $4, $5)",
                                     INTEGER(row->number), TEXT(entry), BLOB(octets, length), INTEGER(row->made_at),
                                     TEXT(spool)));
}

GPtrArray *outbox_of(Store *store, const char *entry, GError **error)
{
    g_autoptr(Query) query = query_open(
        store, error, "SELECT number, sealed, made_at FROM outbox WHERE entry = $1 ORDER BY number", TEXT(entry));
    return row_all(query, OutboxRow, outbox_row, outbox_row_free, error);
}

bool outbox_remove_of(Store *store, const char *entry, GError **error)
{
    return query_run(store, error, NULL, "DELETE FROM outbox WHERE entry = $1", TEXT(entry));
}

char **outbox_entries(Store *store, const char *spool, int64_t before, GError **error)
{
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT DISTINCT entry FROM outbox "
                                        "WHERE made_at < $1 AND ($2 IS NULL OR spool = $2)",
                                        INTEGER(before), TEXT(spool));
    return query_texts(query, error);
}
