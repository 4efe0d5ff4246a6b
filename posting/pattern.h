/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Patterns that a list's owner writes for addresses: an address, which must be equal,
 * or "^regex" (PCRE2, without regard to case), which must match from the
 * start. A regex cannot run away: its steps are limited, and one that exceeds them or that
 * cannot be read matches nothing and is told in the log.
 */
#include <stdbool.h>

bool pattern_match(const char *pattern, const char *mailbox);

/* The first of patterns (NULL-terminated; may be NULL) that matches, or NULL. */
const char *pattern_match_any(char *const *patterns, const char *mailbox);
