/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Lists read once and kept while the store does not change: for runners that
 * handle many posts of the same lists in a batch. One per store, one thread.
 */
#include <glib.h>

#include "posting/post.h"
#include "store/list.h"
#include "store/store.h"

ListCache *list_cache_new(Store *store);
void list_cache_free(ListCache *cache);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ListCache, list_cache_free)

/* Call it between batches, outside a transaction: the next use forgets everything if a list, a setting or a domain was
 * changed since the last call. Lists got before are gone then. What was said to the store to be asked soon (store.h) is
 * forgotten, but the version, which is asked with what is said from now on. */
void list_cache_refresh(ListCache *cache);

/* Return the list, which is borrowed until the next refresh. FAIL_MISSING: there is no such list. */
const List *list_cache_get(ListCache *cache, const char *list_id, GError **error);

/* Find the text that somebody set as the template `name` (store/template_text.h) for the list, in its language. *text
 * is the caller's (g_free()); NULL: nobody set one. cache NULL: the text is read from the store. False: the store
 * failed. */
bool list_cache_template(ListCache *cache, Store *store, const List *list, const char *name, char **text,
                         GError **error);

/* The header matches (store/header_match.h) of the list, or with list_id NULL of the site: a reference. cache NULL:
 * read them now. */
GPtrArray *list_cache_header_matches(ListCache *cache, Store *store, const char *list_id, GError **error);
