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
#include "store/moving/foreign.h"

/* Check that the database is Mailman's, and return the source for moving_new(), which names this site; g_free(). NULL
 * with FAIL_CONFIG: it is another program's, of a version that is not known, or damaged. */
char *mailman3_source(Foreign *database, GError **error);

typedef bool Mailman3List(const char *list_id, void *data, GError **error);
/* Call each() for every list of the database, or for those of `lists` (List-Ids or addresses; NULL: all). If it returns
 * false, so does this, with its error. */
bool mailman3_each_list(Foreign *database, char *const *lists, Mailman3List *each, void *data, GError **error);

/* Import the whole site, or these lists alone (NULL: all). With MovingSite.of_site unset nothing comes but lists, and
 * what members inherit from their users comes as their own. False: the import must end. FAIL_MISSING: there is no such
 * list. */
bool mailman3_move(Foreign *database, const char *var, char *const *lists, Moving *moving, GError **error);
