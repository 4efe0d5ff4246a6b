/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make words that nobody can guess, for boundaries, Message-IDs, and marks in text that is being composed. They are
 * made of random bits of the system. When the system gives none, the process ends.
 */

/* Make a word of 128 random bits, in RANDOM_WORD_LENGTH digits of base 16. g_free(). */
#define RANDOM_WORD_LENGTH 32
char *random_word(void);
