/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The driver "postgresql", over libpq. `where` is a connection string or URI as libpq reads it; the first schema of its
 * search_path is ours alone.
 *
 * A connection that was lost comes back by itself, between transactions and never inside one. Statements are prepared
 * on the server when a connection first runs them. Behind PgBouncer in transaction mode, where each transaction may
 * meet another server process, they are sent whole each time.
 */
#include "store/store_internal.h"

#include <string.h>

#include "base/fail.h"
#include "store/driver/pgsql_connection.h"

#define FETCH_FIRST 100 /* rows of a stream in its first round trip, in which most end, */
#define FETCH_ROWS 500  /* and in each further one */
#define CLOCK "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)"

/* Types of pg_type that libpq's header does not name. */
enum { OID_BOOL = 16, OID_BYTEA = 17, OID_INT8 = 20, OID_INT2 = 21, OID_INT4 = 23, OID_TEXT = 25, OID_NUMERIC = 1700 };

typedef struct PgsqlStatement {
    PgsqlConnection *connection;
    char *sql;
    bool stream;
    int count; /* of parameters; the arrays below are as long */
    Oid *types;
    const char **values;
    int *lengths, *formats;
    int64_t *integers; /* in network order, where values point to */
    GPtrArray *made;   /* owned texts where values point to */
    const char *prepared; /* the name on the server, with generation; borrowed from the connection */
    unsigned generation;
    char cursor[16]; /* of the stream that is open, or "" */
    unsigned cursor_generation;
    int asked;             /* rows that the last fetch asked for */
    bool own_transaction;  /* of the cursor */
    PGresult *result;
    int row;
    GPtrArray *unescaped; /* blobs of the present row */
} PgsqlStatement;

static void pgsql_close(void *connection)
{
    pgsql_disconnect(connection);
}

/* Two processes that create at once: the second finds the schema of the first. */
static bool create_schema(PgsqlConnection *self, GError **error)
{
    g_autofree char *current = NULL, *create = NULL;
    if (!pgsql_text(self, "SELECT current_schema()", &current, error) || current)
        return current != NULL;
    if (!pgsql_text(
            self,
            "SELECT 'CREATE SCHEMA IF NOT EXISTS ' || quote_ident(CASE path WHEN '\"$user\"' THEN current_user "
            "ELSE btrim(path, '\"') END) FROM btrim(split_part(current_setting('search_path'), ',', 1)) AS path",
            &create, error))
        return false;
    g_autofree char *alone = g_strconcat("BEGIN; SELECT pg_advisory_xact_lock(0); ", create, "; COMMIT", NULL);
    if (pgsql_run(self, alone, error))
        return true;
    libpq.PQclear(pgsql_exec(self, "ROLLBACK"));
    return false;
}

static void *pgsql_open(const char *where, bool create, GError **error)
{
    PgsqlConnection *self = pgsql_connect(where, error);
    /* Another process may have made the schema since we connected. */
    if (!self || !create || (create_schema(self, error) && pgsql_look_around(self, error)))
        return self;
    pgsql_disconnect(self);
    return NULL;
}

/* One statement, which sees one moment: another process may be making the schema. It says "" where that is there, NULL
 * where there is nothing, else the name of what somebody else keeps in it. */
static bool pgsql_inspect(void *connection, bool *has_schema, GError **error)
{
    g_autofree char *found = NULL;
    if (!pgsql_text(connection,
                    "SELECT CASE (SELECT count(*) FROM pg_class WHERE relname IN ('schema_migration', 'listrunner_key')"
                    " AND relnamespace = to_regnamespace(quote_ident(current_schema()))) WHEN 2 THEN '' ELSE"
                    " (SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace(quote_ident(current_schema()))"
                    " AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND NOT EXISTS (SELECT 1 FROM pg_depend"
                    " WHERE objid = pg_class.oid AND deptype = 'e') LIMIT 1) END",
                    &found, error))
        return false;
    *has_schema = found && *found == '\0';
    return !found || *has_schema ||
           fail(error, FAIL_CONFIG,
                "the schema of this PostgreSQL database holds things that are not Listrunner's (%s);"
                " give it a database of its own, or a schema by \"options=-csearch_path=NAME\"",
                found);
}

