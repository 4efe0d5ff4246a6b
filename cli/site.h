/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Open the configuration, store and spool of the site that a command works on. Each is opened when first asked for, and
 * closed by site_free(). The pointers that the functions return are borrowed from the Site; NULL means that *error is
 * set.
 *
 * If the process is root, opening the store or the spool first makes it [site] user for good, when there is such a
 * user. So no file is made that the runners cannot use. Open files named on the command line before.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"
#include "store/lists/list.h"
#include "store/store.h"
#include "switchboard/spool.h"

typedef struct Site Site;

/* path: the configuration file, NULL for the default one. */
Site *site_new(const char *path);
void site_free(Site *site);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Site, site_free)

/* Return the path of the configuration file. */
const char *site_config_path(const Site *site);

/* Read the configuration, without the checks that look at the system (whether users, directories and programs exist):
 * the verb that needs such a thing reports it better. */
const Config *site_config(Site *site, GError **error);

/* Open the store. With create a missing database is made, which only `store create` may do; else it is FAIL_MISSING. */
Store *site_store(Site *site, bool create, GError **error);
/* The same, of a database that may be of an older program: store_open_older(). */
Store *site_store_older(Site *site, bool upgrade, GError **error);
/* Find the list that a person names, as list_find() does. When there is none, the message of FAIL_MISSING has the one
 * that may have been meant. */
List *site_list_find(Store *store, const char *name, GError **error);
/* Open the spool. */
Spool *site_spool(Site *site, GError **error);

/* If the process is root, become [site] user for good. Nothing happens for any other user, or when there is no such
 * user. FAIL_LATER: the system refuses. */
bool site_become_user(Site *site, GError **error);
