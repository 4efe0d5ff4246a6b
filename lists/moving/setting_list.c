/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/moving/setting_list.h"

#include <string.h>

static void setting_free(gpointer data)
{
    MovingSetting *setting = data;
    g_free(setting->value);
    g_free(setting);
}

GPtrArray *setting_list_new(void)
{
    return g_ptr_array_new_with_free_func(setting_free);
}

void setting_list_add(GPtrArray *settings, const char *name, const char *key, char *value)
{
    MovingSetting *setting = g_new(MovingSetting, 1);
    *setting = (MovingSetting){name, key, value};
    g_ptr_array_add(settings, setting);
}

void setting_list_add_word(GString *value, const char *word)
{
    g_autoptr(GString) usual = g_string_new(word);
    char *at = *word == '@' ? strchr(usual->str + 1, '@') : NULL;
    if (at)
        *at = '.';
    g_string_replace(usual, ",", "\\,", 0); /* a comma is part of the word */
    g_string_append_printf(value, "%s%s", value->len ? "\n" : "", usual->str);
}
