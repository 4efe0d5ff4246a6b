/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Open the store, which is the database of the site, and run transactions on it. The other headers of this folder read
 * and write what is in it: domains, lists, users, addresses, members, held posts, and the record of what was done. All
 * of them hold for SQLite and for PostgreSQL (store/driver/driver.h); none speaks of statements.
 *
 * A Store is one connection; it belongs to one thread. Many processes may have one open at a time. Errors of all these
 * headers: FAIL_LATER: the database cannot be used now (busy, full, gone). FAIL_MISSING: there is no such thing.
 * FAIL_EXISTS: it exists already. FAIL_NEVER: the arguments can never be right (a malformed address). A driver retries
 * a busy database for 10 s itself.
 *
 * Ids are 32 lower-case hex digits that sort by creation. Times are microseconds since 1970 (0: never). E-mail
 * addresses keep their case for display and are equal without regard to it. Strings in structs belong to the struct.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store_type.h"

/* Open the database of driver ("sqlite", "postgresql") at `where` (a path, or a connection string). The caller frees
 * the Store with store_free(). With create, a missing one is made and an older one brought up to date
 * (store/schema/migrate.h). Without, FAIL_MISSING: it is missing or empty, and the message says how one is made, since
 * only a person may decide that a new one is wanted. FAIL_CONFIG: it is of an older program, whose site may be at work
 * with it, or of a newer one that does not let older ones use it; it is not a database, or not ours. */
Store *store_open(const char *driver, const char *where, bool create, GError **error);
/* Open one that may be of an older program, too, and with upgrade bring it up to date. Without, its tables are not
 * those that the other headers know: it can be copied as a whole (store_backup()), and nothing else. */
Store *store_open_older(const char *driver, const char *where, bool upgrade, GError **error);
void store_free(Store *store);

/* Check that there is a database at `where`, without opening it: that might leave files beside it which belong to the
 * user of this process. FAIL_MISSING as from store_open(). */
bool store_find(const char *driver, const char *where, GError **error);

/* Look whether the database is still the one that was opened. FAIL_LATER: its file was removed or replaced meanwhile,
 * or its file system is gone. Then this connection reads old data and its writes are lost, so open a new one. */
bool store_present(Store *store, GError **error);

/* Set how long (microseconds; 0: without end) the server of the database may take for an answer; after store_open(),
 * it is what store_set_opening_deadline() has set. A server that takes longer is as good as away: the connection is
 * given up (FAIL_LATER), and for a while all else fails at once. Within a transaction it has a minute at least, since
 * it may wait for a lock. */
void store_set_deadline(Store *store, int64_t us);
/* Set the same for the stores that this process opens from now on, from their first question on; before, there is no
 * end. While tables are brought up to date there is none either. */
void store_set_opening_deadline(int64_t us);
#define STORE_DEADLINE_DOOR (5 * CLOCK_SECOND)    /* of what asks beside many others that must not wait */
#define STORE_DEADLINE_PERSON (10 * CLOCK_SECOND) /* of what people wait for: pages, REST */
#define STORE_DEADLINE_WORK (60 * CLOCK_SECOND)   /* of work that nobody waits for */

/* See whether the server of the database can be reached, and connect anew where the connection was lost. True
 * where the database has no server (SQLite). Call it outside of transactions. */
bool store_reachable(Store *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Store, store_free)

/* Begin and end transactions, which nest by counting: only the outer commit writes, and it is durable. A write outside
 * a transaction is a transaction of its own. An inner rollback, and a fault of the database (full, damaged), doom the
 * outer transaction: everything but the end fails from then on with FAIL_LATER, and the outer commit fails. When the
 * outer commit fails, all was rolled back, and store_rollback() must not follow. A refusal (FAIL_EXISTS, FAIL_MISSING,
 * FAIL_NEVER) changes nothing and dooms nothing. */
bool store_begin(Store *store, GError **error);
bool store_commit(Store *store, GError **error);
/* Was the connection lost under the last commit, so that nobody knows whether it was made? */
bool store_commit_unknown(const Store *store);
void store_rollback(Store *store);
/* Begin a transaction that changes only rows of the lists in list_ids (of char *, List-Ids; an id that no list has is
 * passed over): numbers and Message-IDs of their posts, their held posts, effects, accounts. No transaction may be
 * open. The transaction must not change lists, settings, domains or secrets. Its locks on these lists may be taken only
 * at its first read or write, and then FAIL_LATER for want of a lock comes from there. Where the driver allows it,
 * other connections write for other lists meanwhile; store_begin() waits for all of them. */
