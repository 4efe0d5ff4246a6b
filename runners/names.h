/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Answers of the DNS, kept as long as their records say, for runners that work through batches and must not wait: the
 * Names of mail/names.h. A question that has no answer yet is asked in the background; names_cache_turn() takes the
 * answers in. One per process and thread.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "mail/names.h"

typedef struct NamesCache NamesCache;

/* servers as dns_new() has them; NULL: the system's. A question without an answer is given up after timeout_us. */
NamesCache *names_cache_new(const char *servers, int64_t timeout_us, GError **error);
void names_cache_free(NamesCache *cache);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NamesCache, names_cache_free)

/* Borrowed. */
const Names *names_cache_names(NamesCache *cache);

/* Take in what has come; waits at most wait_us for an answer to a question that is under way. True while questions are
 * under way. */
bool names_cache_turn(NamesCache *cache, int64_t wait_us);
