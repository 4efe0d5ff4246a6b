/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/posts/fragment.h"

#include <string.h>

#include "base/fail.h"
#include "store/row.h"
#include "store/store_internal.h"

#define COLUMNS \
    "s.key, list.list_id, s.sender, s.id, s.host, s.state, s.settled, s.total, s.parts, s.octets, s.opened_at, " \
    "s.expires_at, s.ended_at, s.joined_by, s.reason"
#define FROM " FROM fragment_set AS s JOIN list ON list.key = s.list "
#define FORGET_SETS 1000 /* a transaction */
#define PREFIX_LEAST 4

const char *fragment_state_text(FragmentState state)
{
    static const char *const texts[] = {"open", "joined", "quarantined", "expired", "released", "dropped"};
    return state < G_N_ELEMENTS(texts) ? texts[state] : "unknown";
}

static const RowField set_row[] = {
    ROW(FragmentSet, key),      ROW(FragmentSet, list_id),   ROW(FragmentSet, sender),    ROW(FragmentSet, id),
    ROW(FragmentSet, host),     ROW(FragmentSet, state),     ROW(FragmentSet, settled),   ROW(FragmentSet, total),
    ROW(FragmentSet, parts),    ROW(FragmentSet, octets),    ROW(FragmentSet, opened_at), ROW(FragmentSet, expires_at),
    ROW(FragmentSet, ended_at), ROW(FragmentSet, joined_by), ROW(FragmentSet, reason)};

void fragment_set_free(FragmentSet *set)
{
    row_free(set_row, set);
}

static const RowField part_row[] = {ROW(FragmentPart, number), ROW(FragmentPart, octets), ROW(FragmentPart, entry),
                                    ROW(FragmentPart, digest)};

void fragment_part_free(FragmentPart *part)
{
    row_free(part_row, part);
}

/* ---- reading ---- */

static FragmentSet *read_one(Query *query, const char *what, GError **error)
{
    return row_find(query, FragmentSet, set_row, fail(error, FAIL_MISSING, "there is no set %s", what), error);
}

FragmentSet *fragment_find(Store *store, const char *key, GError **error)
{
    g_autoptr(Query) query = query_open(store, error, "SELECT " COLUMNS FROM "WHERE s.key = $1", TEXT(key));
    return read_one(query, key, error);
}

FragmentSet *fragment_find_entry(Store *store, const char *entry, GError **error)
{
    g_autoptr(Query) query =
        query_open(store, error,
                   "SELECT " COLUMNS FROM "WHERE s.key = (SELECT fragment_set FROM fragment_part WHERE entry = $1)",
                   TEXT(entry));
    return read_one(query, entry, error);
}

FragmentSet *fragment_find_oldest(Store *store, const char *sender, GError **error)
{
    g_autofree char *kept = g_utf8_make_valid(sender, -1);
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT " COLUMNS FROM "WHERE s.state = 0 AND s.sender = $1 "
                                        "ORDER BY s.opened_at, s.key LIMIT 1",
                                        TEXT(kept));
    return read_one(query, "that is open, of this sender", error);
}

FragmentSet *fragment_find_heaviest(Store *store, const char *list_id, const char *host, const char *newcomer,
                                    GError **error)
{
    g_autofree char *kept = g_utf8_make_valid(newcomer, -1);
    int64_t key = -1;
    if (list_id && !list_key(store, list_id, &key, error))
        return NULL;
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT " COLUMNS FROM "WHERE s.state = 0 AND (s.list = $1 OR s.host = $2) AND "
                                        "s.sender = (SELECT sender FROM fragment_set WHERE state = 0 AND "
                                        "(list = $1 OR host = $2) GROUP BY sender "
                                        "ORDER BY count(*) + CASE WHEN sender = $3 THEN 1 ELSE 0 END DESC, "
                                        "MIN(opened_at) LIMIT 1) "
                                        "ORDER BY s.opened_at, s.key LIMIT 1",
                                        INTEGER_OR_NULL(key), TEXT(host), TEXT(kept));
    return read_one(query, "that is open", error);
}

