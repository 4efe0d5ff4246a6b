/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep views of mails that were made a moment ago, since making the text of a mail costs more than all else of a page.
 * When they take too much room, the ones unused for longest are dropped. Do not change a view after adding it.
 */
#include <glib.h>
#include <jansson.h>
#include <stddef.h>

typedef struct ViewCache ViewCache;

/* Make a cache for views of about this many bytes together. */
ViewCache *view_cache_new(size_t limit);
void view_cache_free(ViewCache *cache);

/* Return the view of that key, a new reference; NULL: it is not kept. */
json_t *view_cache_find(ViewCache *cache, const char *key);
/* Keep a view of about this many bytes; the cache takes a reference of its own. A view larger than a tenth of the
 * limit is not kept. */
void view_cache_add(ViewCache *cache, const char *key, json_t *view, size_t size);
