/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make and recognise the prefix that a list puts before the Subject of its posts. The owner sets a pattern: "[Test]",
 * or with a place for the post's number "[Test %d]" or "[Test %05d]", as Mailman has it.
 */
#include <glib.h>
#include <stddef.h>
#include <stdint.h>

/* Return the length of the prefix with which text begins, as the pattern makes it with any number and in any case of
 * letters; 0: text begins with none. */
size_t subject_prefix_length(const char *text, const char *pattern);

/* Return the prefix of the post with that number, and a blank behind it. g_free() */
char *subject_prefix_make(const char *pattern, int64_t number);

/* Return the pattern without the places of numbers, and without blanks around it. g_free() */
char *subject_prefix_bare(const char *pattern);