static bool pgsql_find(const char *where, GError **error)
{
    PgsqlConnection *self = pgsql_open(where, false, error);
    bool has_schema = false;
    bool found = self && pgsql_inspect(self, &has_schema, error) &&
                 (has_schema || store_fail_missing(self->shown, "is empty", error));
    if (self)
        pgsql_close(self);
    return found;
}

/* A connection that was lost comes back by itself, to the same database. */
static bool pgsql_present(void *connection, GError **error)
{
    (void)connection, (void)error;
    return true;
}

static bool pgsql_reachable(void *connection)
{
    return pgsql_connected(connection, NULL);
}

static bool pgsql_script(void *connection, const char *sql, GError **error)
{
    return pgsql_run(connection, sql, error);
}

/* ---- statements ---- */

static void *pgsql_prepare(void *connection, const char *sql, const Value *values, size_t count, bool stream,
                           GError **error)
{
    (void)error; /* the server is told when the statement runs */
    static const Oid types[] = {[VALUE_INTEGER] = OID_INT8, [VALUE_TEXT] = OID_TEXT, [VALUE_BLOB] = OID_BYTEA};
    PgsqlStatement *self = g_new0(PgsqlStatement, 1);
    self->connection = connection;
    self->sql = g_strdup(sql);
    self->stream = stream;
    self->count = (int)count;
    self->types = g_new0(Oid, count);
    self->values = g_new0(const char *, count);
    self->lengths = g_new0(int, count);
    self->formats = g_new0(int, count);
    self->integers = g_new0(int64_t, count);
    self->made = g_ptr_array_new_with_free_func(g_free);
    self->unescaped = g_ptr_array_new_with_free_func(libpq.PQfreemem);
    for (size_t i = 0; i < count; i++)
        self->types[i] = types[values[i].type];
    return self;
}

static void pgsql_finalize(void *statement)
{
    PgsqlStatement *self = statement;
    libpq.PQclear(self->result);
    g_free(self->sql);
    g_free(self->types);
    g_free(self->values);
    g_free(self->lengths);
    g_free(self->formats);
    g_free(self->integers);
    g_ptr_array_unref(self->made);
    g_ptr_array_unref(self->unescaped);
    g_free(self);
}

static bool pgsql_bind(void *statement, int parameter, const Value *value, GError **error)
{
    PgsqlStatement *self = statement;
    int i = parameter - 1;
    if (i >= self->count || value->length > INT_MAX)
        return fail(error, FAIL_NEVER, "parameter %d cannot be sent to PostgreSQL", parameter);
    self->values[i] = NULL;
    if (value->null)
        return true;
    self->formats[i] = value->type != VALUE_TEXT;
    switch (value->type) {
    case VALUE_INTEGER:
        self->integers[i] = GINT64_TO_BE(value->integer);
        self->values[i] = (const char *)&self->integers[i];
        self->lengths[i] = sizeof self->integers[i];
        break;
    case VALUE_TEXT: /* text from mail may be no UTF-8, which the server refuses; others see replacement characters */
        self->values[i] = value->data;
        if (!g_utf8_validate_len(value->data, value->length, NULL)) {
            self->values[i] = g_utf8_make_valid(value->data, (gssize)value->length);
            g_ptr_array_add(self->made, (gpointer)self->values[i]);
        }
        break;
    default:
        self->values[i] = value->length ? value->data : "";
        self->lengths[i] = (int)value->length;
        break;
    }
    return true;
}