FragmentSet *fragment_find_prefix(Store *store, const char *prefix, GError **error)
{
    size_t length = strlen(prefix);
    if (length < PREFIX_LEAST || length > FRAGMENT_KEY_DIGITS || strspn(prefix, "0123456789abcdef") != length) {
        fail(error, FAIL_NEVER, "'%s' is no name of a set: the first %d hex digits of its key are wanted, or more",
             prefix, PREFIX_LEAST);
        return NULL;
    }
    g_autofree char *after = g_strconcat(prefix, "g", NULL); /* sorts behind every digit */
    g_autoptr(Query) query = query_open(
        store, error, "SELECT " COLUMNS FROM "WHERE s.key >= $1 AND s.key < $2 ORDER BY s.key LIMIT 2", TEXT(prefix),
        TEXT(after));
    g_autoptr(FragmentSet) set = read_one(query, prefix, error);
    if (!set)
        return NULL;
    Step step = query_step(query, error);
    if (step == STEP_ROW)
        fail(error, FAIL_NEVER, "several sets begin with %s; more digits are needed", prefix);
    return step == STEP_DONE ? g_steal_pointer(&set) : NULL;
}

#define PART "SELECT number, octets, entry, digest FROM fragment_part "

FragmentPart *fragment_find_part(Store *store, const char *key, int64_t number, GError **error)
{
    g_autoptr(Query)
        query = query_open(store, error, PART "WHERE fragment_set = $1 AND number = $2", TEXT(key), INTEGER(number));
    return row_find(query, FragmentPart, part_row,
                    fail(error, FAIL_MISSING, "set %s has no part %" G_GINT64_FORMAT, key, number), error);
}

GPtrArray *fragment_parts(Store *store, const char *key, GError **error)
{
    g_autoptr(Query) query = query_open(store, error, PART "WHERE fragment_set = $1 ORDER BY number", TEXT(key));
    return row_all(query, FragmentPart, part_row, fragment_part_free, error);
}

bool fragment_each(Store *store, const FragmentChoice *choice, FragmentEach *each, void *data, GError **error)
{
    int64_t key = -1;
    if (choice->list_id && !list_key(store, choice->list_id, &key, error))
        return false;
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT " COLUMNS FROM "WHERE (s.list = $1 OR $1 IS NULL) AND "
                                        "(s.host = $2 OR $2 IS NULL) AND (s.state = $3 OR $3 IS NULL) ORDER BY s.key",
                                        INTEGER_OR_NULL(key), TEXT(choice->host),
                                        INTEGER_OR_NULL(choice->every_state ? -1 : (int)choice->state));
    return row_each(query, FragmentSet, set_row, each, fragment_set_free, data, error);
}

bool fragment_each_unsettled(Store *store, const char *host, FragmentEach *each, void *data, GError **error)
{
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT " COLUMNS FROM
                                        "WHERE s.host = $1 AND s.state = 1 AND s.settled = 0 ORDER BY s.key",
                                        TEXT(host));
    return row_each(query, FragmentSet, set_row, each, fragment_set_free, data, error);
}

/* ---- what waits, counted ---- */

/* Of a set's host, when the set is open. */
static bool count_more(Store *store, const char *key, int64_t parts, int64_t octets, GError **error)
{
    return query_run(store, error, NULL,
                     "UPDATE fragment_waiting SET parts = parts + $2, octets = octets + $3 "
                     "WHERE host = (SELECT host FROM fragment_set WHERE key = $1 AND state = 0)",
                     TEXT(key), INTEGER(parts), INTEGER(octets));
}

/* A set with all its parts, when it is open: sign 1 before it is counted, -1 before it is not any more. */
static bool count_set(Store *store, const char *key, int sign, GError **error)
{
    return query_run(store, error, NULL,
                     "INSERT INTO fragment_waiting (host, sets, parts, octets) "
                     "SELECT host, $2, $2 * parts, $2 * octets FROM fragment_set WHERE key = $1 AND state = 0 "
                     "ON CONFLICT (host) DO UPDATE SET sets = fragment_waiting.sets + excluded.sets, "
                     "parts = fragment_waiting.parts + excluded.parts, "
                     "octets = fragment_waiting.octets + excluded.octets",
                     TEXT(key), INTEGER(sign));
}

