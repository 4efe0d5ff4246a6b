/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Patterns that a list's owner writes for addresses: an address, which must be equal, or "^regex" (PCRE2, without
 * regard to case), which must match from the start. The steps of one match are limited. A regex that exceeds them
 * matches nothing, writes one line to the log, and is not tried again on the same post; one that cannot be read matches
 * nothing and is told in the log once.
 */
#include <glib.h>
#include <stdbool.h>

/* Remembers which patterns gave up on a post; g_hash_table_unref(). */
GHashTable *pattern_memory_new(void);

/* The first of patterns (NULL-terminated; may be NULL) that matches, or NULL. memory is the post's. */
const char *pattern_match_any(char *const *patterns, const char *mailbox, GHashTable *memory);
