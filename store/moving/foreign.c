/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/moving/foreign.h"

#include <string.h>

#include "base/fail.h"
#include "store/driver/driver.h"
#include "store/place.h"
#include "store/schema/migrate.h"

struct Foreign {
    const StoreDriver *driver;
    void *connection;
    char *shown;
};

struct ForeignRows {
    Foreign *foreign;
    char *sql, *argument;
    void *statement;
};

/* Make the error one that stays (FAIL_CONFIG) when SQLite tells of a wrong table, a wrong file or a damaged one. */
static bool stays(Foreign *foreign, GError **error)
{
    bool damaged = foreign->driver->damaged && foreign->driver->damaged(foreign->connection);
    if (error && *error && (damaged || strstr((*error)->message, "no such") || strstr((*error)->message, "not exist")))
        (*error)->code = FAIL_CONFIG;
    return false;
}

/* A URL that is not known is no path of a file: the message of that would repeat the password. */
static bool find_driver(Foreign *foreign, const char *where, GError **error)
{
    const char *scheme_end = strstr(where, "://");
    foreign->driver = store_place_is_server(where)  ? &store_pgsql
                      : store_place_is_mysql(where) ? &store_mysql
                                                    : &store_foreign;
    if (foreign->driver != &store_foreign || !scheme_end || memchr(where, '/', (size_t)(scheme_end - where)))
        return true;
    return fail(error, FAIL_CONFIG,
                "databases of \"%.*s://\" cannot be read; right is the path of a file of SQLite, or a URL that begins "
                "with postgresql:// or mysql://: copy the database of another one there first",
                (int)(scheme_end - where), where);
}

Foreign *foreign_open(const char *where, GError **error)
{
    g_autoptr(Foreign) foreign = g_new0(Foreign, 1);
    if (!find_driver(foreign, where, error))
        return NULL;
    foreign->shown = foreign->driver->shown(where, error);
    foreign->connection = foreign->shown ? foreign->driver->open(where, false, error) : NULL;
    const char *begin = foreign->driver == &store_pgsql   ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
                        : foreign->driver == &store_mysql ? "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"
                                                          : "BEGIN";
    if (!foreign->connection || !foreign->driver->script(foreign->connection, begin, error))
        return NULL;
    return g_steal_pointer(&foreign);
}

void foreign_free(Foreign *foreign)
{
    if (!foreign)
        return;
    if (foreign->connection) {
        if (foreign->driver->in_transaction(foreign->connection))
            foreign->driver->rollback(foreign->connection);
        foreign->driver->close(foreign->connection);
    }
    g_free(foreign->shown);
    g_free(foreign);
}

const char *foreign_shown(const Foreign *foreign)
{
    return foreign->shown;
}

bool foreign_verify(Foreign *foreign, GError **error)
{
    if (foreign->driver != &store_foreign)
        return true;
    g_autoptr(GPtrArray) faults = g_ptr_array_new_with_free_func(g_free);
    if (!foreign->driver->verify(foreign->connection, faults, error))
        return stays(foreign, error);
    return faults->len == 0 || fail(error, FAIL_CONFIG,
                                    "%s is damaged: %s (mend it with the .recover command of "
                                    "sqlite3, and import what that gives)",
                                    foreign->shown, (char *)faults->pdata[0]);
}

bool foreign_has(Foreign *foreign, const char *table, const char *column, bool *has, GError **error)
{
    g_autofree char *name = g_strdup_printf("%s.%s", table, column ? column : "");
    const char *of_sqlite = "SELECT 1 FROM sqlite_schema s JOIN pragma_table_info(s.name) c "
                            "WHERE s.type = 'table' AND (s.name || '.' = $1 OR s.name || '.' || c.name = $1) LIMIT 1";
    const char *of_server = "SELECT 1 FROM information_schema.columns WHERE table_schema %s "
                            "AND (table_name || '.' = $1 OR table_name || '.' || column_name = $1) LIMIT 1";
    bool mysql = foreign->driver == &store_mysql;
    g_autofree char *server = g_strdup_printf(of_server, mysql ? "= DATABASE()" : "= ANY (current_schemas(false))");
    g_autoptr(ForeignRows)
        rows = foreign_query(foreign, foreign->driver == &store_foreign ? of_sqlite : server, name, error);
    return rows && foreign_next(rows, has, error);
}

/* `column` is CAST(column AS type). */
static char *with_casts(const char *sql, const char *type)
{
    bool inside = false;
    g_autoptr(GString) text = g_string_new(NULL);
    for (; *sql; sql++) {
        if (*sql != '`')
            g_string_append_c(text, *sql);
        else if ((inside = !inside))
            g_string_append(text, "CAST(");
        else
            g_string_append_printf(text, " AS %s)", type);
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}

/* Takes sql. */
static ForeignRows *start(Foreign *foreign, char *sql, const char *argument, GError **error)
{
    g_autoptr(ForeignRows) rows = g_new0(ForeignRows, 1);
    *rows = (ForeignRows){.foreign = foreign, .sql = sql, .argument = g_strdup(argument)};
    Value value = store_text(rows->argument);
    size_t count = argument ? 1 : 0;
    rows->statement = foreign->driver->prepare(foreign->connection, rows->sql, &value, count, true, error);
    if (!rows->statement || (argument && !foreign->driver->bind(rows->statement, 1, &value, error))) {
        stays(foreign, error);
        return NULL;
    }
    return g_steal_pointer(&rows);
}

ForeignRows *foreign_query(Foreign *foreign, const char *sql, const char *argument, GError **error)
{
    g_autofree char *cast = with_casts(sql, foreign->driver == &store_mysql ? "CHAR" : "TEXT");
    return start(foreign, migrate_words(foreign->driver, cast), argument, error);
}

ForeignRows *foreign_query_as_is(Foreign *foreign, const char *sql, GError **error)
{
    return start(foreign, g_strdup(sql), NULL, error);
}

void foreign_rows_free(ForeignRows *rows)
{
    if (!rows)
        return;
    if (rows->statement) {
        rows->foreign->driver->reset(rows->statement);
        rows->foreign->driver->finalize(rows->statement);
    }
    g_free(rows->sql);
    g_free(rows->argument);
    g_free(rows);
}

bool foreign_next(ForeignRows *rows, bool *more, GError **error)
{
    Step step = rows->foreign->driver->step(rows->statement, error);
    *more = step == STEP_ROW;
    return step != STEP_FAILED || stays(rows->foreign, error);
}

int foreign_columns(ForeignRows *rows)
{
    return rows->foreign->driver->columns(rows->statement);
}

const char *foreign_text(ForeignRows *rows, int column)
{
    return foreign_bytes(rows, column, NULL);
}

const void *foreign_bytes(ForeignRows *rows, int column, size_t *length)
{
    if (!rows->foreign->driver->is_null(rows->statement, column))
        return rows->foreign->driver->octets(rows->statement, column, length);
    if (length)
        *length = 0;
    return NULL;
}
