/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/authority.h"

static const char *const words[AUTHORITIES] = {"site", "domain", "list", "moderator", "person", "stranger", "figures"};

bool authority_covers(unsigned right, Authority by)
{
    return (right & by) != 0;
}

unsigned authority_of_setting(const ListSetting *setting)
{
    return setting->reach == REACHES_SITE ? MAY_SITE : setting->reach == REACHES_LIST ? MAY_LIST : MAY_NOBODY;
}

char *authority_text(unsigned right)
{
    if ((right & MAY_ANYBODY) == MAY_ANYBODY)
        return g_strdup("anybody");
    g_autoptr(GString) text = g_string_new(NULL);
    for (unsigned at = 0; at < AUTHORITIES; at++)
        if (right & 1u << at)
            g_string_append_printf(text, "%s%s", text->len > 0 ? ", " : "", words[at]);
    return text->len > 0 ? g_string_free(g_steal_pointer(&text), FALSE) : g_strdup("nobody");
}
