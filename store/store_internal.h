/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The thin layer under list.c, member.c and the others: statements and the
 * driver behind them. For this folder only.
 *
 * Statements are string literals with parameters $1, $2, ..., kept prepared
 * under the literal's address; one text serves every driver. Never let a
 * statement fail for a reason that can be asked beforehand (some databases
 * end a transaction at the first error): use ON CONFLICT DO NOTHING and
 * query_run()'s count.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/list.h"
#include "store/store.h"

typedef enum ValueType { VALUE_INTEGER, VALUE_TEXT, VALUE_BLOB } ValueType;

/* A parameter. It has its type also where it is NULL, since some databases want to know the types before the values.
 * Memory is borrowed until the query ends. */
typedef struct Value {
    ValueType type;
    bool null;
    int64_t integer;
    const void *data;
    size_t length;
} Value;

/* For parameters: NULL text is NULL; INTEGER_OR_NULL takes -1 as NULL. */
#define INTEGER(x) ((Value){.type = VALUE_INTEGER, .integer = (int64_t)(x)})
#define INTEGER_OR_NULL(x) ((Value){.type = VALUE_INTEGER, .null = (x) < 0, .integer = (int64_t)(x)})
#define TEXT(x) store_text(x)
#define BLOB(x, n) ((Value){.type = VALUE_BLOB, .data = (x), .length = (n)})
Value store_text(const char *text);

typedef enum Step { STEP_FAILED = -1, STEP_DONE, STEP_ROW } Step;

/* One file a database. Statements belong to the connection that made them. */
typedef struct StoreDriver {
    const char *name;
    void *(*open)(const char *where, bool create, GError **error);
    void (*close)(void *connection);
    bool (*find)(const char *where, GError **error);         /* store_find() */
    bool (*present)(void *connection, GError **error);       /* store_present() */
    /* Appends a sentence (owned) for each fault that reading all of the database finds. */
    bool (*verify)(void *connection, GPtrArray *faults, GError **error);
    bool (*backup)(void *connection, const char *to, GError **error); /* store_backup() */
    bool (*compact)(void *connection, GError **error);                /* store_compact() */
    bool (*give_back)(void *connection, bool *more, GError **error);  /* one portion of store_give_back() */
    bool (*script)(void *connection, const char *sql, GError **error); /* statements without parameters or results */
    /* The values tell the types of the parameters, the same at each use of this sql. A statement that is no stream may
     * read its whole result into memory at the first step; a stream may not, and others are used beside it. */
    void *(*prepare)(void *connection, const char *sql, const Value *values, size_t count, bool stream, GError **error);
    void (*finalize)(void *statement);
    bool (*bind)(void *statement, int parameter, const Value *value, GError **error); /* from 1 */
    Step (*step)(void *statement, GError **error);
    void (*reset)(void *statement);
    bool (*is_null)(void *statement, int column); /* from 0 */
    int64_t (*integer)(void *statement, int column);
    const void *(*octets)(void *statement, int column, size_t *length); /* text is ended by a zero byte */
    int64_t (*changed)(void *connection);                               /* rows changed by the last statement */
    int64_t (*changed_ever)(void *connection);                          /* only ever compared */
    bool (*leave_sync)(void *connection, int *fd, GError **error);      /* store_leave_sync(); NULL: cannot */
    /* With true, commits wait for the disk in spite of leave_sync() from the next transaction on. */
    bool (*wait)(void *connection, bool wait, GError **error); /* NULL where leave_sync is */
    bool (*begin)(void *connection, GError **error); /* a transaction that will not fail later for want of a lock */
    bool (*commit)(void *connection, GError **error);
    void (*rollback)(void *connection);
    bool (*in_transaction)(void *connection); /* false after the database gave one up */
    /* A key that was never handed out, by whatever connection: clock_unique() << 11 with random bits below where that
     * is greater than all before. Inside a transaction, whose rollback may give it back. */
    bool (*key)(void *connection, int64_t *key, GError **error);
    /* Tells a database that is empty or ours from a stranger's (FAIL_CONFIG).
     * has_schema: a migration table is there. */
    bool (*inspect)(void *connection, bool *has_schema, GError **error);
    const char *const *words; /* for schema/: pairs "@word@", text; NULL ends */
} StoreDriver;

extern const StoreDriver store_sqlite;

/* NULL with FAIL_CONFIG for a name that is not known. */
const StoreDriver *store_driver_find(const char *name, GError **error);

/* FAIL_MISSING, with what a person can do about it. Returns false. */
bool store_fail_missing(const char *where, const char *what, GError **error);