bool store_begin_lists(Store *store, const GPtrArray *list_ids, GError **error);
/* Begin a transaction that changes what belongs to people (members, addresses, users, requests that wait, accounts,
 * rows of the outbox, events, what is noted of jobs and hosts), and, where list_id is not NULL, rows of that list, too.
 * Of these transactions there is one at a time, so settings and secrets may be written in it as well, but posts of
 * other lists are settled meanwhile. Its locks are taken as those of store_begin_lists(). */
bool store_begin_people(Store *store, const char *list_id, GError **error);
/* Let the commits of this connection not wait for the disk from now on. They are durable once the caller has synced the
 * file *fd (borrowed) after them, as a caller can who syncs a batch of files anyway. When that sync fails, end the
 * process: other processes may have read commits that a loss of power would undo. A driver that cannot do this sets
 * *fd to -1, and each commit stays durable by itself. */
bool store_leave_sync(Store *store, int *fd, GError **error);
/* Tell the driver that this connection will write very many rows in no order, so that it takes more memory (some
 * 130 MB) for them, and that it may stand still in a transaction for a while: a server ends that after 60 s, and others
 * after 5 s. */
void store_expect_bulk(Store *store);
/* Begin a transaction whose commit waits for the disk also after store_leave_sync(), and is seen by nobody before it is
 * durable. No transaction may be open. */
bool store_begin_durable(Store *store, GError **error);
bool store_begin_people_durable(Store *store, const char *list_id, GError **error);
/* Do the same with store_begin_lists() for no list: it takes no lock but those of the rows that are written. */
bool store_begin_rows_durable(Store *store, GError **error);
/* Set a savepoint inside a transaction, for example before each entry of a batch. store_savepoint_end() with keep false
 * undoes all writes since the savepoint, and with keep true keeps them. Undoing also lifts a doom that came after the
 * savepoint, unless the database gave up the whole transaction. */
bool store_savepoint(Store *store, GError **error);
void store_savepoint_end(Store *store, bool keep);

/* Announce questions, to save round trips to a server: call xxx_soon() outside a transaction for each xxx() that will
 * be called with the same arguments. The first such xxx() then sends all announced questions in one round trip. Its
 * answers are as old as that round trip, so announce only what is asked soon. xxx_soon() cannot fail: where no answer
 * came, xxx() asks by itself and sets its error. store_soon_forget(), and the begin of a transaction, drop all that was
 * announced. */
void store_soon_forget(Store *store);
void store_find_effect_soon(Store *store, const char *entry);
void store_version_soon(Store *store);

/* Work an entry's effects exactly once. An entry is named by its queue and its name's hash, "in:4cd1...". A runner
 * calls store_find_effect() before it works an entry: *before is true when the effects were recorded earlier, and
 * *number is what was recorded with them. It calls store_record_effect() in the transaction that makes the effects,
 * never outside of one; number is what they handed out (of a post, of a held post). Where another process has recorded
 * the entry, that call or the commit fails with FAIL_LATER. store_expire() drops old records. */
bool store_find_effect(Store *store, const char *entry, bool *before, int64_t *number, GError **error);
bool store_record_effect(Store *store, const char *entry, int64_t number, GError **error);
/* Record those of the entries (of char *) that are not recorded yet; *added is how many that were. */
bool store_record_effects(Store *store, const GPtrArray *entries, int64_t *added, GError **error);
/* Add to the number that is recorded with the entry, and set *sum to what it is then; a new record begins with 0. */
bool store_add_effect(Store *store, const char *entry, int64_t number, int64_t *sum, GError **error);

/* Remove effect records and message-ids older than age_us, and counts of posts older than PACE_KEPT. */
bool store_expire(Store *store, int64_t age_us, GError **error);

/* Return a number that changes when any process changes lists, their settings, domains or secrets. Whoever keeps such
 * things in memory reads them again when the number is another one. Members, posts and bounces do not change it. While
 * the database cannot be read, each call returns another number, and store_read_version() fails. */
int64_t store_version(Store *store);
bool store_read_version(Store *store, int64_t *version, GError **error);
