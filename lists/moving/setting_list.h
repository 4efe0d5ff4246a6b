/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Gather the settings of a list that is imported, for moving_list() (MovingList.settings). */
#include <glib.h>

#include "lists/moving/moving.h"

/* Return an empty array, which frees its members (of MovingSetting); g_ptr_array_unref(). */
GPtrArray *setting_list_new(void);
/* Append a setting. name and key must outlive the array; value is freed by it. */
void setting_list_add(GPtrArray *settings, const char *name, const char *key, char *value);
/* Append a word to a value that is a list of words. The word "@talk@example.com" means the members of that list; it is
 * appended as "@talk.example.com", since Listrunner names the list by its List-Id. */
void setting_list_add_word(GString *value, const char *word);
