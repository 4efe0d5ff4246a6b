/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The store: domains, lists, users, addresses, members, held posts, and the
 * record of what was done. This is the contract that every driver meets
 * (store_sqlite.c now, PostgreSQL beside it); it speaks of lists and
 * members, never of statements.
 *
 * A Store is one connection; it belongs to one thread. Many processes may
 * have one open at a time. Errors: FAIL_LATER the database cannot be used
 * now (busy, full, gone), FAIL_MISSING no such thing, FAIL_EXISTS it exists
 * already, FAIL_NEVER the arguments can never be right (a malformed
 * address); a driver retries a busy database for 10 s itself.
 *
 * Ids are 32 lower-case hex digits that sort by creation. Times are
 * microseconds since 1970 (0: never). E-mail addresses keep their case for
 * display and are equal without regard to it. Strings in structs belong to the struct.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store_type.h"

/* Open the database of driver ("sqlite") at where (a path) and bring its
 * schema up to date (numbered migrations, each in a transaction). With create
 * false a database that is missing or empty is FAIL_MISSING, and the message
 * says how one is made: only a person may decide that a new one is wanted.
 * FAIL_CONFIG: it is of a newer program that is no neighbour (README.md), not a database, or not ours. */
Store *store_open(const char *driver, const char *where, bool create, GError **error);
void store_free(Store *store);

/* Look whether there is a database at where without opening it, which might
 * leave files of the caller's beside it. FAIL_MISSING as from store_open(). */
bool store_find(const char *driver, const char *where, GError **error);

/* Look whether the database is still the one that was opened. FAIL_LATER: its file was removed or replaced meanwhile,
 * or its file system is gone. Then this connection reads old data and its writes are lost, so open a new one. */
bool store_present(Store *store, GError **error);

/* See whether the server of the database can be reached, and connect anew where the connection was lost: FAIL_LATER it
 * cannot. The log, and `listrunner status` of a process of the master, say since when. A database that has no server
 * always can. Outside of transactions. */
bool store_reachable(Store *store, GError **error);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Store, store_free)

/* Transactions nest by counting. A write outside a transaction is one of its
 * own. Commit is durable. An inner rollback, and a fault of the database (full,
 * damaged), doom the outer transaction: everything but the end fails from then
 * on with FAIL_LATER, and the outer commit rolls back and fails. A refusal
 * (FAIL_EXISTS, FAIL_MISSING, FAIL_NEVER) changes nothing and dooms nothing. */
bool store_begin(Store *store, GError **error);
bool store_commit(Store *store, GError **error);
void store_rollback(Store *store);
/* Begin a transaction, which must be an outer one, that changes nothing but what belongs to some lists (of char *,
 * their ids; one may be missing): numbers and Message-IDs of their posts, what is held of them, effects, accounts.
 * It keeps out others from its first read or write on, and not before: a lock that cannot be had may be told there.
 * Others may write for other lists meanwhile where the driver allows it; store_begin() waits for all of them. It may
 * not change lists, settings, domains or secrets. */
bool store_begin_lists(Store *store, const GPtrArray *list_ids, GError **error);
/* For who syncs a batch of files anyway: from now on the commits of this
 * connection do not wait for the disk, and are durable once the file *fd
 * (borrowed) was synced after them. When that sync fails, end the process: what others see of the commits may not be on
 * the disk, and is lost if the power fails before the next checkpoint. A driver that cannot do so sets -1 and
 * goes on making each commit durable. */
bool store_leave_sync(Store *store, int *fd, GError **error);
/* From now on this connection writes very many rows, in no order: use more memory, some 130 MB, for that. */
void store_expect_bulk(Store *store);
/* Begin a transaction, which must be an outer one, whose commit is durable also after store_leave_sync(), and seen by
 * nobody before it is. */
bool store_begin_durable(Store *store, GError **error);
/* Savepoints inside a transaction: undo one entry's effects, keep the others'.
 * Undoing lifts a doom that came after it, unless the database gave up the
 * whole transaction. */
bool store_savepoint(Store *store, GError **error);
void store_savepoint_end(Store *store, bool keep);

/* Questions that will be asked: xxx_soon() before xxx() with the same arguments, outside a transaction. The store may
 * then ask all of them in one round trip when the first of them is asked, so say first what is asked together, and
 * nothing that may be old when it is used. Where the answer does not come so, xxx() asks itself, and tells what is
 * wrong. What is said is forgotten when a transaction begins, and by store_soon_forget(). */
void store_soon_forget(Store *store);
void store_find_effect_soon(Store *store, const char *entry);
void store_version_soon(Store *store);

/* Exactly once: an entry (its name's hash in a queue, "in:4cd1...") asks first
 * whether its effects were recorded earlier, and records them in the same transaction as it
 * makes them. number is what they handed out (of a post, of a held post), for
 * the one that comes again. Where the entry was recorded already, recording it fails with FAIL_LATER, or the commit
 * does. Old records are dropped by store_expire(). */
bool store_find_effect(Store *store, const char *entry, bool *before, int64_t *number, GError **error);
bool store_record_effect(Store *store, const char *entry, int64_t number, GError **error);

/* Remove effect records and message-ids older than age_us, and counts of posts older than PACE_KEPT. */
bool store_expire(Store *store, int64_t age_us, GError **error);

/* Changes when somebody changed lists, their settings, domains or secrets: what was kept of them in memory is stale
 * then. Members, posts and what comes back of them do not count. */
int64_t store_version(Store *store);
