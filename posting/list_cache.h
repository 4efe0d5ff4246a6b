/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep lists that were read while the store does not change, for runners that handle many posts of the same lists in a
 * batch. There is one cache for each store, and it belongs to one thread.
 */
#include <glib.h>

#include "posting/post.h"
#include "store/lists/list.h"
#include "store/store.h"

ListCache *list_cache_new(Store *store);
void list_cache_free(ListCache *cache);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ListCache, list_cache_free)

/* Begin a batch, outside a transaction. The next use of the cache frees all that it keeps, also lists that were
 * returned, if a list, a setting or a domain was changed since, or if the cache is full. Questions that the store was
 * told to expect (store_soon_forget() in store/store.h) are forgotten. It is told to expect the question whether
 * something changed. */
void list_cache_refresh(ListCache *cache);

/* Return the list, which is borrowed until the next refresh. FAIL_MISSING: there is no such list. */
const List *list_cache_get(ListCache *cache, const char *list_id, GError **error);

/* Find the text that somebody set as the template `name` (store/lists/template_text.h) for the list, in its language.
 * *text is the caller's (g_free()); NULL: nobody set one. cache NULL: the text is read from the store. False: the store
 * failed. */
bool list_cache_template(ListCache *cache, Store *store, const List *list, const char *name, char **text,
                         GError **error);

/* Return the header matches (store/lists/header_match.h) of the list, or with list_id NULL those of the site;
 * g_ptr_array_unref(). cache NULL: they are read from the store. NULL: the store failed. */
GPtrArray *list_cache_header_matches(ListCache *cache, Store *store, const char *list_id, GError **error);

/* Find the texts that stand above and below each copy of a post: the list's settings msg_header and msg_footer, or
 * where one of these is empty, a template that somebody set for the list, for its domain or for the site. Placeholders
 * are not filled in yet; g_free(). NULL: there is no such text; an issue of a digest has neither. False: the store
 * failed, and *above is NULL. */
bool list_cache_frame(const Post *post, char **above, char **below, GError **error);
