/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/web/view_cache.h"

typedef struct ViewCacheKept {
    char *key;
    json_t *view;
    size_t size;
    GList *link; /* in by_use */
} ViewCacheKept;

struct ViewCache {
    GHashTable *by_key; /* -> Kept */
    GQueue by_use;      /* of Kept, the one that was used last first */
    size_t limit, size;
};

static void kept_free(void *data)
{
    ViewCacheKept *kept = data;
    g_free(kept->key);
    json_decref(kept->view);
    g_free(kept);
}

ViewCache *view_cache_new(size_t limit)
{
    ViewCache *cache = g_new0(ViewCache, 1);
    cache->by_key = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, kept_free);
    g_queue_init(&cache->by_use);
    cache->limit = limit;
    return cache;
}

void view_cache_free(ViewCache *cache)
{
    if (!cache)
        return;
    g_queue_clear(&cache->by_use);
    g_hash_table_unref(cache->by_key);
    g_free(cache);
}

json_t *view_cache_find(ViewCache *cache, const char *key)
{
    ViewCacheKept *kept = g_hash_table_lookup(cache->by_key, key);
    if (!kept)
        return NULL;
    g_queue_unlink(&cache->by_use, kept->link);
    g_queue_push_head_link(&cache->by_use, kept->link);
    return json_incref(kept->view);
}

static void drop(ViewCache *cache, const ViewCacheKept *kept)
{
    cache->size -= kept->size;
    g_queue_delete_link(&cache->by_use, kept->link);
    g_hash_table_remove(cache->by_key, kept->key);
}

void view_cache_add(ViewCache *cache, const char *key, json_t *view, size_t size)
{
    const ViewCacheKept *before = g_hash_table_lookup(cache->by_key, key);
    if (before)
        drop(cache, before);
    if (size > cache->limit / 10)
        return;
    while (cache->size + size > cache->limit && !g_queue_is_empty(&cache->by_use))
        drop(cache, g_queue_peek_tail(&cache->by_use));
    ViewCacheKept *kept = g_new0(ViewCacheKept, 1);
    *kept = (ViewCacheKept){.key = g_strdup(key), .view = json_incref(view), .size = size};
    g_queue_push_head(&cache->by_use, kept);
    kept->link = cache->by_use.head;
    g_hash_table_insert(cache->by_key, kept->key, kept);
    cache->size += size;
}
