/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Begin and end transactions of PostgreSQL, with their locks and keys. For store_pgsql.c alone.
 */
#include "store/driver/pgsql_connection.h"

/* Functions of StoreDriver; driver.h says what each does. */
bool pgsql_is_sound(void *connection);
bool pgsql_in_transaction(void *connection);
bool pgsql_begin(void *connection, GError **error);
bool pgsql_begin_lists(void *connection, const int64_t *lists, size_t count, bool people, GError **error);
bool pgsql_lock_site(void *connection, GError **error);
bool pgsql_commit(void *connection, GError **error);
bool pgsql_commit_unknown(void *connection);
void pgsql_rollback(void *connection);
void pgsql_expect_bulk(void *connection);
bool pgsql_key(void *connection, int64_t *key, GError **error);
bool pgsql_keys_above(void *connection, int64_t key, GError **error);

/* Before a statement with parameters is sent without waiting: begin the transaction if it is not yet, and let no more
 * than a few hundred be on their way. */
bool pgsql_room(PgsqlConnection *self, GError **error);
/* Send a text without waiting, or let it travel with the begin of the transaction. */
bool pgsql_later_text(PgsqlConnection *self, const char *sql, GError **error);