/* Once for each connection and text; what was sent is waited for first. */
static bool prepare(PgsqlStatement *self, GError **error)
{
    PgsqlConnection *connection = self->connection;
    if (connection->pooled || (self->prepared && self->generation == connection->generation))
        return true;
    self->prepared = g_hash_table_lookup(connection->prepared, self->sql);
    if (!self->prepared) {
        if (!pgsql_settle(connection, error))
            return false;
        g_autofree char *name = g_strdup_printf("s%u", ++connection->names);
        PGresult *result = pgsql_answer(
            connection, libpq.PQsendPrepare(connection->server, name, self->sql, self->count, self->types));
        if (!pgsql_succeeded(result))
            return pgsql_failed(connection, result, error);
        libpq.PQclear(result);
        self->prepared = name;
        g_hash_table_insert(connection->prepared, g_strdup(self->sql), g_steal_pointer(&name));
    }
    self->generation = connection->generation;
    return true;
}

/* The statement is prepared. 1: it was sent. */
static int send_values(PgsqlStatement *self)
{
    PgsqlConnection *connection = self->connection;
    return connection->pooled ? libpq.PQsendQueryParams(connection->server, self->sql, self->count, self->types,
                                                        self->values, self->lengths, self->formats, 0)
                              : libpq.PQsendQueryPrepared(connection->server, self->prepared, self->count, self->values,
                                                          self->lengths, self->formats, 0);
}

static bool send(void *statement, GError **error)
{
    PgsqlStatement *self = statement;
    return pgsql_sent(self->connection, send_values(self) == 1, error);
}

/* Run it in one round trip, together with what was sent before. Outside of a transaction it is done again where another
 * one's won; within one, only who began it could do all of it again. */
static bool run(PgsqlStatement *self, GError **error)
{
    PgsqlConnection *connection = self->connection;
    if (!prepare(self, error))
        return false;
    if (connection->opening->len > 0)
        return (self->result = pgsql_open_transaction(connection, send, self, error));
    if (connection->waiting > 0)
        return send(self, error) && (self->result = pgsql_collect(connection, error));
    unsigned tries = libpq.PQtransactionStatus(connection->server) == PQTRANS_IDLE ? PGSQL_CONFLICT_TRIES : 1;
    while (self->result = pgsql_answer(connection, send_values(self)), pgsql_is_conflict(self->result) && --tries > 0)
        libpq.PQclear(self->result);
    if (!pgsql_succeeded(self->result))
        return pgsql_failed(connection, g_steal_pointer(&self->result), error);
    pgsql_count_changes(connection, self->result);
    return true;
}

/* A cursor lives in a transaction. Where the caller has none, the stream makes one in which nothing is written. */
static bool send_cursor(PgsqlStatement *self, bool begins, GError **error)
{
    PgsqlConnection *connection = self->connection;
    g_autofree char *declare = g_strdup_printf("DECLARE %s NO SCROLL CURSOR FOR %s", self->cursor, self->sql);
    g_autofree char *fetch = g_strdup_printf("FETCH %d FROM %s", self->asked = FETCH_FIRST, self->cursor);
    return pgsql_may_send(connection, error) &&
           (!begins || pgsql_send_text(connection, PGSQL_LEVEL " READ ONLY", error)) &&
           pgsql_sent(connection,
                      libpq.PQsendQueryParams(connection->server, declare, self->count, self->types, self->values,
                                              self->lengths, self->formats, 0) == 1,
                      error) &&
           pgsql_send_text(connection, fetch, error);
}

/* Send all of a read that is to stand alone: a stream is read as if its first rows were all. */
static bool send_read(PgsqlStatement *self, GError **error)
{
    PgsqlConnection *connection = self->connection;
    if (!self->stream)
        return send(self, error);
    g_snprintf(self->cursor, sizeof self->cursor, "c%u", ++connection->names);
    bool sent = send_cursor(self, true, error) && pgsql_send_text(connection, "COMMIT", error);
    *self->cursor = '\0'; /* it ends with its transaction */
    return sent;
}

