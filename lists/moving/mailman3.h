/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read a site of GNU Mailman 3: its database, and its directory VAR (var_dir in mailman.cfg) for held posts, digests
 * and texts of letters. Nothing is written there.
 */
#include <glib.h>
#include <stdbool.h>

#include "lists/moving/moving.h"
#include "store/foreign.h"

/* Check that the database is Mailman's, and return the source for moving_new(), which names this site; g_free(). NULL
 * with FAIL_CONFIG: it is another program's, of a version that is not known, or damaged. */
char *mailman3_source(Foreign *database, GError **error);

/* Call each() for every list of the database. If it returns false, so does this, with its error. */
bool mailman3_each_list(Foreign *database, bool (*each)(const char *list_id, void *data, GError **error), void *data,
                        GError **error);

/* Import the whole site. False: the import must end. */
bool mailman3_move(Foreign *database, const char *var, Moving *moving, GError **error);
