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

#include "store/driver.h"
#include "store/list.h"
#include "store/store.h"

/* store_open() with a driver that is not one of the store's, and its own schema (migrate.h), to which an empty database
 * is brought also without create. */
struct Migration;
Store *store_open_by(const StoreDriver *driver, const char *where, bool create, const struct Migration *schema,
                     GError **error);

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
/* The bytes of text or of a blob, borrowed until the next step; NULL for NULL. */
const void *query_bytes(Query *query, int column, size_t *length);
/* After the first step: see StoreDriver. */
int query_columns(Query *query);
const char *query_column(Query *query, int column, ValueType *type);
/* Run to the end, and return the first column of all rows; g_strfreev(). query NULL: it could not be started. */
char **query_texts(Query *query, GError **error);

/* Outside a transaction, say that a query with this text and these values follows, which only reads. The first of those
 * that were said asks all of them in one round trip where there is such a thing; else nothing is done. What was said is
 * forgotten when it was used, when a transaction begins, and by store_soon_forget(). */
void query_soon_all(Store *store, bool stream, const char *sql, const Value *values, size_t count);
#define query_soon(store, sql, ...)                                 \
    query_soon_all(store, false, sql, (const Value[]){__VA_ARGS__}, \
                   sizeof((const Value[]){__VA_ARGS__}) / sizeof(Value))
#define query_stream_soon(store, sql, ...) \
    query_soon_all(store, true, sql, (const Value[]){__VA_ARGS__}, sizeof((const Value[]){__VA_ARGS__}) / sizeof(Value))
/* For what is asked so: the key that the list had when it was last asked for, which may be stale. */
bool list_key_soon(Store *store, const char *list_id, int64_t *key);
/* store_list_keys() without a look at their age. */
GHashTable *store_list_keys_old(Store *store);

/* Run to the end; *changed (may be NULL) is the number of rows changed. */
bool query_all(Store *store, GError **error, int64_t *changed, const char *sql, const Value *values, size_t count);
#define query_run(store, error, changed, sql, ...) \
    query_all(store, error, changed, sql, (const Value[]){__VA_ARGS__}, \
              sizeof((const Value[]){__VA_ARGS__}) / sizeof(Value))

/* The same inside a transaction for who needs neither rows nor their number: a driver may send it without waiting, and
 * then a failure is told by a later statement or by the commit. */
bool query_later_all(Store *store, GError **error, const char *sql, const Value *values, size_t count);
#define query_later(store, error, sql, ...) \
    query_later_all(store, error, sql, (const Value[]){__VA_ARGS__}, \
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
/* The scope is what it changes. Who began a transaction of the site (store_begin()) writes alone, so both are the same
 * there. In one of some lists (store_begin_lists()), what belongs to one of them may be written at once, and for what
 * belongs to the site (people, counters, accounts), the first call waits for others who do so. */
typedef enum WriteScope { WRITE_SITE, WRITE_LIST } WriteScope;
bool write_begin(Store *store, Write *write, WriteScope scope, GError **error);
bool write_end(Store *store, const Write *write, bool ok, GError **error);

/* Both around an expression, which is evaluated between them: true when it is and the commit succeeds.
 *
 * It is evaluated once. Where the database answers that another transaction won (serialization failure, deadlock), the
 * driver does again what stands alone: the locks of a begin, which come before everything else, and a statement outside
 * of a transaction. It cannot do the expression again, since that has changed what is outside of the database (numbers
 * and ids in the caller's structs, an error that is set, rows that a callback was told of), and within the caller's
 * transaction it is only a part. As a transaction holds its locks before it reads, this takes a writer that is not
 * ours.
 * It is FAIL_LATER, like a database that is away: the transaction is undone, and its entry or request comes again. */
#define STORE_WRITE(store, error, expression) STORE_WRITE_IN(WRITE_SITE, store, error, expression)
/* The same for what belongs to a list, and changes nothing that another list's post may change too. */
#define STORE_WRITE_LIST(store, error, expression) STORE_WRITE_IN(WRITE_LIST, store, error, expression)
#define STORE_WRITE_IN(scope, store, error, expression)                                              \
    ({                                                                                               \
        Write write_;                                                                                \
        write_begin(store, &write_, scope, error) && write_end(store, &write_, (expression), error); \
    })
/* The same for an expression that store_changed() is to be told of. */
#define STORE_CHANGE(store, error, expression) STORE_WRITE(store, error, (store_changed(store), (expression)))

/* Remove rows older than before (in the table's own unit), 10,000 or a few more in a transaction, so that others are
 * not kept waiting. find gives the time of the row at place $2 among those older than $1, remove removes all up to $1:
 * both by an index on the time, since a search for each row by a key of several columns would pass all others of its
 * list. */
bool store_expire_rows(Store *store, const char *find, const char *remove, int64_t before, GError **error);
/* The same for a table and the column of its time, which has an index. */
#define STORE_EXPIRE(store, table, column, before, error)                                                             \
    store_expire_rows(store,                                                                                          \
                      "SELECT " column " FROM " table " WHERE " column " < $1 ORDER BY " column " LIMIT 1 OFFSET $2", \
                      "DELETE FROM " table " WHERE " column " <= $1", before, error)

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

/* Keys (int64_t) of lists by their ids, which are trusted for a moment after store_version() was asked; else NULL. */
GHashTable *store_list_keys(Store *store);

/* list.c: the internal key of a list; FAIL_MISSING. */
bool list_key(Store *store, const char *list_id, int64_t *key, GError **error);

/* The list of a short name (list_local()) at host (in lower case); *list_id is NULL when there is none. */
bool list_short_find(Store *store, const char *name, const char *host, char **list_id, GError **error);
/* fragment.c: counts anew what waits, after open sets went by other ways than fragment.h's. Inside a transaction. */
bool fragment_recount(Store *store, GError **error);
/* copy.c: copy the rows of a table for which the condition is true ("WHERE list = $1", the parameter being key), in a
 * transaction of `to`; condition NULL: all of them. */
typedef struct StoreCopied {
    Store *from, *to;
    int64_t key;
} StoreCopied;
bool store_copy_rows(const StoreCopied *copied, const char *table, const char *condition, int64_t *rows,
                     GError **error);
/* pending.c: SHA-256 of a token, in hex, as it is kept; g_free(). */
char *pending_token_hash(const char *token);
/* list_setting.c */
void list_settings_default(List *list);
bool list_setting_apply(List *list, const char *name, const char *value, GError **error);
void list_settings_clear(List *list);
