/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Match regular expressions (PCRE2) that a list's owner writes: for addresses, and for the text of header fields.
 *
 * The steps of one match are limited. A pattern that exceeds the limit "gives up": it matches nothing, is named in the
 * log the first time, and is not tried again on the same post. After 20 patterns gave up on a post, no further one is
 * tried on it. Whether such patterns match is unknown, so the caller asks pattern_gave_up() afterwards and decides what
 * becomes of the post. The caller keeps what gave up on a post in a memory, one for each post.
 *
 * A pattern that cannot be compiled matches nothing and is told in the log once. Compiled patterns are kept for the
 * life of the process. Only one thread may use these functions.
 */
#include <glib.h>
#include <stdbool.h>

/* Return the memory for a new post; g_hash_table_unref(). */
GHashTable *pattern_memory_new(void);

/* Is it unknown whether the pattern matches the post, because it gave up or was not tried? Without a memory: false. */
bool pattern_gave_up(const char *pattern, GHashTable *memory);
/* Return the first of these patterns of addresses (NULL-terminated; may be NULL) that begins with "^" and for which
 * pattern_gave_up() is true; NULL: none. */
const char *pattern_gave_up_any(char *const *patterns, GHashTable *memory);

/* Check that a pattern can be compiled, and has at most PATTERN_MAX bytes. FAIL_NEVER: it is not so, and the message
 * names the place in the pattern, or the length. */
#define PATTERN_MAX 1000
bool pattern_valid(const char *pattern, GError **error);

/* Is mailbox the address itself, or does "^regex" match it from its start? Without regard to case. memory is the
 * post's; NULL for one match alone. */
bool pattern_matches_address(const char *pattern, const char *mailbox, GHashTable *memory);

/* Return the first of these patterns (NULL-terminated; may be NULL) that matches as pattern_matches_address() says;
 * NULL: none. */
const char *pattern_match_any(char *const *patterns, const char *mailbox, GHashTable *memory);

/* Does the pattern match somewhere in text (UTF-8), without regard to case? */
bool pattern_matches_text(const char *pattern, const char *text, GHashTable *memory);
