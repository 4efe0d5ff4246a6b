/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Compare and check names of domains, as mail and its signatures write them. */
#include <stdbool.h>

/* Return the name in lower case, in ASCII (xn--, IDNA 2008) and without a dot at its end; g_free(). The letters beyond
 * ASCII stay in a name that IDNA does not allow. */
char *domain_name_ascii(const char *name);

/* Return the name as domain_name_ascii() does, but with its letters in place of "xn--"; g_free(). A name that is no
 * IDNA stays as it is. */
char *domain_name_letters(const char *name);

/* Is the name the other one, or below it? Both are as domain_name_ascii() returns them. */
bool domain_name_within(const char *name, const char *other);

/* Is this one label or several with a dot between them, each of letters, digits, "-", "_" and bytes of UTF-8? NULL is
 * not. */
bool domain_name_valid(const char *name);

/* Can the DNS be asked for this name? It must have 1 to 253 printable ASCII characters, no blanks, no two dots in a
 * row, and labels of at most 63 bytes. */
bool domain_name_askable(const char *name);