/* The rows of such a read; NULL: it failed, or a stream has, or may have, further ones. */
static PGresult *receive_read(PgsqlStatement *self)
{
    PGresult *rows = NULL;
    for (int answers = self->stream ? 4 : 1; answers > 0; answers--) {
        PGresult *result = pgsql_next_answer(self->connection);
        if (!rows && libpq.PQresultStatus(result) == PGRES_TUPLES_OK)
            rows = result;
        else
            libpq.PQclear(result);
    }
    if (rows && self->stream && libpq.PQntuples(rows) >= self->asked)
        g_clear_pointer(&rows, libpq.PQclear);
    return rows;
}

/* Streams come first: each begins a transaction, which is possible only where none was begun by a read before it. */
static void pgsql_together(void *const *statements, size_t count)
{
    PgsqlConnection *connection = ((PgsqlStatement *)statements[0])->connection;
    bool ok = !pgsql_in_transaction(connection) && pgsql_connected(connection, NULL);
    for (size_t i = 0; ok && i < count; i++)
        ok = ((PgsqlStatement *)statements[i])->stream || prepare(statements[i], NULL);
    if (!ok || !pgsql_may_send(connection, NULL))
        return;
    for (int streams = 1; streams >= 0; streams--)
        for (size_t i = 0; ok && i < count; i++)
            ok = ((PgsqlStatement *)statements[i])->stream != streams || send_read(statements[i], NULL);
    ok = ok && pgsql_sync(connection);
    for (int streams = 1; streams >= 0; streams--)
        for (size_t i = 0; ok && i < count; i++) {
            PgsqlStatement *self = statements[i];
            if (self->stream != streams)
                continue;
            self->result = receive_read(self);
            self->row = -1; /* before the first step() */
        }
    pgsql_end_pipeline(connection);
    if (pgsql_in_transaction(connection)) /* of a stream that failed before its end */
        pgsql_rollback(connection);
}

/* Most streams end with their first rows, which then cost one round trip with their transaction; of a longer one, these
 * rows are read again. */
static bool run_stream(PgsqlStatement *self, GError **error)
{
    PgsqlConnection *connection = self->connection;
    pgsql_together((void *[]){self}, 1);
    self->row = 0;
    if (self->result)
        return true;
    if ((!pgsql_in_transaction(connection) && !pgsql_connected(connection, error)) || !pgsql_room(connection, error))
        return false;
    bool begins = connection->streams == 0 && !pgsql_in_transaction(connection);
    self->own_transaction = begins || connection->streams > 0;
    connection->streams += self->own_transaction;
    g_snprintf(self->cursor, sizeof self->cursor, "c%u", ++connection->names);
    self->cursor_generation = connection->generation;
    return send_cursor(self, begins, error) && (self->result = pgsql_collect(connection, error));
}

static bool run_first(PgsqlStatement *self, GError **error)
{
    PgsqlConnection *connection = self->connection;
    PGTransactionStatusType status = libpq.PQtransactionStatus(connection->server);
    bool alone = status == PQTRANS_IDLE || status == PQTRANS_UNKNOWN;
    if (alone && !pgsql_connected(connection, error))
        return false;
    bool undoes = g_str_has_prefix(self->sql, "ROLLBACK TO "); /* whatever failed since the savepoint */
    if (undoes)
        pgsql_settle(connection, NULL);
    if (undoes && connection->spoiled)
        return fail(error, FAIL_LATER, "%s: an earlier part of the transaction failed", connection->shown);
    return self->stream ? run_stream(self, error) : run(self, error);
}

/* A stream ends with a fetch that the server completed with fewer rows than were asked for, and with nothing else: a
 * connection that is cut between two rows completes none. */
static bool fetch_more(PgsqlStatement *self, GError **error)
{
    PgsqlConnection *connection = self->connection;
    if (!self->stream || libpq.PQntuples(self->result) < self->asked)
        return true;
    g_clear_pointer(&self->result, libpq.PQclear);
    self->row = 0;
    if (!pgsql_settle(connection, error))
        return false;
    if (self->cursor_generation != connection->generation || !connection->server)
        return fail(error, FAIL_LATER, "%s: the connection was lost while rows were read", connection->shown);
    g_autofree char *sql = g_strdup_printf("FETCH %d FROM %s", self->asked = FETCH_ROWS, self->cursor);
    PGresult *result = pgsql_exec(connection, sql);
    if (libpq.PQresultStatus(result) != PGRES_TUPLES_OK)
        return pgsql_failed(connection, result, error);
    self->result = result;
    return true;
}

