/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/pattern.h"

#include <glib.h>

#include "base/log.h"
#include "mail/address.h"

#define CACHE_MAX 1000
#define LIMITS "(*LIMIT_MATCH=100000)(*LIMIT_DEPTH=1000)"

/* Compiled patterns of this process; a bad one is kept as NULL so that it is
 * complained about once. */
static GHashTable *cache;

static void regex_free(gpointer regex)
{
    if (regex)
        g_regex_unref(regex);
}

static GRegex *compile(const char *pattern)
{
    if (!cache)
        cache = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, regex_free);
    gpointer known;
    if (g_hash_table_lookup_extended(cache, pattern, NULL, &known))
        return known;
    if (g_hash_table_size(cache) >= CACHE_MAX)
        g_hash_table_remove_all(cache);
    g_autofree char *limited = g_strconcat(LIMITS, pattern, NULL);
    g_autoptr(GError) error = NULL;
    GRegex *regex = g_regex_new(limited, G_REGEX_CASELESS | G_REGEX_RAW, G_REGEX_MATCH_ANCHORED, &error);
    if (!regex)
        log_warn("pattern %s cannot be used and matches nothing: %s", pattern, error->message);
    g_hash_table_insert(cache, g_strdup(pattern), regex);
    return regex;
}

GHashTable *pattern_memory_new(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

static bool matches(const char *pattern, const char *mailbox, GHashTable *memory)
{
    if (pattern[0] != '^')
        return address_same(pattern, mailbox);
    GRegex *regex = g_hash_table_contains(memory, pattern) ? NULL : compile(pattern);
    g_autoptr(GError) error = NULL;
    bool found = regex && g_regex_match_full(regex, mailbox, -1, 0, 0, NULL, &error);
    if (error) {
        log_warn("pattern %s gave up on %s and is not tried again on this post: %s", pattern, mailbox, error->message);
        g_hash_table_add(memory, g_strdup(pattern));
    }
    return found;
}

const char *pattern_match_any(char *const *patterns, const char *mailbox, GHashTable *memory)
{
    for (; patterns && *patterns; patterns++)
        if (matches(*patterns, mailbox, memory))
            return *patterns;
    return NULL;
}
