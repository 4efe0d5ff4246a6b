/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The driver "mysql", over libmariadb: databases of other programs in MariaDB and MySQL are read (foreign.h). It is no
 * store, so it has of a driver what reading takes.
 *
 * Each statement is read by a cursor on the server, some rows in a round trip, so that others are read beside it.
 */
#include "store/driver/driver.h"

#include <limits.h>
#include <mysql.h>

#include <errmsg.h>
#include <mysqld_error.h>
#include <stddef.h>
#include <string.h>

#include "base/fail.h"
#include "store/driver/library.h"

#define FETCH_ROWS 100
#define CONNECT_SECONDS 10
#define ANSWER_SECONDS 600 /* the first row of a million that are sorted takes a while */
#define VALUE_SHORT 256    /* longer values are fetched one by one */
#define VALUE_MOST (1u << 30)
#define SHAPE                                                                                                       \
    "mysql://USER:PASSWORD@HOST:PORT/DATABASE, with %40 for @ in a password, %2F for /, %3F for ?, %23 for #, %25 " \
    "for %"

typedef struct MysqlPlace {
    char *user, *password, *host, *database, *socket, *authorities; /* NULL: not named */
    int port;                                         /* 0: not named */
} MysqlPlace;

typedef struct MysqlConnection {
    MYSQL *server;
    char *shown;
    bool in_transaction;
} MysqlConnection;

typedef struct MysqlColumn {
    unsigned long length;
    my_bool null;
    char text[VALUE_SHORT + 1];
    GByteArray *whole; /* of a longer value of this row; NULL: it is in text */
} MysqlColumn;

typedef struct MysqlStatement {
    MysqlConnection *connection;
    MYSQL_STMT *statement;
    unsigned long places; /* of the parameter, which may stand at several */
    Value value;
    unsigned columns;
    MysqlColumn *column;
    MYSQL_BIND *results;
    bool running;
} MysqlStatement;

/* ---- the library ---- */

/* MariaDB's client library, which speaks to MySQL too, is loaded when a process opens its first database of either: to
 * move from a list manager that keeps its data there, or for members who come from there (lists/sources/source.h). Its
 * functions bear their own names: libmariadb.mysql_query(server, sql). */
#define LIBMARIADB_FUNCTIONS(X) \
    X(mysql_close)              \
    X(mysql_errno)              \
    X(mysql_error)              \
    X(mysql_init)               \
    X(mysql_optionsv)           \
    X(mysql_query)              \
    X(mysql_real_connect)       \
    X(mysql_stmt_attr_set)      \
    X(mysql_stmt_bind_param)    \
    X(mysql_stmt_bind_result)   \
    X(mysql_stmt_close)         \
    X(mysql_stmt_errno)         \
    X(mysql_stmt_error)         \
    X(mysql_stmt_execute)       \
    X(mysql_stmt_fetch)         \
    X(mysql_stmt_fetch_column)  \
    X(mysql_stmt_field_count)   \
    X(mysql_stmt_free_result)   \
    X(mysql_stmt_init)          \
    X(mysql_stmt_param_count)   \
    X(mysql_stmt_prepare)

static struct {
#define LIBMARIADB_MEMBER(name) __typeof__(name) *name;
    LIBMARIADB_FUNCTIONS(LIBMARIADB_MEMBER)
#undef LIBMARIADB_MEMBER
} libmariadb; /* empty before libmariadb_load() */

static const LibraryFunction functions[] = {
#define ROW(name) {#name, offsetof(__typeof__(libmariadb), name)},
    LIBMARIADB_FUNCTIONS(ROW)
#undef ROW
};

static bool libmariadb_load(GError **error)
{
    static bool loaded;
    static const Library library = {"libmariadb.so.3", "MariaDB and MySQL", "libmariadb3", functions,
                                    G_N_ELEMENTS(functions)};
    return loaded || (loaded = library_load(&library, &libmariadb, error));
}

/* ---- where it is ---- */

