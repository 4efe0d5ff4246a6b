/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/moving/copy.h"

#include <string.h>

#include "base/fail.h"
#include "store/schema/migrate.h"
#include "store/store_internal.h"

#define SUM_SIZE 32 /* of SHA-256 */

const char *const store_copy_tables[] = {
    "counter",
    "domain",
    "list",
    "list_setting",
    "person",
    "address",
    "person_preference",
    "address_preference",
    "member",
    "held",
    "effect",
    "message_id",
    "secret",
    "bounce",
    "bounce_score",
    "bounce_count",
    "bounce_brake",
    "fragment_set",
    "fragment_part",
    "fragment_waiting",
    "pending",
    "outbox",
    "ban",
    "header_match",
    "vacation",
    "domain_owner",
    "store_version",
    "held_notice",
    "ticket",
    "autoresponse",
    "job",
    "template",
    "digest",
    "digest_issue",
    "digest_post",
    "digest_last",
    "spent_token",
    "news",
    "token",
    "pace",
    "site_preference",
    "event",
    "span",
    "outbox_unit",
    "account",
    "stranger",
    "stranger_address",
    "removed_list",
    "held_sum",
    "site",
    "host",
    "claim",
    "departure",
    "leave_brake",
    "moved",
    "session",
    "canary",
    "list_log",
    "list_source",
    "member_source",
    "source_left",
    "scheduled",
    "handed",
    NULL,
};

/* A new schema has rows of its own in these tables. */
static const char *const born_filled[] = {"counter", "store_version", "span", NULL};

/* CopySum is the sum of a table, whatever the order of its rows: how many, and the exclusive or of a hash of each. */
typedef struct CopySum {
    int64_t rows;
    uint8_t bytes[SUM_SIZE];
} CopySum;

/* Statements are kept by the address of their text, so one that is made has to stay. */
static const char *lasting(char *sql)
{
    const char *interned = g_intern_string(sql);
    g_free(sql);
    return interned;
}

/* Read the rows of a table that a condition with one parameter chooses; NULL: all. */
static Query *read_some(Store *store, const char *table, const char *columns, const char *condition, Value value,
                        GError **error)
{
    const char *sql = lasting(g_strdup_printf("SELECT %s FROM %s %s", columns, table, condition ? condition : ""));
    return query_stream_start(store, error, sql, condition ? &value : NULL, condition ? 1 : 0);
}

/* ---- sums ---- */

static void add_part(GChecksum *hash, char kind, const void *bytes, size_t length)
{
    int64_t size = GINT64_TO_BE((int64_t)length);
    g_checksum_update(hash, (const guchar *)&kind, 1);
    g_checksum_update(hash, (const guchar *)&size, sizeof size);
    g_checksum_update(hash, bytes, (gssize)length);
}

static bool sum_table(Store *store, const char *table, const char *columns, CopySum *sum, GError **error)
{
    g_autoptr(Query) query = read_some(store, table, columns, NULL, INTEGER(0), error);
    g_autoptr(GChecksum) hash = g_checksum_new(G_CHECKSUM_SHA256);
    Step step;
    *sum = (CopySum){0};
    while ((step = query_step(query, error)) == STEP_ROW) {
        g_checksum_reset(hash);
        for (int i = 0; i < query_columns(query); i++) {
            size_t length;
            ValueType type;
            query_column(query, i, &type);
            if (query_is_null(query, i)) {
                add_part(hash, 'n', NULL, 0);
            } else if (type == VALUE_INTEGER) {
                int64_t integer = GINT64_TO_BE(query_integer(query, i));
                add_part(hash, 'i', &integer, sizeof integer);
            } else { /* text counts as the valid UTF-8 that PostgreSQL keeps of it */
                const char *bytes = query_bytes(query, i, &length);
                g_autofree char *valid = type == VALUE_TEXT ? g_utf8_make_valid(bytes, (gssize)length) : NULL;
                add_part(hash, type == VALUE_TEXT ? 't' : 'b', valid ? valid : bytes, valid ? strlen(valid) : length);
            }
        }
        uint8_t digest[SUM_SIZE];
        gsize size = sizeof digest;
        g_checksum_get_digest(hash, digest, &size);
        for (size_t i = 0; i < sizeof digest; i++)
            sum->bytes[i] ^= digest[i];
        sum->rows++;
    }
    return step == STEP_DONE;
}

/* ---- rows ---- */

/* The names of a table's columns, parted by commas; both databases were made by the same schema. */
static char *columns_of(Store *store, const char *table, GError **error)
{
    g_autoptr(Query)
        query = query_start(store, error, lasting(g_strdup_printf("SELECT * FROM %s LIMIT 1", table)), NULL, 0);
    if (query_step(query, error) == STEP_FAILED)
        return NULL;
    g_autoptr(GString) names = g_string_new(NULL);
    for (int i = 0; i < query_columns(query); i++) {
        ValueType type;
        g_string_append_printf(names, "%s%s", i > 0 ? ", " : "", query_column(query, i, &type));
    }
    return g_string_free(g_steal_pointer(&names), FALSE);
}

