/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Settings as they are given on the command line, for the verbs that change or try them. */
#include <glib.h>
#include <stdbool.h>

/* Take "NAME=VALUE" apart, whose name must be that of a setting: *name, g_free(), and *value, borrowed of word. */
bool list_settings_word(const char *word, char **name, const char **value, GError **error);

/* Read the values of words "NAME=FILE", as --file has them, and return them as "NAME=VALUE" (of char *). words is ended
 * by NULL, and may be NULL. */
GPtrArray *list_settings_read(char *const *words, GError **error);