bool fragment_recount(Store *store, GError **error)
{
    return query_all(store, error, NULL, "DELETE FROM fragment_waiting", NULL, 0) &&
           query_run(store, error, NULL,
                     "INSERT INTO fragment_waiting (host, sets, parts, octets) SELECT host, COUNT(*), SUM(parts), "
                     "SUM(octets) FROM fragment_set WHERE state = $1 GROUP BY host",
                     INTEGER(FRAGMENT_OPEN));
}

/* ---- writing ---- */

bool fragment_open(Store *store, const FragmentSet *set, GError **error)
{
    int64_t list;
    g_autofree char *sender = g_utf8_make_valid(set->sender, -1), *id = g_utf8_make_valid(set->id, -1);
    return STORE_WRITE(
        store, error,
        list_key(store, set->list_id, &list, error) &&
            query_change_one(store, error, fail(error, FAIL_EXISTS, "there is a set %s already", set->key),
                             "INSERT INTO fragment_set (key, list, sender, id, host, state, settled, total, parts, "
                             "octets, opened_at, expires_at, ended_at) VALUES ($1, $2, $3, $4, $5, 0, 0, 0, 0, 0, $6, "
                             "$7, 0) ON CONFLICT DO NOTHING",
                             TEXT(set->key), INTEGER(list), TEXT(sender), TEXT(id), TEXT(set->host),
                             INTEGER(set->opened_at), INTEGER(set->expires_at)) &&
            count_set(store, set->key, 1, error));
}

bool fragment_add(Store *store, const char *key, const FragmentPart *part, int64_t total, GError **error)
{
    return STORE_WRITE(
        store, error,
        query_change_one(
            store, error, fail(error, FAIL_EXISTS, "set %s has a part %" G_GINT64_FORMAT " already", key, part->number),
            "INSERT INTO fragment_part (fragment_set, number, entry, octets, digest) "
            "VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
            TEXT(key), INTEGER(part->number), TEXT(part->entry), INTEGER(part->octets), TEXT(part->digest)) &&
            query_run(store, error, NULL,
                      "UPDATE fragment_set SET parts = parts + 1, octets = octets + $2, "
                      "total = CASE WHEN total = 0 THEN $3 ELSE total END WHERE key = $1",
                      TEXT(key), INTEGER(part->octets), INTEGER(total)) &&
            count_more(store, key, 1, part->octets, error));
}

static bool delete_part(Store *store, const char *key, const FragmentPart *part, GError **error)
{
    int64_t removed = 0;
    return query_run(store, error, &removed,
                     "DELETE FROM fragment_part WHERE fragment_set = $1 AND number = $2 AND entry = $3", TEXT(key),
                     INTEGER(part->number), TEXT(part->entry)) &&
           (removed == 0 ||
            (query_run(store, error, NULL,
                       "UPDATE fragment_set SET parts = parts - 1, octets = octets - $2 WHERE key = $1", TEXT(key),
                       INTEGER(part->octets)) &&
             count_more(store, key, -1, -part->octets, error)));
}

bool fragment_remove(Store *store, const char *key, const FragmentPart *part, GError **error)
{
    return STORE_WRITE(store, error, delete_part(store, key, part, error));
}

static bool end_set(Store *store, const char *key, const FragmentEnd *end, GError **error)
{
    int64_t time = end->state == FRAGMENT_OPEN ? 0 : MAX(end->time, 1);
    return count_set(store, key, -1, error) &&
           query_change_one(
               store, error, fail(error, FAIL_MISSING, "there is no set %s", key),
               "UPDATE fragment_set SET state = $2, joined_by = $3, reason = $4, ended_at = $5 WHERE key = $1",
               TEXT(key), INTEGER(end->state), TEXT(end->joined_by), TEXT(end->reason), INTEGER(time)) &&
           count_set(store, key, 1, error);
}

bool fragment_end(Store *store, const char *key, const FragmentEnd *end, GError **error)
{
    return STORE_WRITE(store, error, end_set(store, key, end, error));
}

