/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The transactions of the driver "postgresql" (StoreDriver), and what belongs to one: its locks and keys.
 *
 * One of some lists is begun by the statement that comes first in it, in the same round trip: a post then waits for the
 * server once less. Until then it holds no lock, and who begins it must not take it for one outside of the database.
 */
#include "store/driver/pgsql_transaction.h"

#include <string.h>

#include "base/fail.h"

#define LATER_MOST 256 /* statements sent whose outcome is not known yet */

bool pgsql_is_sound(void *connection)
{
    const PgsqlConnection *self = connection;
    return self->waiting > 0 || self->opening->len > 0 ? libpq.PQstatus(self->server) == CONNECTION_OK
                                                       : libpq.PQtransactionStatus(self->server) == PQTRANS_INTRANS;
}

bool pgsql_in_transaction(void *connection)
{
    return pgsql_is_sound(connection) ||
           libpq.PQtransactionStatus(((PgsqlConnection *)connection)->server) == PQTRANS_INERROR;
}

bool pgsql_room(PgsqlConnection *self, GError **error)
{
    return (self->waiting < LATER_MOST && self->opening->len == 0) || pgsql_settle(self, error);
}

void pgsql_rollback(void *connection)
{
    PgsqlConnection *self = connection;
    bool begun = self->opening->len == 0;
    g_ptr_array_set_size(self->opening, 0);
    if (!begun)
        return;
    pgsql_settle(self, NULL);
    libpq.PQclear(pgsql_exec(self, "ROLLBACK"));
    self->writes = false;
    if (self->locked_out)
        pgsql_tell_holder(self);
}

/* It writes very much, or stands still while another database is written. */
void pgsql_expect_bulk(void *connection)
{
    PgsqlConnection *self = connection;
    self->bulk = true;
}

/* locks: the lock of the schema, and those behind it. The server ends a transaction whose client asks nothing for a
 * while: a process that was stopped, or waits for a disk, would keep its locks for as long as its kernel lives. */
static void begin(PgsqlConnection *self, const char *locks)
{
    self->keys_used = self->keys_had = 0;
    self->writes = true;
    g_ptr_array_set_size(self->opening, 0);
    g_ptr_array_add(self->opening, g_strdup(PGSQL_LEVEL));
    g_ptr_array_add(self->opening, g_strdup("SET LOCAL lock_timeout = '" PGSQL_LOCK_LOOK "'"));
    g_assert(self->opening->len - 1 == PGSQL_OPENING_WAIT);
    g_ptr_array_add(self->opening, g_strdup_printf("SET LOCAL idle_in_transaction_session_timeout = '%s'",
                                                   self->bulk ? PGSQL_BULK_IDLE : PGSQL_IDLE));
    g_ptr_array_add(self->opening, g_strdup(locks));
    g_ptr_array_add(self->opening, g_strdup("SET LOCAL lock_timeout = '" PGSQL_LOCK_WAIT "'"));
}

/* One lock for all of the schema, as only one writes to a database of SQLite at a time, so that a check before an
 * insert holds until the commit. */
bool pgsql_begin(void *connection, GError **error)
{
    PgsqlConnection *self = connection;
    if (!pgsql_connected(self, error))
        return false;
    g_autofree char *lock = g_strdup_printf("SELECT pg_advisory_xact_lock(%" G_GINT64_FORMAT ")", self->lock);
    begin(self, lock);
    if (pgsql_settle(self, error))
        return true;
    if (pgsql_in_transaction(self))
        pgsql_rollback(self);
    return false;
}