static Step pgsql_step(void *statement, GError **error)
{
    PgsqlStatement *self = statement;
    g_ptr_array_set_size(self->unescaped, 0);
    if (!self->result) {
        self->row = 0;
        if (!run_first(self, error))
            return STEP_FAILED;
    } else if (++self->row >= libpq.PQntuples(self->result) && !fetch_more(self, error)) {
        return STEP_FAILED;
    }
    return self->row < libpq.PQntuples(self->result) ? STEP_ROW : STEP_DONE;
}

static bool pgsql_later(void *statement, GError **error)
{
    PgsqlStatement *self = statement;
    PgsqlConnection *connection = self->connection;
    if (self->count == 0)
        return pgsql_later_text(connection, self->sql, error);
    return pgsql_room(connection, error) && prepare(self, error) && pgsql_may_send(connection, error) &&
           send(self, error);
}

static void pgsql_reset(void *statement)
{
    PgsqlStatement *self = statement;
    PgsqlConnection *connection = self->connection;
    if (*self->cursor && self->own_transaction && self->cursor_generation == connection->generation &&
        --connection->streams == 0 && connection->server)
        libpq.PQclear(pgsql_exec(connection, "COMMIT"));
    *self->cursor = '\0';
    g_clear_pointer(&self->result, libpq.PQclear);
    g_ptr_array_set_size(self->unescaped, 0);
    g_ptr_array_set_size(self->made, 0);
    for (int i = 0; i < self->count; i++)
        self->values[i] = NULL;
}

static bool pgsql_is_null(void *statement, int column)
{
    PgsqlStatement *self = statement;
    return libpq.PQgetisnull(self->result, self->row, column);
}

static int64_t pgsql_integer(void *statement, int column)
{
    PgsqlStatement *self = statement;
    const char *text = libpq.PQgetvalue(self->result, self->row, column);
    return libpq.PQftype(self->result, column) == OID_BOOL ? *text == 't' : g_ascii_strtoll(text, NULL, 10);
}

static const void *pgsql_octets(void *statement, int column, size_t *length)
{
    PgsqlStatement *self = statement;
    size_t size = (size_t)libpq.PQgetlength(self->result, self->row, column);
    const void *bytes = libpq.PQgetisnull(self->result, self->row, column)
                            ? NULL
                            : libpq.PQgetvalue(self->result, self->row, column);
    if (bytes && libpq.PQftype(self->result, column) == OID_BYTEA) {
        bytes = libpq.PQunescapeBytea(bytes, &size);
        if (!bytes)
            g_error("out of memory");
        g_ptr_array_add(self->unescaped, (gpointer)bytes);
    }
    if (length)
        *length = size;
    return bytes;
}

static int64_t pgsql_changed(void *connection)
{
    return ((PgsqlConnection *)connection)->changed;
}

static int64_t pgsql_changed_ever(void *connection)
{
    return ((PgsqlConnection *)connection)->changed_ever;
}

/* ---- the server ---- */

static void pgsql_deadline(void *connection, int64_t us)
{
    ((PgsqlConnection *)connection)->deadline = us;
}

static bool pgsql_clock(void *connection, int64_t *now, GError **error)
{
    PgsqlConnection *self = connection;
    g_autofree char *text = NULL;
    bool idle = !pgsql_in_transaction(self) && self->waiting == 0;
    if ((idle && !pgsql_connected(self, error)) || !pgsql_settle(self, error) ||
        !pgsql_text(self, "SELECT " CLOCK, &text, error))
        return false;
    *now = g_ascii_strtoll(text, NULL, 10);
    return true;
}

