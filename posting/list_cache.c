/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/list_cache.h"

#define LISTS_MAX 10000

struct ListCache {
    Store *store;
    GHashTable *lists; /* List-Id -> List */
    GHashTable *header_matches; /* List-Id, "" for the site -> GPtrArray */
    int64_t version;
};

ListCache *list_cache_new(Store *store)
{
    ListCache *cache = g_new0(ListCache, 1);
    cache->store = store;
    cache->lists = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)list_free);
    cache->header_matches = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
    cache->version = store_version(store);
    return cache;
}

void list_cache_free(ListCache *cache)
{
    if (!cache)
        return;
    g_hash_table_unref(cache->lists);
    g_hash_table_unref(cache->header_matches);
    g_free(cache);
}

void list_cache_refresh(ListCache *cache)
{
    int64_t version = store_version(cache->store);
    if (version != cache->version || g_hash_table_size(cache->lists) > LISTS_MAX) {
        g_hash_table_remove_all(cache->lists);
        g_hash_table_remove_all(cache->header_matches);
    }
    cache->version = version;
}

const List *list_cache_get(ListCache *cache, const char *list_id, GError **error)
{
    List *list = g_hash_table_lookup(cache->lists, list_id);
    if (list)
        return list;
    list = list_by_id(cache->store, list_id, error);
    if (list)
        g_hash_table_insert(cache->lists, list->list_id, list);
    return list;
}

GPtrArray *list_cache_header_matches(ListCache *cache, Store *store, const char *list_id, GError **error)
{
    if (!cache)
        return header_match_all(store, list_id, error);
    GPtrArray *known = g_hash_table_lookup(cache->header_matches, list_id ? list_id : "");
    if (known)
        return g_ptr_array_ref(known);
    GPtrArray *read = header_match_all(cache->store, list_id, error);
    if (read)
        g_hash_table_insert(cache->header_matches, g_strdup(list_id ? list_id : ""), g_ptr_array_ref(read));
    return read;
}
