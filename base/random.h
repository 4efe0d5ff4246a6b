/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Words that nobody can guess: boundaries, Message-IDs, marks in text being composed. They are made of random bits of
 * the system. A system that gives none ends the process.
 */

/* Make a word of 128 random bits, in RANDOM_WORD_LENGTH digits of base 16. g_free(). */
#define RANDOM_WORD_LENGTH 32
char *random_word(void);
