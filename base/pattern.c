/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/pattern.h"

#include <string.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/mailbox.h"

#define CACHE_MAX 50000
#define GIVE_UPS_MAX 20 /* patterns of one post; each has cost up to 13 ms by then */
#define LIMITS "(*LIMIT_MATCH=100000)(*LIMIT_DEPTH=1000)"

typedef enum Subject { SUBJECT_ADDRESS, SUBJECT_TEXT, SUBJECTS } Subject;

/* Compiled patterns of this process; a bad one is kept as NULL so that it is complained about once. */
static GHashTable *caches[SUBJECTS];

static GHashTable *told; /* patterns that gave up, and were named in the log */

static void regex_free(gpointer regex)
{
    if (regex)
        g_regex_unref(regex);
}

static GRegex *find(const char *pattern, Subject subject)
{
    GHashTable **cache = &caches[subject];
    if (!*cache)
        *cache = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, regex_free);
    gpointer known;
    if (g_hash_table_lookup_extended(*cache, pattern, NULL, &known))
        return known;
    if (g_hash_table_size(*cache) >= CACHE_MAX)
        g_hash_table_remove_all(*cache);
    g_autoptr(GError) error = NULL;
    g_autofree char *limited = g_strconcat(LIMITS, pattern, NULL);
    bool address = subject == SUBJECT_ADDRESS;
    GRegex *regex = g_regex_new(limited, G_REGEX_CASELESS | (address ? G_REGEX_RAW : 0),
                                address ? G_REGEX_MATCH_ANCHORED : 0, &error);
    if (!regex)
        log_warn("pattern %s cannot be used and matches nothing: %s", pattern, error->message);
    g_hash_table_insert(*cache, g_strdup(pattern), regex);
    return regex;
}

GHashTable *pattern_memory_new(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

bool pattern_gave_up(const char *pattern, GHashTable *memory)
{
    return memory && (g_hash_table_size(memory) >= GIVE_UPS_MAX || g_hash_table_contains(memory, pattern));
}

const char *pattern_gave_up_any(char *const *patterns, GHashTable *memory)
{
    for (; patterns && *patterns; patterns++)
        if (**patterns == '^' && pattern_gave_up(*patterns, memory))
            return *patterns;
    return NULL;
}

/* Names the pattern in the log, once in the life of the process. */
static void tell(const char *pattern, const char *text, const char *why)
{
    if (!told)
        told = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    if (g_hash_table_contains(told, pattern))
        return;
    if (g_hash_table_size(told) >= CACHE_MAX)
        g_hash_table_remove_all(told);
    g_hash_table_add(told, g_strdup(pattern));
    log_warn("pattern %s gave up on %.100s; posts on which it does are held (this is said once): %s", pattern, text,
             why);
}

bool pattern_valid(const char *pattern, GError **error)
{
    g_autoptr(GError) broken = NULL;
    size_t length = strlen(pattern);
    if (length > PATTERN_MAX)
        return fail(error, FAIL_NEVER, "a pattern of %zu bytes is not allowed; allowed: up to %d", length, PATTERN_MAX);
    /* Without our limits, which the message would show. */
    g_autoptr(GRegex) regex =
        g_utf8_validate(pattern, -1, NULL) ? g_regex_new(pattern, G_REGEX_CASELESS, 0, &broken) : NULL;
    return regex || fail(error, FAIL_NEVER, "\"%s\" is no regular expression: %s", pattern,
                         broken ? broken->message : "it is not UTF-8");
}

static bool matches(const char *pattern, Subject subject, const char *text, GHashTable *memory)
{
    GRegex *regex = pattern_gave_up(pattern, memory) ? NULL : find(pattern, subject);
    g_autoptr(GError) error = NULL;
    bool found = regex && g_regex_match_full(regex, text, -1, 0, 0, NULL, &error);
    if (error) {
        tell(pattern, text, error->message);
        if (memory)
            g_hash_table_add(memory, g_strdup(pattern));
    }
    return found;
}

bool pattern_matches_address(const char *pattern, const char *mailbox, GHashTable *memory)
{
    if (pattern[0] == '^')
        return matches(pattern, SUBJECT_ADDRESS, mailbox, memory);
    return mailbox_same(pattern, mailbox);
}

const char *pattern_match_any(char *const *patterns, const char *mailbox, GHashTable *memory)
{
    for (; patterns && *patterns; patterns++)
        if (pattern_matches_address(*patterns, mailbox, memory))
            return *patterns;
    return NULL;
}

bool pattern_matches_text(const char *pattern, const char *text, GHashTable *memory)
{
    return matches(pattern, SUBJECT_TEXT, text, memory);
}
