/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make a store that only this process sees, to try something with: a copy of what concerns one list. All that a store
 * allows may be done with it; nothing of that reaches the store that it was copied from, and all of it is gone with
 * store_free() or the process. It is a database of SQLite without a name, whatever the driver of the other is.
 *
 * Copied are the list with its settings and domain, its members of all roles with their addresses and preferences, and
 * texts of letters for the list. Bans and header matches are copied of the list and of the site. Not copied are its
 * accounts: seen Message-IDs, counts of posts, held posts, requests.
 */
#include <glib.h>

#include "store/store_type.h"

/* Copy from `from`, which may be a scratch store itself, by one query a table and outside of a transaction, so that
 * nobody waits. FAIL_MISSING: there is no such list. */
Store *scratch_new(Store *from, const char *list_id, GError **error);
