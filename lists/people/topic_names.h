/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read and write names of topics as people write them: boats,"new cars". Commas separate names, and the case of letters
 * does not matter. A name with a blank, a comma or an equals sign stands in double quotes, in which a byte behind a
 * backslash stands for itself. "all" alone means that the member gets posts of every topic.
 */
#include <glib.h>
#include <stdbool.h>

#include "store/lists/list.h"

/* Return the names in the text, ended by NULL; g_strfreev(). For "all" there are none. NULL with FAIL_NEVER: the text
 * has no name, or a quotation mark is missing. */
char **topic_names_read(const char *text, GError **error);

/* Return the text that topic_names_read() reads as these names; g_free(). */
char *topic_names_text(char **names);

/* Replace each name in *names by the list's own spelling of it, and leave out names that come twice. FAIL_NEVER: the
 * list has no such topic; the message names those that it has. */
bool topic_names_match(char ***names, const List *list, GError **error);
