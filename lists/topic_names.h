/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Names of topics as people write them: separated by commas, in any case of letters, and in double quotes where a name
 * has a blank, a comma or an equals sign: boats,"new cars". In quotes, a backslash takes away what the byte behind it
 * means. "all" alone is no choice: posts of every topic.
 */
#include <glib.h>
#include <stdbool.h>

#include "store/list.h"

/* The names in text; NULL-terminated and empty for "all"; g_strfreev(). NULL with FAIL_NEVER: there is none, or a
 * quotation mark is missing. */
char **topic_names_read(const char *text, GError **error);

/* Return the text that topic_names_read() reads as these names; g_free(). */
char *topic_names_text(char **names);

/* Puts the list's own spelling in place of each name, and leaves out what is named twice. FAIL_NEVER: the list has no
 * such topic; the message names those that it has. */
bool topic_names_match(char ***names, const List *list, GError **error);
