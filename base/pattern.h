/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Regular expressions (PCRE2) that a list's owner writes: for addresses, and for the text of header fields. The steps
 * of one match are limited. A pattern that exceeds them matches nothing, is named in the log when it does so for the
 * first time in the process, and is not tried again on the same post; after 20 such patterns none is tried on that post
 * any more. Nobody knows then whether they match, and whoever asks on behalf of a post says with pattern_gave_up() what
 * becomes of it. One that cannot be read matches nothing and is told in the log once. Compiled patterns are
 * kept for the life of the process.
 */
#include <glib.h>
#include <stdbool.h>

/* Remember which patterns gave up on a post; g_hash_table_unref(). */
GHashTable *pattern_memory_new(void);

/* Is it unknown whether the pattern matches, since it gave up on the post, or was not tried any more? */
bool pattern_gave_up(const char *pattern, GHashTable *memory);
/* The first of patterns (NULL-terminated; may be NULL) that did, or NULL. */
const char *pattern_gave_up_any(char *const *patterns, GHashTable *memory);

/* FAIL_NEVER, with the place in the pattern, when it cannot be compiled. */
bool pattern_valid(const char *pattern, GError **error);

/* Is mailbox the address itself, or does "^regex" match it from its start? Without regard to case. memory is the
 * post's; NULL for one match alone. */
bool pattern_matches_address(const char *pattern, const char *mailbox, GHashTable *memory);

/* The first of patterns (NULL-terminated; may be NULL) that matches so, or NULL. */
const char *pattern_match_any(char *const *patterns, const char *mailbox, GHashTable *memory);

/* Does the pattern match somewhere in text (UTF-8), without regard to case? */
bool pattern_matches_text(const char *pattern, const char *text, GHashTable *memory);
