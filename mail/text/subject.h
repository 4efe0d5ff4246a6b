/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make and recognise the prefix that a list puts before the Subject of its posts. The owner sets a pattern: "[Test]",
 * or with a place for the post's number "[Test %d]" or "[Test %05d]", as Mailman has it.
 *
 * Find the base subject of RFC 5256 (2.1): what is left of a subject without "Re:", "Fwd:", "[list]" and "(fwd)". By it
 * replies of programs that write no References are recognised. The words for "Re:" and "Fwd:" that programs in other
 * languages write are known as well. Case and blanks do not count.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Return the length of the prefix with which text begins, as the pattern makes it with any number and in any case of
 * letters; 0: text begins with none. */
size_t subject_prefix_length(const char *text, const char *pattern);

/* Return the prefix of the post with that number, and a blank behind it. g_free() */
char *subject_prefix_make(const char *pattern, int64_t number);

/* Return the pattern without the places of numbers, and without blanks around it. g_free() */
char *subject_prefix_bare(const char *pattern);

/* Return the base of a decoded subject (UTF-8), folded so that equal ones are the same text; "" when nothing is left.
 * g_free(). Set *reply to whether there was a "Re:", a "Fwd:" or a "(fwd)". */
char *base_subject(const char *subject, bool *reply);