static bool pgsql_system(void *connection, char **system, int64_t *timeline, GError **error)
{
    PgsqlConnection *self = connection;
    g_auto(Generation) found = {0};
    if (!pgsql_connected(self, error) || !pgsql_read_generation(self, NULL, &found, error))
        return false;
    *system = g_steal_pointer(&found.system);
    *timeline = found.timeline;
    return true;
}

/* Of other connections of this role, which all hosts use. */
static bool pgsql_standby(void *connection, int64_t *since, GError **error)
{
    PgsqlConnection *self = connection;
    g_autofree char *text = NULL;
    if (!pgsql_connected(self, error) ||
        !pgsql_text(self,
                    "SELECT CAST(extract(epoch FROM min(query_start)) * 1000000 AS bigint) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND wait_event_type = 'IPC' AND wait_event = 'SyncRep' "
                    "AND clock_timestamp() - query_start > '2s'",
                    &text, error))
        return false;
    *since = text ? g_ascii_strtoll(text, NULL, 10) : 0;
    return true;
}

/* The least of what the server, the role and the database allow; the server keeps some for others. */
static bool pgsql_connections(void *connection, int64_t *allowed, GError **error)
{
    PgsqlConnection *self = connection;
    g_autofree char *text = NULL;
    if (!pgsql_connected(self, error) ||
        !pgsql_text(self,
                    "SELECT least(current_setting('max_connections')::int - "
                    "current_setting('superuser_reserved_connections')::int - "
                    "COALESCE(current_setting('reserved_connections', true)::int, 0), "
                    "(SELECT NULLIF(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user), "
                    "(SELECT NULLIF(datconnlimit, -1) FROM pg_database WHERE datname = current_database()))",
                    &text, error))
        return false;
    *allowed = g_ascii_strtoll(text, NULL, 10);
    return true;
}

/* ---- columns ---- */

static int pgsql_columns(void *statement)
{
    return libpq.PQnfields(((PgsqlStatement *)statement)->result);
}

static const char *pgsql_column(void *statement, int column, ValueType *type)
{
    const PgsqlStatement *self = statement;
    switch (libpq.PQftype(self->result, column)) {
    case OID_BOOL:
    case OID_INT2:
    case OID_INT4:
    case OID_INT8:
    case OID_NUMERIC:
        *type = VALUE_INTEGER;
        break;
    case OID_BYTEA:
        *type = VALUE_BLOB;
        break;
    default:
        *type = VALUE_TEXT;
        break;
    }
    return libpq.PQfname(self->result, column);
}

/* ---- the database as a whole ---- */

/* Run a statement for each table of ours, whose name stands between two texts. With faults, a page that cannot be read
 * is one of these. */
static bool each_table(PgsqlConnection *self, const char *before, const char *behind, GPtrArray *faults, GError **error)
{
    self->deadline = 0; /* that takes its time */
    PGresult *tables = pgsql_exec(self, "SELECT quote_ident(relname) FROM pg_class WHERE relkind = 'r' AND "
                                    "relnamespace = to_regnamespace(quote_ident(current_schema())) ORDER BY relname");
    if (!pgsql_succeeded(tables))
        return pgsql_failed(self, tables, error);
    bool ok = true;
    for (int i = 0; ok && i < libpq.PQntuples(tables); i++) {
        g_autofree char *sql = g_strconcat(before, libpq.PQgetvalue(tables, i, 0), behind, NULL);
        PGresult *result = pgsql_exec(self, sql);
        const char *state = libpq.PQresultErrorField(result, PG_DIAG_SQLSTATE);
        if (faults && state && g_str_has_prefix(state, "XX")) {
            g_ptr_array_add(faults, g_strdup_printf("table %s: %s", libpq.PQgetvalue(tables, i, 0),
                                                    libpq.PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY)));
            libpq.PQclear(result);
        } else if (pgsql_succeeded(result)) {
            libpq.PQclear(result);
        } else {
            ok = pgsql_failed(self, result, error);
        }
    }
    libpq.PQclear(tables);
    return ok;
}