typedef struct Query Query;

/* Bind and start nothing yet; the first query_step() does. For results that fit in memory: a driver may read them
 * whole at the first step. */
Query *query_start(Store *store, GError **error, const char *sql, const Value *values, size_t count);
#define query_open(store, error, sql, ...) \
    query_start(store, error, sql, (const Value[]){__VA_ARGS__}, sizeof((const Value[]){__VA_ARGS__}) / sizeof(Value))

/* The same for results of any size, whose rows are fetched as they are asked for. Other queries may run meanwhile, but
 * no transaction begins or ends: store_begin() and store_commit() fail while a stream is open. */
Query *query_stream_start(Store *store, GError **error, const char *sql, const Value *values, size_t count);
#define query_stream(store, error, sql, ...) \
    query_stream_start(store, error, sql, (const Value[]){__VA_ARGS__}, \
                       sizeof((const Value[]){__VA_ARGS__}) / sizeof(Value))
void query_free(Query *query);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Query, query_free)

Step query_step(Query *query, GError **error);
bool query_is_null(Query *query, int column);
int64_t query_integer(Query *query, int column);
int query_choice(Query *query, int column);       /* -1 for NULL */
const char *query_text(Query *query, int column); /* borrowed until the next step; NULL for NULL */
GBytes *query_blob(Query *query, int column);
/* Run to the end, and return the first column of all rows; g_strfreev(). query NULL: it could not be started. */
char **query_texts(Query *query, GError **error);

/* Run to the end; *changed (may be NULL) is the number of rows changed. */
bool query_all(Store *store, GError **error, int64_t *changed, const char *sql, const Value *values, size_t count);
#define query_run(store, error, changed, sql, ...) \
    query_all(store, error, changed, sql, (const Value[]){__VA_ARGS__}, \
              sizeof((const Value[]){__VA_ARGS__}) / sizeof(Value))

/* Around what a public function writes: a transaction, or part of the
 * caller's. write_end() returns ok, or false when the commit failed. When not
 * ok, what was written since write_begin() is undone; inside a caller's
 * transaction that dooms it if anything was written, so check before you
 * write. */
typedef struct Write {
    bool own;
    int64_t changed_ever;
} Write;
bool write_begin(Store *store, Write *write, GError **error);
bool write_end(Store *store, const Write *write, bool ok, GError **error);

/* Remove rows older than before (in the table's own unit), 10,000 or a few more in a transaction, so that others are
 * not kept waiting. find gives the time of the row at place $2 among those older than $1, remove removes all up to $1:
 * both by an index on the time, since a search for each row by a key of several columns would pass all others of its
 * list. */
bool store_expire_rows(Store *store, const char *find, const char *remove, int64_t before, GError **error);

/* For what changes lists, settings, domains or secrets, or anything else that processes keep in memory: the commit
 * changes store_version(). Inside a transaction. */
void store_changed(Store *store);

/* Keys are the time in microseconds and 11 random bits, or the one after the last where the clock was set back: never
 * one that was handed out before. Inside a transaction; 0 with error. An id is a key and a mix of it, so it needs no
 * column and a mistyped one is found out. */
int64_t store_key_new(Store *store, GError **error);
void store_key_id(int64_t key, char id[STORE_ID_SIZE]);
bool store_id_key(const char *id, int64_t *key);

/* The next number of a counter ("held"); numbers are never used twice, since people keep them in mails. */
bool store_next_number(Store *store, const char *counter, int64_t *number, GError **error);

bool store_is_transaction_open(const Store *store);
void *store_connection(Store *store);
const StoreDriver *store_driver(const Store *store);

/* list.c: the internal key of a list; FAIL_MISSING. */
bool list_key(Store *store, const char *list_id, int64_t *key, GError **error);

/* The list of a short name (list_local()) at host (in lower case); *list_id is NULL when there is none. */
bool list_short_find(Store *store, const char *name, const char *host, char **list_id, GError **error);
/* fragment.c: counts anew what waits, after open sets went by other ways than fragment.h's. Inside a transaction. */
bool fragment_recount(Store *store, GError **error);
/* pending.c: SHA-256 of a token, in hex, as it is kept; g_free(). */
char *pending_token_hash(const char *token);
/* list_setting.c */
void list_settings_default(List *list);
bool list_setting_apply(List *list, const char *name, const char *value, GError **error);
void list_settings_clear(List *list);
char *list_setting_fallback(const ListSetting *setting, const char *list_name);
