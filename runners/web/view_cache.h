/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Views that were made a moment ago, since making the text of a mail costs more than all else of a page. When
 * there are too many, those go that were not used for longest. A view that was added does not change any more.
 */
#include <glib.h>
#include <jansson.h>
#include <stddef.h>

typedef struct ViewCache ViewCache;

/* Keep views of about so many bytes. */
ViewCache *view_cache_new(size_t limit);
void view_cache_free(ViewCache *cache);

/* Return the view of that key, a new reference; NULL: it is not kept. */
json_t *view_cache_find(ViewCache *cache, const char *key);
/* Keep a view of about so many bytes; a new reference is taken. One that is larger than a tenth of all is not kept. */
void view_cache_add(ViewCache *cache, const char *key, json_t *view, size_t size);
