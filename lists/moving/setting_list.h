/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Gather the settings of a list for moving_list(). */
#include <glib.h>

#include "lists/moving/moving.h"

GPtrArray *setting_list_new(void); /* of MovingSetting */
/* name and key are borrowed, value is taken. */
void setting_list_add(GPtrArray *settings, const char *name, const char *key, char *value);
/* Append a word to the value of a setting that is a list of them. "@talk@example.com" stands for the members of that
 * list, who are named by its List-Id here. */
void setting_list_add_word(GString *value, const char *word);