/* The server keeps its constraints itself; what is looked for are pages that cannot be read. */
static bool pgsql_verify(void *connection, GPtrArray *faults, GError **error)
{
    return each_table(connection, "SELECT count(whole.*::text) FROM ", " AS whole", faults, error);
}

static bool pgsql_backup(void *connection, const char *to, GError **error)
{
    const PgsqlConnection *self = connection;
    return fail(error, FAIL_NEVER,
                "%s is backed up with PostgreSQL's own program while Listrunner runs: "
                "pg_dump --format=custom --file=%s URL",
                self->shown, to);
}

static bool pgsql_size(void *connection, int64_t *bytes, GError **error)
{
    PgsqlConnection *self = connection;
    g_autofree char *size = NULL;
    if (!pgsql_connected(self, error) ||
        !pgsql_text(self,
                    "SELECT coalesce(sum(pg_total_relation_size(oid)), 0) FROM pg_class WHERE relkind = 'r' AND "
                    "relnamespace = to_regnamespace(quote_ident(current_schema()))",
                    &size, error))
        return false;
    *bytes = g_ascii_strtoll(size, NULL, 10);
    return true;
}

static bool pgsql_compact(void *connection, GError **error)
{
    return each_table(connection, "VACUUM FULL ANALYZE ", "", NULL, error);
}

/* The server's autovacuum does this. */
static bool pgsql_give_back(void *connection, bool *more, GError **error)
{
    (void)connection, (void)error;
    *more = false;
    return true;
}

static const char *const words[] = {
    "AS @text@)",
    "AS TEXT) COLLATE \"C\"", /* a type in a CAST has no collation of its own */
    "@integer@",
    "BIGINT",
    "@text@",
    "TEXT COLLATE \"C\"",
    "@blob@",
    "BYTEA",
    "@table@",
    "",
    "@clustered@",
    "",
    "@clock@",
    CLOCK,
    "@mark@",
    "CREATE SEQUENCE IF NOT EXISTS listrunner_key; SELECT setval('listrunner_key', greatest(last_value, " CLOCK
    ")) FROM listrunner_key;",
    "@position@", /* of foreign.h, as the three that follow */
    "strpos",
    "@since@",
    "TIMESTAMP '1970-01-01' + ",
    "@bytes@",
    "COLLATE \"C\"",
    "@number@",
    "INTEGER",
    NULL,
};

const StoreDriver store_pgsql = {
    .name = "postgresql",
    .setting = "url",
    .shown = pgsql_shown,
    .open = pgsql_open,
    .close = pgsql_close,
    .find = pgsql_find,
    .present = pgsql_present,
    .reachable = pgsql_reachable,
    .verify = pgsql_verify,
    .backup = pgsql_backup,
    .size = pgsql_size,
    .compact = pgsql_compact,
    .give_back = pgsql_give_back,
    .script = pgsql_script,
    .prepare = pgsql_prepare,
    .finalize = pgsql_finalize,
    .bind = pgsql_bind,
    .step = pgsql_step,
    .later = pgsql_later,
    .together = pgsql_together,
    .reset = pgsql_reset,
    .is_null = pgsql_is_null,
    .integer = pgsql_integer,
    .octets = pgsql_octets,
    .columns = pgsql_columns,
    .column = pgsql_column,
    .changed = pgsql_changed,
    .changed_ever = pgsql_changed_ever,
    .begin = pgsql_begin,
    .begin_lists = pgsql_begin_lists,
    .lock_site = pgsql_lock_site,
    .commit = pgsql_commit,
    .commit_unknown = pgsql_commit_unknown,
    .rollback = pgsql_rollback,
    .in_transaction = pgsql_in_transaction,
    .is_sound = pgsql_is_sound,
    .key = pgsql_key,
    .keys_above = pgsql_keys_above,
    .deadline = pgsql_deadline,
    .clock = pgsql_clock,
    .expect_bulk = pgsql_expect_bulk,
    .system = pgsql_system,
    .standby = pgsql_standby,
    .connections = pgsql_connections,
    .inspect = pgsql_inspect,
    .words = words,
};
