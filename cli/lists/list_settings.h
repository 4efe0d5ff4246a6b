/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Read settings of lists from the command line, for the verbs that change or try them. */
#include <glib.h>
#include <stdbool.h>

/* Split "NAME=VALUE" into *name (g_free()) and *value (borrowed from word). False with a usage error: the form is
 * wrong, or there is no setting NAME. FAIL_NEVER: the value is not UTF-8. */
bool list_settings_word(const char *word, char **name, const char **value, GError **error);

/* Read the files of words "NAME=FILE", as the option --file has them. Return an array of words "NAME=VALUE" (char *);
 * g_ptr_array_unref(). words is ended by NULL, and may be NULL. Of a password, the first line of the file is the value.
 * NULL: the form is wrong, there is no setting NAME, or the file cannot be read. */
GPtrArray *list_settings_read(char *const *words, GError **error);
