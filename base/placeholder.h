/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find the placeholders in texts that people write, $name or ${name}; $$ is one dollar sign. mail/text/template.h fills
 * them in. An unknown one is refused when the text is set, so that nobody gets a letter with it.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/* Read the placeholder at a dollar sign. Set *name to the beginning of its name and *end to the text behind it, and
 * return the length of the name; 0: no placeholder stands there. */
size_t placeholder_read(const char *dollar, const char **name, const char **end);

/* Return the names of the placeholders in text, each once; g_strfreev(). A name that begins with a digit ($5) does not
 * count. */
char **placeholder_names(const char *text);

/* Return text with two dollar signs before each placeholder that `known` (names, separated by blanks) lacks, so that it
 * stays as it is written; g_free(). *unknown is set to these placeholders, "$one, $two", g_free(); NULL: there are
 * none. */
char *placeholder_keep_unknown(const char *text, const char *known, char **unknown);

/* Does `known` (names, separated by blanks) have each placeholder of text? FAIL_NEVER: it does not; the message begins
 * with `what`, and names the placeholder and those that are known. */
bool placeholder_check(const char *what, const char *text, const char *known, GError **error);
