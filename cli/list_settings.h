/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Settings as they are given on the command line, for the verbs that change or try them. */
#include <glib.h>
#include <stdbool.h>

#include "cli/site.h"

/* Make one change of a list, "NAME=VALUE", in a store, which need not be that of the site. */
bool list_settings_change(Site *site, Store *store, const char *list_id, const char *word, GError **error);

/* Read the values of words "NAME=FILE", as --file has them, and return them as "NAME=VALUE" (of char *). words is ended
 * by NULL, and may be NULL. */
GPtrArray *list_settings_read(char *const *words, GError **error);
