/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Bring a database up to the newest schema that this program knows: the files store/schema/NNN-name.sql, built in. Each
 * is applied once, in order, in a transaction of its own; in an empty database one transaction applies all. Any number
 * of processes may try at once.
 *
 * A database of a newer program has later migrations than this program knows. It is used as it is where its table
 * schema_least says that an older program may. So the hosts of a site can be upgraded one after the other. FAIL_CONFIG:
 * the table does not say so, or the database is not ours at all.
 */
#include <glib.h>
#include <stdbool.h>

#include "store/driver/driver.h"

typedef struct Migration {
    int number;
    const char *name;
    const char *sql;
} Migration;

extern const Migration migrations[]; /* made by the build; ended by number 0 */

/* How to open a database that is older than the program, or empty. */
typedef enum MigrateWish {
    MIGRATE_NOT,    /* older: FAIL_CONFIG, since only a start and "store upgrade" may change it; empty: FAIL_MISSING */
    MIGRATE_CREATE, /* older or empty: bring it to the newest schema */
    MIGRATE_OLDER,  /* older: bring it to the newest schema; empty: FAIL_MISSING */
    MIGRATE_AS_IT_IS, /* older: leave it so; empty: FAIL_MISSING */
} MigrateWish;

/* Make the schema as wished. `where` is the name of the database in messages. */
bool migrate(const StoreDriver *driver, void *connection, const char *where, MigrateWish wish, GError **error);

/* Set *number to that of the last migration that was applied (0: none), *newest to that of the last one known here. */
bool migrate_version(const StoreDriver *driver, void *connection, int64_t *number, int64_t *newest, GError **error);

/* Return whether this program may use a database whose last migration has that number, which may be one that this
 * program does not know. False also when the database does not answer. */
bool migrate_usable(const StoreDriver *driver, void *connection, int64_t number);

/* Bring a database with another schema than the site's, such as an archive's index, to the last migration of its table.
 * An empty database is filled. */
bool migrate_to(const StoreDriver *driver, void *connection, const char *where, const Migration *table, GError **error);

/* Return sql with the words between @ signs (StoreDriver.words) replaced by the driver's text; g_free(). */
char *migrate_words(const StoreDriver *driver, const char *sql);