static void place_clear(MysqlPlace *place)
{
    g_free(place->user);
    g_free(place->password);
    g_free(place->host);
    g_free(place->database);
    g_free(place->socket);
    g_free(place->authorities);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(MysqlPlace, place_clear)

/* Read the parameters that SQLAlchemy lets stand behind the name of the database, and the password that
 * store_place_with_password() adds. Text comes in UTF-8, whatever charset= says. */
static bool read_parameters(const char *query, MysqlPlace *place, GError **error)
{
    g_autoptr(GError) fault = NULL;
    g_autoptr(GHashTable) parameters = g_uri_parse_params(query, -1, "&", G_URI_PARAMS_NONE, &fault);
    if (!parameters)
        return fail(error, FAIL_CONFIG, "what stands behind its \"?\" cannot be read: %s", fault->message);
    GHashTableIter iterator;
    void *name, *value;
    g_hash_table_iter_init(&iterator, parameters);
    while (g_hash_table_iter_next(&iterator, &name, &value)) {
        if (strcmp(name, "password") == 0) {
            g_free(place->password);
            place->password = g_strdup(value);
        } else if (strcmp(name, "unix_socket") == 0)
            place->socket = g_strdup(value);
        else if (strcmp(name, "ssl_ca") == 0)
            place->authorities = g_strdup(value);
        else if (strcmp(name, "charset") != 0 && strcmp(name, "use_unicode") != 0)
            return fail(error, FAIL_CONFIG,
                        "the parameter \"%s\" is not known; known are unix_socket, ssl_ca, charset and use_unicode",
                        (char *)name);
    }
    return true;
}

/* A name with a character that a URL takes apart is a piece of a password, in which that was not written as "%40". */
static bool is_whole(const char *name)
{
    return !name || !strpbrk(name, "@/");
}

/* The messages never repeat the URL, which has a password, nor what GLib says of it, which repeats a part. */
static bool read_place(const char *where, MysqlPlace *place, GError **error)
{
    g_autofree char *path = NULL, *query = NULL;
    bool is_url = g_uri_split_with_user(where, G_URI_FLAGS_HAS_PASSWORD | G_URI_FLAGS_ENCODED_QUERY, NULL, &place->user,
                                        &place->password, NULL, &place->host, &place->port, &path, &query, NULL, NULL);
    const char *database = is_url && path && *path ? path + 1 : "";
    if (!is_url || !is_whole(place->host) || !is_whole(database))
        return fail(error, FAIL_CONFIG, "this is no URL of MySQL (%s)", SHAPE);
    if (!*database)
        return fail(error, FAIL_CONFIG, "this URL of MySQL names no database (%s)", SHAPE);
    place->database = g_strdup(database);
    place->port = MAX(place->port, 0);
    if (!query || read_parameters(query, place, error))
        return true;
    g_prefix_error(error, "the URL of the MySQL database %s: ", place->database);
    return false;
}

static bool is_set(const char *text)
{
    return text && *text;
}

static char *my_shown(const char *where, GError **error)
{
    g_auto(MysqlPlace) place = {0};
    if (!read_place(where, &place, error))
        return NULL;
    g_autoptr(GString) shown = g_string_new("MySQL database ");
    g_string_append(shown, place.database);
    if (place.socket || is_set(place.host))
        g_string_append_printf(shown, " at %s", place.socket ? place.socket : place.host);
    if (place.port > 0)
        g_string_append_printf(shown, " port %d", place.port);
    if (is_set(place.user))
        g_string_append_printf(shown, " as %s", place.user);
    return g_string_free(g_steal_pointer(&shown), FALSE);
}

/* ---- the connection ---- */

/* Refusals stay until a person acts. */
static FailCode code_of(unsigned number)
{
    switch (number) {
    case ER_ACCESS_DENIED_ERROR:
    case ER_ACCESS_DENIED_NO_PASSWORD_ERROR:
    case ER_DBACCESS_DENIED_ERROR:
    case ER_TABLEACCESS_DENIED_ERROR:
    case ER_COLUMNACCESS_DENIED_ERROR:
    case ER_BAD_DB_ERROR:
    case ER_NO_SUCH_TABLE:
    case ER_BAD_FIELD_ERROR:
    case ER_PARSE_ERROR:
    case CR_AUTH_PLUGIN_CANNOT_LOAD:
    case CR_SSL_CONNECTION_ERROR:
        return FAIL_CONFIG;
    default:
        return FAIL_LATER;
    }
}

static bool failed(const MysqlConnection *self, unsigned number, const char *message, GError **error)
{
    bool lost = number == CR_SERVER_LOST || number == CR_SERVER_GONE_ERROR;
    return fail(error, code_of(number), "%s: %s%s", self->shown, lost ? "the connection was lost: " : "", message);
}

static bool connection_failed(const MysqlConnection *self, GError **error)
{
    return failed(self, libmariadb.mysql_errno(self->server), libmariadb.mysql_error(self->server), error);
}

static bool my_script(void *connection, const char *sql, GError **error)
{
    MysqlConnection *self = connection;
    if (libmariadb.mysql_query(self->server, sql) != 0)
        return connection_failed(self, error);
    self->in_transaction = true; /* foreign_open() begins one, and nothing else is run so */
    return true;
}

static void my_shut(void *connection)
{
    MysqlConnection *self = connection;
    if (self->server)
        libmariadb.mysql_close(self->server);
    g_free(self->shown);
    g_free(self);
}

/* By TCP also where the host is localhost, as Python's libraries do; without a host by the socket. */
static bool connect_to(MysqlConnection *self, const MysqlPlace *place, GError **error)
{
    static const unsigned connecting = CONNECT_SECONDS, answering = ANSWER_SECONDS, tcp = MYSQL_PROTOCOL_TCP, no = 0;
    libmariadb.mysql_optionsv(self->server, MYSQL_OPT_CONNECT_TIMEOUT, &connecting);
    libmariadb.mysql_optionsv(self->server, MYSQL_OPT_READ_TIMEOUT, &answering);
    libmariadb.mysql_optionsv(self->server, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    libmariadb.mysql_optionsv(self->server, MYSQL_OPT_LOCAL_INFILE, &no); /* no server may ask for files of ours */
    /* With authorities the server has to prove who it is; without, newer libraries would want that, too. */
    const my_bool prove = place->authorities != NULL;
    libmariadb.mysql_optionsv(self->server, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &prove);
    if (prove) {
        libmariadb.mysql_optionsv(self->server, MYSQL_OPT_SSL_CA, place->authorities);
        libmariadb.mysql_optionsv(self->server, MYSQL_OPT_SSL_ENFORCE, &prove);
    }
    if (is_set(place->host) && !place->socket)
        libmariadb.mysql_optionsv(self->server, MYSQL_OPT_PROTOCOL, &tcp);
    return libmariadb.mysql_real_connect(self->server, is_set(place->host) ? place->host : NULL, place->user,
                                         place->password, place->database, (unsigned)place->port, place->socket, 0) ||
           connection_failed(self, error);
}

static void *my_open(const char *where, bool create, GError **error)
{
    (void)create;
    g_auto(MysqlPlace) place = {0};
    if (!read_place(where, &place, error) || !libmariadb_load(error))
        return NULL;
    MysqlConnection *self = g_new0(MysqlConnection, 1);
    self->shown = my_shown(where, error);
    self->server = self->shown ? libmariadb.mysql_init(NULL) : NULL;
    if (self->server && connect_to(self, &place, error) &&
        (libmariadb.mysql_query(self->server,
                                "SET SESSION sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT', time_zone = '+00:00'") == 0 ||
         connection_failed(self, error)) &&
        (libmariadb.mysql_query(self->server, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ") == 0 ||
         connection_failed(self, error)))
        return self;
    my_shut(self);
    return NULL;
}

static void my_rollback(void *connection)
{
    MysqlConnection *self = connection;
    libmariadb.mysql_query(self->server, "ROLLBACK");
    self->in_transaction = false;
}

static bool my_in_transaction(void *connection)
{
    return ((MysqlConnection *)connection)->in_transaction;
}

/* ---- statements ---- */

static bool statement_failed(const MysqlStatement *self, GError **error)
{
    return failed(self->connection, libmariadb.mysql_stmt_errno(self->statement),
                  libmariadb.mysql_stmt_error(self->statement), error);
}

static void my_finalize(void *statement)
{
    MysqlStatement *self = statement;
    for (unsigned i = 0; i < self->columns; i++)
        if (self->column[i].whole)
            g_byte_array_unref(self->column[i].whole);
    if (self->statement)
        libmariadb.mysql_stmt_close(self->statement);
    g_free(self->column);
    g_free(self->results);
    g_free(self);
}

/* The one parameter of foreign.h, $1, is a ? at each of its places. */
static void *my_prepare(void *connection, const char *sql, const Value *values, size_t count, bool stream,
                        GError **error)
{
    static const unsigned long cursor = CURSOR_TYPE_READ_ONLY, rows = FETCH_ROWS;
    (void)values, (void)stream;
    MysqlStatement *self = g_new0(MysqlStatement, 1);
    self->connection = connection;
    g_autoptr(GString) asked = g_string_new(sql);
    if (count > 0)
        g_string_replace(asked, "$1", "?", 0);
    self->statement = libmariadb.mysql_stmt_init(self->connection->server);
    if (!self->statement) {
        connection_failed(self->connection, error);
    } else if (libmariadb.mysql_stmt_attr_set(self->statement, STMT_ATTR_CURSOR_TYPE, &cursor) ||
               libmariadb.mysql_stmt_attr_set(self->statement, STMT_ATTR_PREFETCH_ROWS, &rows) ||
               libmariadb.mysql_stmt_prepare(self->statement, asked->str, asked->len) != 0) {
        statement_failed(self, error);
    } else {
        self->places = libmariadb.mysql_stmt_param_count(self->statement);
        /* Every value is read as bytes, the short ones with the row. */
        self->columns = libmariadb.mysql_stmt_field_count(self->statement);
        self->column = g_new0(MysqlColumn, self->columns);
        self->results = g_new0(MYSQL_BIND, self->columns);
        for (unsigned i = 0; i < self->columns; i++) {
            MysqlColumn *column = &self->column[i];
            self->results[i] = (MYSQL_BIND){.buffer_type = MYSQL_TYPE_STRING,
                                            .buffer = column->text,
                                            .buffer_length = VALUE_SHORT,
                                            .length = &column->length,
                                            .is_null = &column->null};
        }
        if (count > 0 || self->places == 0)
            return self;
        fail(error, FAIL_CONFIG, "%s: a \"?\" of the query stands for a value, and there is none",
             self->connection->shown);
    }
    my_finalize(self);
    return NULL;
}

static bool my_bind(void *statement, int parameter, const Value *value, GError **error)
{
    MysqlStatement *self = statement;
    if (parameter != 1 || value->type != VALUE_TEXT)
        return fail(error, FAIL_NEVER, "parameter %d cannot be sent to MySQL", parameter);
    self->value = *value;
    return true;
}

static bool run(MysqlStatement *self, GError **error)
{
    g_autofree MYSQL_BIND *binds = g_new0(MYSQL_BIND, self->places);
    for (unsigned long i = 0; i < self->places; i++)
        binds[i] = (MYSQL_BIND){.buffer_type = self->value.null ? MYSQL_TYPE_NULL : MYSQL_TYPE_STRING,
                                .buffer = (void *)self->value.data,
                                .buffer_length = self->value.length,
                                .length_value = self->value.length};
    self->running = true;
    return (self->places == 0 || !libmariadb.mysql_stmt_bind_param(self->statement, binds)) &&
                   libmariadb.mysql_stmt_execute(self->statement) == 0 &&
                   (self->columns == 0 || !libmariadb.mysql_stmt_bind_result(self->statement, self->results))
               ? true
               : statement_failed(self, error);
}

/* Fetch the values of the row that are longer than what came with it. A server may tell any length. */
static bool fetch_long(MysqlStatement *self, GError **error)
{
    for (unsigned i = 0; i < self->columns; i++) {
        MysqlColumn *column = &self->column[i];
        if (column->null || column->length <= VALUE_SHORT)
            continue;
        if (column->length > VALUE_MOST)
            return fail(error, FAIL_CONFIG, "%s: column %u of a row has %lu bytes; at most %u are read",
                        self->connection->shown, i + 1, column->length, VALUE_MOST);
        column->whole = g_byte_array_new();
        g_byte_array_set_size(column->whole, (guint)column->length + 1);
        MYSQL_BIND bind = {.buffer_type = MYSQL_TYPE_STRING,
                           .buffer = column->whole->data,
                           .buffer_length = column->length,
                           .length = &bind.length_value};
        if (libmariadb.mysql_stmt_fetch_column(self->statement, &bind, i, 0) != 0)
            return statement_failed(self, error);
        column->whole->data[column->length] = '\0';
    }
    return true;
}

static Step my_step(void *statement, GError **error)
{
    MysqlStatement *self = statement;
    for (unsigned i = 0; i < self->columns; i++)
        g_clear_pointer(&self->column[i].whole, g_byte_array_unref);
    if (!self->running && !run(self, error))
        return STEP_FAILED;
    int result = self->columns > 0 ? libmariadb.mysql_stmt_fetch(self->statement) : MYSQL_NO_DATA;
    if (result == MYSQL_NO_DATA)
        return STEP_DONE;
    if (result == 0 || result == MYSQL_DATA_TRUNCATED)
        return fetch_long(self, error) ? STEP_ROW : STEP_FAILED;
    statement_failed(self, error);
    return STEP_FAILED;
}

static void my_reset(void *statement)
{
    MysqlStatement *self = statement;
    if (self->running)
        libmariadb.mysql_stmt_free_result(self->statement);
    self->running = false;
}

static int my_columns(void *statement)
{
    return (int)((MysqlStatement *)statement)->columns;
}

static bool my_is_null(void *statement, int column)
{
    return ((MysqlStatement *)statement)->column[column].null;
}

static const void *my_octets(void *statement, int column, size_t *length)
{
    MysqlStatement *self = statement;
    MysqlColumn *from = &self->column[column];
    if (length)
        *length = from->length;
    if (from->whole)
        return from->whole->data;
    from->text[from->length] = '\0';
    return from->text;
}

static const char *const words[] = {
    "@position@", "instr", "@since@", "", "@bytes@", "COLLATE utf8mb4_bin", "@number@", "SIGNED", NULL,
};

const StoreDriver store_mysql = {
    .name = "mysql",
    .shown = my_shown,
    .open = my_open,
    .close = my_shut,
    .script = my_script,
    .prepare = my_prepare,
    .finalize = my_finalize,
    .bind = my_bind,
    .step = my_step,
    .reset = my_reset,
    .is_null = my_is_null,
    .octets = my_octets,
    .columns = my_columns,
    .rollback = my_rollback,
    .in_transaction = my_in_transaction,
    .words = words,
};
