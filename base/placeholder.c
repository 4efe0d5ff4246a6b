/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/placeholder.h"

#include <string.h>

#include "base/fail.h"

size_t placeholder_read(const char *dollar, const char **name, const char **end)
{
    *name = dollar + 1 + (dollar[1] == '{');
    size_t length = 0;
    while (g_ascii_isalnum((*name)[length]) || (*name)[length] == '_')
        length++;
    *end = *name + length;
    bool closed = dollar[1] != '{' || *(*end)++ == '}';
    return closed ? length : 0;
}

char **placeholder_names(const char *text)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (const char *dollar = strchr(text, '$'); dollar;) {
        const char *name, *end;
        size_t length = dollar[1] == '$' ? 0 : placeholder_read(dollar, &name, &end);
        g_autofree char *found = length > 0 && !g_ascii_isdigit(*name) ? g_strndup(name, length) : NULL;
        if (found && !g_ptr_array_find_with_equal_func(names, found, g_str_equal, NULL))
            g_ptr_array_add(names, g_steal_pointer(&found));
        dollar = strchr(dollar + (dollar[1] == '$' ? 2 : 1), '$');
    }
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&names), FALSE);
}

bool placeholder_check(const char *what, const char *text, const char *known, GError **error)
{
    g_auto(GStrv) names = placeholder_names(text), allowed = g_strsplit(known, " ", -1);
    for (char **name = names; *name; name++)
        if (!g_strv_contains((const char *const *)allowed, *name)) {
            g_autofree char *words = g_strjoinv(", $", allowed);
            return fail(error, FAIL_NEVER, "%s: $%s is not filled in; there are: $%s (a dollar sign alone is written "
                        "$$)", what, *name, words);
        }
    return true;
}