static int compare_locks(gconstpointer one, gconstpointer other)
{
    int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

/* It comes behind those of the lists, and is one for all: so who waits for it holds nothing that its holder could want.
 * Its number is the first of a pair, so that it is that of no list. */
static int32_t site_lock(const PgsqlConnection *self)
{
    return (int32_t)(self->lock >> 31);
}

/* The lock of the schema is shared, and held alone by begin(). That of a list is a mix of its key: two lists that have
 * the same wait for each other, which does no harm as long as locks are taken in their own order. */
bool pgsql_begin_lists(void *connection, const int64_t *lists, size_t count, bool people, GError **error)
{
    PgsqlConnection *self = connection;
    if (!pgsql_connected(self, error))
        return false;
    g_autoptr(GArray) locks = g_array_sized_new(FALSE, FALSE, sizeof(int64_t), (guint)count);
    g_autoptr(GString) sql = g_string_new(NULL);
    g_string_append_printf(sql, "SELECT pg_advisory_xact_lock_shared(%" G_GINT64_FORMAT ")", self->lock);
    for (size_t i = 0; i < count; i++) {
        int64_t lock = self->lock + 1 + (lists[i] >> 11) % 0x7fffffff;
        g_array_append_val(locks, lock);
    }
    g_array_sort(locks, compare_locks);
    for (guint i = 0; i < locks->len; i++)
        g_string_append_printf(sql, ", pg_advisory_xact_lock(%" G_GINT64_FORMAT ")", g_array_index(locks, int64_t, i));
    if (people)
        g_string_append_printf(sql, ", pg_advisory_xact_lock(%d, 1)", site_lock(self));
    begin(self, sql->str);
    return true;
}

bool pgsql_later_text(PgsqlConnection *self, const char *sql, GError **error)
{
    if (self->opening->len == 0)
        return pgsql_room(self, error) && pgsql_may_send(self, error) && pgsql_send_text(self, sql, error);
    g_ptr_array_add(self->opening, g_strdup(sql));
    return true;
}

bool pgsql_lock_site(void *connection, GError **error)
{
    PgsqlConnection *self = connection;
    g_autofree char *sql = g_strdup_printf("SELECT pg_advisory_xact_lock(%d, 1)", site_lock(self));
    return pgsql_later_text(self, sql, error);
}

static bool commit(PgsqlConnection *self, GError **error)
{
    bool begun = self->opening->len == 0;
    g_ptr_array_set_size(self->opening, 0);
    if (!begun) /* nothing was done in it */
        return true;
    if (self->waiting > 0 && !pgsql_send_text(self, "COMMIT", error))
        return false;
    PGresult *result = self->waiting > 0 ? pgsql_collect(self, error) : pgsql_exec(self, "COMMIT");
    if (!result || !pgsql_succeeded(result))
        return result && pgsql_failed(self, result, error);
    bool committed = strcmp(libpq.PQcmdStatus(result), "COMMIT") == 0;
    libpq.PQclear(result);
    return committed || fail(error, FAIL_LATER, "%s: a part of the transaction failed", self->shown);
}

/* The server answers ROLLBACK to the COMMIT of a transaction in which something failed. */
bool pgsql_commit(void *connection, GError **error)
{
    PgsqlConnection *self = connection;
    self->ended = self->undone = false;
    bool done = commit(self, error);
    self->writes = false;
    return done;
}

/* A server that refuses it goes on with the connection. One that ends the connection may have written the commit, and
 * waited for a standby. */
bool pgsql_commit_unknown(void *connection)
{
    const PgsqlConnection *self = connection;
    bool lost = !self->server || libpq.PQtransactionStatus(self->server) == PQTRANS_UNKNOWN;
    return (lost || self->ended) && !self->undone;
}

/* The sequence counts microseconds: it begins with the time at which the schema was made, and so keys sort by creation
 * however the clocks of hosts stand. A transaction that makes many gets ever more at once. */
bool pgsql_key(void *connection, int64_t *key, GError **error)
{
    PgsqlConnection *self = connection;
    if (self->keys_used == self->keys_had) {
        unsigned count = CLAMP(self->keys_had * 2, 1, PGSQL_KEYS);
        if (!pgsql_settle(self, error))
            return false;
        g_autofree char *sql = g_strdup_printf("SELECT nextval('listrunner_key') FROM generate_series(1, %u)", count);
        PGresult *result = pgsql_exec(self, sql);
        if (!pgsql_succeeded(result))
            return pgsql_failed(self, result, error);
        self->keys_had = (unsigned)libpq.PQntuples(result);
        self->keys_used = 0;
        for (unsigned i = 0; i < self->keys_had; i++)
            self->keys[i] = g_ascii_strtoll(libpq.PQgetvalue(result, (int)i, 0), NULL, 10);
        libpq.PQclear(result);
    }
    *key = (int64_t)((uint64_t)self->keys[self->keys_used++] << 11 | (g_random_int() & 0x7ff));
    return true;
}

bool pgsql_keys_above(void *connection, int64_t key, GError **error)
{
    PgsqlConnection *self = connection;
    g_autofree char *sql = g_strdup_printf(
        "SELECT setval('listrunner_key', greatest(last_value, %" G_GINT64_FORMAT ")) FROM listrunner_key", key >> 11);
    self->keys_used = self->keys_had = 0;
    return pgsql_settle(self, error) && pgsql_run(self, sql, error);
}
