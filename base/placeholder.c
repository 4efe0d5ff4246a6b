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

char *placeholder_keep_unknown(const char *text, const char *known, char **unknown)
{
    g_auto(GStrv) allowed = g_strsplit(known, " ", -1), names = placeholder_names(text);
    g_autoptr(GString) kept = g_string_new(NULL), odd = g_string_new(NULL);
    for (char **name = names; *name; name++)
        if (!g_strv_contains((const char *const *)allowed, *name))
            g_string_append_printf(odd, "%s$%s", odd->len > 0 ? ", " : "", *name);
    for (const char *at = text; *at;) {
        const char *name, *end;
        size_t length = *at == '$' && at[1] != '$' ? placeholder_read(at, &name, &end) : 0;
        g_autofree char *found = length > 0 && !g_ascii_isdigit(*name) ? g_strndup(name, length) : NULL;
        size_t step = *at == '$' && at[1] == '$' ? 2 : 1;
        if (found && !g_strv_contains((const char *const *)allowed, found))
            g_string_append_c(kept, '$');
        g_string_append_len(kept, at, (gssize)step);
        at += step;
    }
    *unknown = odd->len > 0 ? g_string_free(g_steal_pointer(&odd), FALSE) : NULL;
    return g_string_free(g_steal_pointer(&kept), FALSE);
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
