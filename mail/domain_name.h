/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Names of domains, as mail and its signatures write them. */
#include <stdbool.h>

/* Return the name in lower case, in ASCII (xn--, IDNA 2008) and without a dot at its end; g_free(). A name that cannot
 * be so is left as it is. */
char *domain_name_ascii(const char *name);

/* Is the name the other one, or below it? Both are as domain_name_ascii() returns them. */
bool domain_name_within(const char *name, const char *other);

/* Is this one label or several with a dot between them, each of letters, digits, "-", "_" and bytes of UTF-8? NULL is
 * not. */
bool domain_name_valid(const char *name);

/* Can the DNS have the name, which is in ASCII? A label of more than 63 bytes, or a name of more than 253, is in no
 * DNS. */
bool domain_name_askable(const char *name);