bool fragment_withdraw(Store *store, const char *entry, bool gone, bool *reopened, GError **error)
{
    g_autoptr(GError) fault = NULL;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun)
        return false;
    g_autoptr(FragmentSet) set = fragment_find_entry(store, entry, &fault);
    *reopened = false;
    if (!set && g_error_matches(fault, FAIL, FAIL_MISSING))
        return write_end(&write, error);
    if (!set)
        return fail_with(error, &fault);
    *reopened = set->state == FRAGMENT_JOINED && !set->settled && g_strcmp0(set->joined_by, entry) == 0;
    if (!*reopened && !(gone && set->state == FRAGMENT_OPEN))
        return write_end(&write, error);
    g_autoptr(Query) query = query_open(store, error, PART "WHERE entry = $1", TEXT(entry));
    Step step;
    g_autoptr(FragmentPart) part = row_next(query, FragmentPart, part_row, &step, error);
    g_clear_pointer(&query, query_free);
    return part && (!*reopened || end_set(store, set->key, &(FragmentEnd){.state = FRAGMENT_OPEN}, error)) &&
           delete_part(store, set->key, part, error) && write_end(&write, error);
}

bool fragment_settle(Store *store, const char *key, GError **error)
{
    return query_run(store, error, NULL, "UPDATE fragment_set SET settled = 1 WHERE key = $1 AND state = 1", TEXT(key));
}

/* In transactions of at most FORGET_SETS. recount: open sets are among them. */
static bool forget(Store *store, const char *sql, int64_t before, bool recount, GError **error)
{
    int64_t removed;
    do {
        if (!STORE_WRITE(store, error,
                         query_run(store, error, &removed, sql, INTEGER(before), INTEGER(FORGET_SETS)) &&
                             (!recount || removed == 0 || fragment_recount(store, error))))
            return false;
    } while (removed == FORGET_SETS);
    return true;
}

bool fragment_forget(Store *store, int64_t before, GError **error)
{
    return forget(store,
                  "DELETE FROM fragment_set WHERE key IN "
                  "(SELECT key FROM fragment_set WHERE ended_at > 0 AND ended_at < $1 LIMIT $2)",
                  before, false, error) &&
           forget(store,
                  "DELETE FROM fragment_set WHERE key IN "
                  "(SELECT key FROM fragment_set WHERE ended_at = 0 AND expires_at < $1 LIMIT $2)",
                  before, true, error);
}

/* ---- counting ---- */

bool fragment_count(Store *store, const char *host, FragmentCount *count, GError **error)
{
    g_autoptr(Query) query =
        query_open(store, error,
                   "SELECT COALESCE(SUM(w.sets), 0), COALESCE(SUM(w.parts), 0), COALESCE(SUM(w.octets), 0), "
                   "COALESCE(MIN((SELECT MIN(s.opened_at) FROM fragment_set AS s "
                   "WHERE s.host = w.host AND s.state = 0)), 0) "
                   "FROM fragment_waiting AS w WHERE w.host = COALESCE($1, w.host)",
                   TEXT(host));
    *count = (FragmentCount){0};
    if (query_step(query, error) != STEP_ROW)
        return false;
    *count = (FragmentCount){query_integer(query, 0), query_integer(query, 1), query_integer(query, 2),
                             query_integer(query, 3)};
    return true;
}

bool fragment_count_list(Store *store, const char *list_id, int64_t limit, int64_t *sets, GError **error)
{
    *sets = 0;
    return query_number(store, error, sets,
                        "SELECT count(*) FROM (SELECT 1 FROM fragment_set WHERE list = (SELECT key "
                        "FROM list WHERE list_id = $1) AND state = 0 LIMIT $2) AS counted",
                        TEXT(list_id), INTEGER(limit));
}

bool fragment_count_sender(Store *store, const char *sender, int64_t limit, int64_t *sets, GError **error)
{
    g_autofree char *kept = g_utf8_make_valid(sender, -1);
    *sets = 0;
    return query_number(
        store, error, sets,
        "SELECT count(*) FROM (SELECT 1 FROM fragment_set WHERE sender = $1 AND state = 0 LIMIT $2) AS counted",
        TEXT(kept), INTEGER(limit));
}

bool fragment_count_early(Store *store, const char *host, int64_t since, int64_t *sets, GError **error)
{
    *sets = 0;
    return query_number(store, error, sets,
                        "SELECT count(*) FROM fragment_set WHERE ended_at >= $1 AND state = $2 AND "
                        "reason IS NOT NULL AND host = COALESCE($3, host)",
                        INTEGER(since), INTEGER(FRAGMENT_EXPIRED), TEXT(host));
}
