/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Declare what the files of the tables share beside statements (store/query.h): transactions, keys, counters, and
 * functions of one table that another one calls. For this folder only.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/query.h"
#include "store/store.h"

/* Open a database as store_open() does, by this driver. schema (migrate.h) NULL: it has the store's schema; else it has
 * this one, to which an empty database is brought also without create. */
struct Migration;
Store *store_open_by(const StoreDriver *driver, const char *where, bool create, const struct Migration *schema,
                     GError **error);

/* Give the list's key for an announcement without asking the database: the key known last, which may be stale. False:
 * none is known, so announce nothing. */
bool list_key_soon(Store *store, const char *list_id, int64_t *key);
/* Return the known keys of lists as store_list_keys() does, but also when they may be stale; never NULL. */
GHashTable *store_list_keys_old(Store *store);

/* Say what is written. Within store_begin(), nobody else writes, and both mean the same. Within store_begin_lists(),
 * WRITE_LIST (rows of these lists) needs no further lock. The first WRITE_SITE (people, counters, accounts) waits for
 * other transactions that have done the same. A transaction of its own is that of store_begin(), and with WRITE_PEOPLE
 * (the rest means WRITE_SITE) that of store_begin_people(). */
typedef enum WriteScope { WRITE_SITE, WRITE_LIST, WRITE_PEOPLE } WriteScope;

/* A public function that writes does it in a Write, which is a transaction or a part of the caller's:
 *
 *   g_auto(Write) write = write_begin(store, WRITE_SITE, error);
 *   if (!write.begun || !list_key(store, list_id, &list, error))
 *       return false;
 *   return query_run(store, error, ...) && write_end(&write, error);
 *
 * write_end() returns whether the commit succeeded. Where a Write ends without it, all that was written since
 * write_begin() is undone. Inside a caller's transaction that dooms the transaction if anything was written, so make
 * all checks before the first write. Free a query with RETURNING before write_end(), since a database may not commit
 * while one has more rows to give. */
typedef struct Write {
    Store *store;
    bool begun, own;
    int64_t changed_ever;
} Write;
Write write_begin(Store *store, WriteScope scope, GError **error);
bool write_end(Write *write, GError **error);
void write_undo(Write *write);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Write, write_undo)

/* Put a Write around a bool expression. True: the expression is true and the commit succeeded.
 *
 * The expression is evaluated once. Where the database answers that another transaction won (serialization failure,
 * deadlock), the driver repeats only what stands alone: the locks at the begin of a transaction, and a statement
 * outside of a transaction. The expression cannot be repeated, since it has changed things outside of the database:
 * numbers and ids in the caller's structs, an error that is set, rows that a callback was told of. So the write fails
 * with FAIL_LATER, as when the database is away: the transaction is undone, and its entry or request comes again. A
 * transaction holds its locks before it reads, so only a writer that is not ours can cause this. */
#define STORE_WRITE(store, error, expression) STORE_WRITE_IN(WRITE_SITE, store, error, expression)
/* Do STORE_WRITE with WRITE_LIST: for rows that belong to one list, and that no other list's post may change. */
#define STORE_WRITE_LIST(store, error, expression) STORE_WRITE_IN(WRITE_LIST, store, error, expression)
/* Do STORE_WRITE with WRITE_PEOPLE: for rows that store_begin_people() allows, also where posts of lists go on. */
#define STORE_WRITE_PEOPLE(store, error, expression) STORE_WRITE_IN(WRITE_PEOPLE, store, error, expression)
#define STORE_WRITE_IN(scope, store, error, expression)            \
    ({                                                             \
        g_auto(Write) write_ = write_begin(store, scope, error);   \
        write_.begun && (expression) && write_end(&write_, error); \
    })
/* Do STORE_WRITE, and call store_changed() in its transaction. */
#define STORE_CHANGE(store, error, expression) STORE_WRITE(store, error, (store_changed(store), (expression)))

