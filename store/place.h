/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find out which database to open, from section [store] of the configuration or from text that a person wrote, and open
 * the configured one.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"
#include "store/store.h"

typedef struct StorePlace {
    const char *driver; /* for store_open(); borrowed, of the configuration or static */
    char *where;        /* for store_open(); may hold a password */
    char *shown;        /* the same for messages to people, without the password */
} StorePlace;

/* Fill *place from the section, with the password from the file that password_file names. The caller clears *place also
 * after false. FAIL_CONFIG: no such driver or place; other errors are those of secret_file_line() for that file. */
bool store_place_read(const Config *config, StorePlace *place, GError **error);
void store_place_clear(StorePlace *place);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(StorePlace, store_place_clear)

/* Fill *place from the name that a person wrote: "configured" for the place of the section, else a connection string of
 * PostgreSQL or the path of a file of SQLite. The caller clears *place also after false. */
bool store_place_named(const Config *config, const char *name, StorePlace *place, GError **error);

/* Is it a connection string of PostgreSQL, and not the path of a file? */
bool store_place_is_server(const char *name);

/* Is it a URL of MariaDB or MySQL, as SQLAlchemy writes them, too ("mysql+pymysql://...")? */
bool store_place_is_mysql(const char *name);

/* Return the connection string (a URI, or name=value pairs) with the password added as a parameter; g_free(). */
char *store_place_with_password(const char *url, const char *password);

/* Open the database that section [store] names: store_place_read(), then store_open(). In a process that a master of
 * this version has started, an older one is brought up to date. A server whose database lacks what this host wrote is
 * refused (store/hosts/generation.h). */
Store *store_open_configured(const Config *config, bool create, GError **error);

/* Do the same for work of a runner, without making a database: a server of it that gives no answer for
 * STORE_DEADLINE_WORK is given up. */
Store *store_open_for_work(const Config *config, GError **error);

/* Return the sentence to say before a database of an older program is brought up to date: from which schema to which.
 * NULL: it need not be, or cannot be read, which who opens it reports better. g_free() */
char *store_upgrade_sentence(const StorePlace *place);

/* Open the same database only to look at it. A database that is missing, or has the schema of an older version, is
 * neither made nor changed: the result is NULL without an error. NULL with FAIL_LATER or FAIL_CONFIG: the database
 * cannot be read. */
Store *store_open_to_look(const Config *config, GError **error);
