/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find the base subject of RFC 5256 (2.1): what is left of a subject without "Re:", "Fwd:", "[list]" and "(fwd)". By it
 * replies of programs that write no References are recognised. The words for "Re:" and "Fwd:" that programs in other
 * languages write are known as well. Case and blanks do not count.
 */
#include <stdbool.h>

/* Return the base of a decoded subject (UTF-8), folded so that equal ones are the same text; "" when nothing is left.
 * g_free(). Set *reply to whether there was a "Re:", a "Fwd:" or a "(fwd)". */
char *base_subject(const char *subject, bool *reply);
