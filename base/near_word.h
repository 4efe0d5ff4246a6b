/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Find the word that somebody meant who mistyped it. */
#include <stddef.h>

/* Return how many changes turn a into b. A change inserts, removes or replaces a byte, or swaps two neighbours. */
size_t near_word_distance(const char *a, const char *b);

/* The nearest candidate so far. Begin with {wanted, NULL, most + 1}, where most is the largest distance that counts. */
typedef struct NearWord {
    const char *wanted, *best; /* best: one of the candidates, borrowed; NULL: none is near enough */
    size_t distance;
} NearWord;

/* Take the candidate when it is nearer than those before. A word of which every byte differs is never near. */
void near_word_offer(NearWord *near, const char *candidate);
