/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/list_cache.h"

#include "store/lists/header_match.h"
#include "store/lists/list_setting.h"
#include "store/lists/template_text.h"

#define LISTS_MAX 10000

struct ListCache {
    Store *store;
    GHashTable *lists; /* List-Id -> List */
    GHashTable *header_matches; /* List-Id, "" for the site -> GPtrArray */
    GHashTable *templates; /* "LIST-ID NAME" -> char, "" where there is none */
    int64_t version;
    bool stale; /* it is not known yet whether the version is still the same */
};

ListCache *list_cache_new(Store *store)
{
    ListCache *cache = g_new0(ListCache, 1);
    cache->store = store;
    cache->lists = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)list_free);
    cache->header_matches = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
    cache->templates = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    cache->version = store_version(store);
    return cache;
}

void list_cache_free(ListCache *cache)
{
    if (!cache)
        return;
    g_hash_table_unref(cache->lists);
    g_hash_table_unref(cache->header_matches);
    g_hash_table_unref(cache->templates);
    g_free(cache);
}

void list_cache_refresh(ListCache *cache)
{
    store_soon_forget(cache->store);
    store_version_soon(cache->store);
    cache->stale = true;
}

static void look(ListCache *cache)
{
    if (!cache->stale)
        return;
    int64_t version = store_version(cache->store);
    if (version != cache->version || g_hash_table_size(cache->lists) > LISTS_MAX) {
        g_hash_table_remove_all(cache->lists);
        g_hash_table_remove_all(cache->header_matches);
        g_hash_table_remove_all(cache->templates);
    }
    cache->version = version;
    cache->stale = false;
}

const List *list_cache_get(ListCache *cache, const char *list_id, GError **error)
{
    look(cache);
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
    look(cache);
    GPtrArray *known = g_hash_table_lookup(cache->header_matches, list_id ? list_id : "");
    if (known)
        return g_ptr_array_ref(known);
    GPtrArray *read = header_match_all(cache->store, list_id, error);
    if (read)
        g_hash_table_insert(cache->header_matches, g_strdup(list_id ? list_id : ""), g_ptr_array_ref(read));
    return read;
}

/* NULL with error: the store failed. */
static char *read_template(Store *store, const List *list, const char *name, GError **error)
{
    TemplateText *found = NULL;
    if (!template_text_find(store, name, list, list->settings->preferred_language, &found, error))
        return NULL;
    g_autoptr(TemplateText) row = found;
    return row && row->text ? g_steal_pointer(&row->text) : g_strdup("");
}

bool list_cache_template(ListCache *cache, Store *store, const List *list, const char *name, char **text,
                         GError **error)
{
    if (cache)
        look(cache);
    g_autofree char *key = g_strconcat(list->list_id, " ", name, NULL);
    const char *known = cache ? g_hash_table_lookup(cache->templates, key) : NULL;
    g_autofree char *read = known ? NULL : read_template(store, list, name, error);
    *text = NULL;
    if (!known && !read)
        return false;
    const char *found = known ? known : read;
    *text = *found ? g_strdup(found) : NULL;
    if (!known && cache)
        g_hash_table_insert(cache->templates, g_steal_pointer(&key), g_steal_pointer(&read));
    return true;
}

/* The setting, or the first of the templates of these names. */
static bool find_one(const Post *post, const char *setting, const char *const *names, char **text, GError **error)
{
    *text = setting && *setting ? g_strdup(setting) : NULL;
    for (; !*text && *names; names++)
        if (!list_cache_template(post->lists, post->store, post->list, *names, text, error))
            return false;
    return true;
}

bool list_cache_frame(const Post *post, char **above, char **below, GError **error)
{
    static const char *const headers[] = {"list:member:regular:header", NULL};
    static const char *const footers[] = {"list:member:regular:footer", "list:member:generic:footer", NULL};
    *above = *below = NULL;
    if (post->digest)
        return true;
    g_autofree char *header = NULL;
    if (!find_one(post, post->list->settings->msg_header, headers, &header, error) ||
        !find_one(post, post->list->settings->msg_footer, footers, below, error))
        return false;
    *above = g_steal_pointer(&header);
    return true;
}
