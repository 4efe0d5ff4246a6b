/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Answer questions to the DNS from memory, for runners that work through batches and must not wait. The cache is given
 * to code that asks as the Names of mail/auth/names.h. A question without a known answer gets NAMES_PENDING and is sent
 * to the servers; names_cache_turn() takes the answers in. Answers are kept as their records say, from a minute to a
 * day. Use one cache for each process and thread.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "mail/auth/names.h"

typedef struct NamesCache NamesCache;

/* servers as dns_new() has them; NULL: the system's. A question without an answer is given up after timeout_us. NULL:
 * error is set. */
NamesCache *names_cache_new(const char *servers, int64_t timeout_us, GError **error);
void names_cache_free(NamesCache *cache);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NamesCache, names_cache_free)

/* Return the interface by which others ask this cache; borrowed. */
const Names *names_cache_names(NamesCache *cache);

/* Take in the answers that have come. If none has, wait for the first, at most wait_us. Returns true while a question
 * is still without an answer. */
bool names_cache_turn(NamesCache *cache, int64_t wait_us);
