/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The database that section [store] of the configuration names.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"
#include "store/store.h"

typedef struct StorePlace {
    const char *driver; /* the configuration's */
    char *where;        /* for store_open(); may hold a password */
    char *shown;        /* for people */
} StorePlace;

/* Read the section, and the password from the file that it names. FAIL_CONFIG, FAIL_LATER as secret_file_line(). Clear
 * *place in either case. */
bool store_place_read(const Config *config, StorePlace *place, GError **error);
void store_place_clear(StorePlace *place);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(StorePlace, store_place_clear)

/* A place that a person named: "configured" for that of the section, else a connection string of PostgreSQL or the path
 * of a file of SQLite. */
bool store_place_named(const Config *config, const char *name, StorePlace *place, GError **error);

/* Is it a connection string of PostgreSQL, and not the path of a file? */
bool store_place_is_server(const char *name);

/* Is it a URL of MariaDB or MySQL, as SQLAlchemy writes them, too ("mysql+pymysql://...")? */
bool store_place_is_mysql(const char *name);

/* The connection string with a password as one more of its parameters; g_free(). */
char *store_place_with_password(const char *url, const char *password);

/* store_open() of that place. */
Store *store_open_configured(const Config *config, bool create, GError **error);

/* The same, to look at it only: a database that is missing, or has the schema of an older version, stays as it is,
 * and the result is NULL without an error. FAIL_LATER, FAIL_CONFIG: it cannot be asked. */
Store *store_open_to_look(const Config *config, GError **error);
