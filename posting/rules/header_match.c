/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "base/pattern.h"
#include "mail/header.h"
#include "posting/list_cache.h"
#include "posting/rule.h"
#include "store/lists/header_match.h"

/* Of the fields of one name so much text is looked at: a table of patterns would take long over more. */
#define TEXT_MAX (16 * 1024)

/* The text of all fields of that name, a line each as it was written, and one decoded where that differs. */
static char **collect(const Message *message, const char *name)
{
    GPtrArray *texts = g_ptr_array_new();
    size_t index = 0, sum = 0;
    for (const Field *field; sum < TEXT_MAX && (field = message_find(message, name, &index)); index++) {
        g_autofree char *value = field_value(field);
        g_autofree char *valid = g_utf8_make_valid(value, (gssize)strnlen(value, TEXT_MAX - sum));
        g_autofree char *decoded = header_decode(valid);
        sum += strlen(valid) + 1;
        g_ptr_array_add(texts, g_strdup(decoded));
        if (strcmp(decoded, valid) != 0)
            g_ptr_array_add(texts, g_steal_pointer(&valid));
    }
    g_ptr_array_add(texts, NULL);
    return (char **)g_ptr_array_free(texts, false);
}

static bool fits(const HeaderMatch *match, Post *post, GHashTable *known)
{
    char **texts = g_hash_table_lookup(known, match->header);
    if (!texts) {
        texts = collect(post->message, match->header);
        g_hash_table_insert(known, match->header, texts);
    }
    for (; *texts; texts++)
        if (pattern_matches_text(match->pattern, *texts, post->patterns))
            return true;
    return false;
}

static const HeaderMatch *find_first(const GPtrArray *rows, Post *post, GHashTable *known)
{
    for (unsigned at = 0; at < rows->len; at++)
        if (fits(rows->pdata[at], post, known))
            return rows->pdata[at];
    return NULL;
}

/* A moderator decides about a post on which a pattern gave up, one of these rows or of the bans that came before. */
static bool hold_untried(Post *post, bool *hit)
{
    *hit = true;
    g_free(post->target);
    post->target = g_strdup("hold");
    post_add_reason(post, "A pattern of this list, or of the site, took too long on the message.");
    return true;
}

/* The first row that fits, of the site, then of the list, says where the post goes. */
static bool check(Post *post, bool *hit, GError **error)
{
    *hit = false;
    g_autoptr(GPtrArray) site = list_cache_header_matches(post->lists, post->store, NULL, error);
    g_autoptr(GPtrArray) own = site ? list_cache_header_matches(post->lists, post->store, post->list->list_id, error)
                                    : NULL;
    if (!own)
        return false;
    g_autoptr(GHashTable) known = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)g_strfreev);
    const HeaderMatch *match = find_first(site, post, known);
    if (!match)
        match = find_first(own, post, known);
    if (g_hash_table_size(post->patterns) > 0)
        return hold_untried(post, hit);
    if (!match || g_strcmp0(match->target, "defer") == 0)
        return true;
    *hit = true;
    g_free(post->target);
    const char *fallback = post->site ? post->site->header_match_target : "hold";
    post->target = g_strdup(match->target ? match->target : fallback);
    post_add_reason(post, "The field %s of the message is one that this list does not take.", match->header);
    return true;
}

const Rule rule_header_match = {.name = "header-match", .decides = true, .check = check};