/* Remove rows older than before (in the table's own unit), 10,000 or a few more in a transaction, so that others are
 * not kept waiting. find gives the time of the row at place $2 among those older than $1; remove removes all up to $1.
 * Both need an index on the time: a search for each row by a key of several columns would pass all others of its
 * list. */
bool store_expire_rows(Store *store, const char *find, const char *remove, int64_t before, GError **error);
/* Remove the rows of a table with a time before `before` in this column, which has an index, as store_expire_rows()
 * does. */
#define STORE_EXPIRE(store, table, column, before, error)                                                             \
    store_expire_rows(store,                                                                                          \
                      "SELECT " column " FROM " table " WHERE " column " < $1 ORDER BY " column " LIMIT 1 OFFSET $2", \
                      "DELETE FROM " table " WHERE " column " <= $1", before, error)

/* Make the commit change store_version(). Call it inside a transaction that changes lists, settings, domains, secrets,
 * or anything else that processes keep in memory. */
void store_changed(Store *store);

/* Return a new key, which was never handed out before; 0 with error. Call it inside a transaction. A key is the time in
 * microseconds followed by 11 random bits, or the last key plus one where the clock was set back. An id, for the
 * outside, is a key followed by its hash, so it needs no column. */
int64_t store_key_new(Store *store, GError **error);
void store_key_id(int64_t key, char id[STORE_ID_SIZE]);
bool store_id_key(const char *id, int64_t *key); /* false: id is no id, or mistyped */

/* Hand out the next number of a counter ("held"). Numbers are never used twice, since people keep them in mails. */
bool store_next_number(Store *store, const char *counter, int64_t *number, GError **error);

bool store_is_transaction_open(const Store *store);
void *store_connection(Store *store);
const StoreDriver *store_driver(const Store *store);

/* Run statements without parameters, in the words of migrate_words(). */
bool store_script(Store *store, const char *sql, GError **error);

/* Return known keys (int64_t) of lists by List-Id; borrowed. NULL: store_version() was not asked within the last
 * moment, so that they may be stale. */
GHashTable *store_list_keys(Store *store);

/* list.c: set *key to the key of a list's row. FAIL_MISSING: there is no such list. */
bool list_key(Store *store, const char *list_id, int64_t *key, GError **error);
/* The same; list_id NULL stands for the site, whose key is 0. */
bool list_scope(Store *store, const char *list_id, int64_t *scope, GError **error);

/* digest.c: owe one last digest to a person who leaves a digest mode while posts wait for the next one. Call begin
 * before, and end after, each change that may alter a delivery mode, in its transaction. Begin notes that a last digest
 * may be owed, for each list (or for one alone, if list is not 0) where posts wait and the person gets digests; end
 * drops these notes for lists where the person still gets them. person 0: nobody. */
bool digest_leaving_begin(Store *store, int64_t person, int64_t list, GError **error);
bool digest_leaving_end(Store *store, int64_t person, GError **error);
/* fragment.c: sum up the open sets anew (fragment_count()), after rows of sets were removed by other functions than
 * those of fragment.h. Call it inside a transaction. */
bool fragment_recount(Store *store, GError **error);
/* copy.c: copy the rows of a table for which the condition is true ("WHERE list = $1", the parameter being key), in a
 * transaction of `to`; condition NULL: all of them. */
typedef struct StoreCopied {
    Store *from, *to;
    int64_t key;
} StoreCopied;
bool store_copy_rows(const StoreCopied *copied, const char *table, const char *condition, int64_t *rows,
                     GError **error);
/* pending.c: return the SHA-256 of a token, in hex, as it is kept; g_free(). */
char *pending_token_hash(const char *token);
/* list_setting.c: give all settings of the struct their defaults. */
struct List;
void list_settings_default(struct List *list);
/* list_setting.c: give a setting of the struct the value of a row; a name that no setting has changes nothing. */
void list_setting_apply(struct List *list, const char *name, const char *value);
/* list_setting.c: free the texts of all settings of the struct. */
void list_settings_clear(struct List *list);
/* pace.c: remove counts that were not touched for PACE_KEPT. */
bool pace_expire(Store *store, GError **error);