bool store_copy_rows(const StoreCopied *copied, const char *table, const char *condition, int64_t *rows, GError **error)
{
    Store *from = copied->from, *to = copied->to;
    g_autofree char *columns = columns_of(to, table, error); /* those of from may be of a newer version */
    g_autoptr(Query) query = columns ? read_some(from, table, columns, condition, INTEGER(copied->key), error) : NULL;
    Step step = query_step(query, error);
    if (step == STEP_FAILED)
        return false;
    int count = query_columns(query);
    g_autofree Value *values = g_new0(Value, count);
    g_autoptr(GString) sql = g_string_new(NULL);
    g_string_append_printf(sql, "INSERT INTO %s (%s) VALUES (", table, columns);
    for (int i = 1; i <= count; i++)
        g_string_append_printf(sql, "%s$%d", i > 1 ? ", " : "", i);
    const char *insert = g_intern_string(g_string_append_c(sql, ')')->str);
    for (*rows = 0; step == STEP_ROW; step = query_step(query, error)) {
        for (int i = 0; i < count; i++) {
            values[i] = (Value){.null = query_is_null(query, i)};
            query_column(query, i, &values[i].type);
            if (!values[i].null && values[i].type == VALUE_INTEGER)
                values[i].integer = query_integer(query, i);
            else if (!values[i].null)
                values[i].data = query_bytes(query, i, &values[i].length);
        }
        if (!query_later_all(to, error, insert, values, (size_t)count))
            return false;
        ++*rows;
    }
    return step == STEP_DONE;
}

/* ---- the whole ---- */

/* A new schema has rows of its own in some tables, which go; all others must be empty. */
static bool make_room(Store *to, GError **error)
{
    for (const char *const *table = store_copy_tables; *table; table++) {
        bool filled;
        if (g_strv_contains(born_filled, *table)) {
            if (!query_all(to, error, NULL, lasting(g_strdup_printf("DELETE FROM %s", *table)), NULL, 0))
                return false;
            continue;
        }
        if (!query_exists_all(to, error, &filled, lasting(g_strdup_printf("SELECT 1 FROM %s LIMIT 1", *table)), NULL,
                              0))
            return false;
        if (filled)
            return fail(error, FAIL_EXISTS, "the database to copy to holds data already (table %s): copy to a new one",
                        *table);
    }
    return true;
}

static bool copy_all(Store *from, Store *to, StoreCopyProgress *progress, void *data, GError **error)
{
    const StoreCopied copied = {from, to, 0};
    for (const char *const *table = store_copy_tables; *table; table++) {
        int64_t rows = 0;
        if (!store_copy_rows(&copied, *table, NULL, &rows, error)) {
            g_prefix_error(error, "table %s: ", *table);
            return false;
        }
        progress(data, *table, rows, false);
    }
    return true;
}

static bool compare_all(Store *from, Store *to, StoreCopyProgress *progress, void *data, GError **error)
{
    for (const char *const *table = store_copy_tables; *table; table++) {
        CopySum ours, theirs;
        g_autofree char *columns = columns_of(from, *table, error);
        if (!columns || !sum_table(from, *table, columns, &ours, error) ||
            !sum_table(to, *table, columns, &theirs, error))
            return false;
        if (ours.rows != theirs.rows || memcmp(ours.bytes, theirs.bytes, sizeof ours.bytes) != 0)
            return fail(error, FAIL_NEVER,
                        "the copy of table %s differs from the original (%" G_GINT64_FORMAT " and %" G_GINT64_FORMAT
                        " rows)",
                        *table, theirs.rows, ours.rows);
        progress(data, *table, ours.rows, true);
    }
    return true;
}

/* Tables that a newer version made are not copied by name. */
static bool knows_all(Store *store, GError **error)
{
    int64_t number, newest;
    return migrate_version(store_driver(store), store_connection(store), &number, &newest, error) &&
           (number <= newest || fail(error, FAIL_CONFIG,
                                     "a database has schema %" G_GINT64_FORMAT ", of which this program knows only up "
                                     "to %" G_GINT64_FORMAT ": copy it by the newer version",
                                     number, newest));
}

/* The comparison is made before the commit: what differs is never there for anybody to use. */
bool store_copy(Store *from, Store *to, StoreCopyProgress *progress, void *data, GError **error)
{
    store_expect_bulk(from); /* it stands still while the other one is compared, and committed */
    store_expect_bulk(to);
    if (!knows_all(from, error) || !knows_all(to, error) || !store_begin(from, error))
        return false;
    bool done = store_begin(to, error);
    if (done) {
        int64_t key;
        done = make_room(to, error) && copy_all(from, to, progress, data, error) &&
               /* Its keys have to be greater than those of the original, which are in mails and in queues. */
               (key = store_key_new(from, error)) != 0 &&
               store_driver(to)->keys_above(store_connection(to), key, error) &&
               compare_all(from, to, progress, data, error);
        if (done)
            done = store_commit(to, error);
        else
            store_rollback(to);
    }
    store_rollback(from);
    return done;
}
