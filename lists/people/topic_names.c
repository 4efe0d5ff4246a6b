/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/people/topic_names.h"

#include <string.h>

#include "base/fail.h"
#include "store/lists/topic.h"

#define ALL "all"

/* Takes the name that *at begins with, without its quotes, and goes on to behind the comma that follows. g_free() */
static char *take_name(const char **at, bool *quoted, bool *open)
{
    GString *name = g_string_new(NULL);
    *open = false;
    for (; **at && (*open || **at != ','); ++*at) {
        if (**at == '"') {
            *open = !*open;
            *quoted = true;
        } else {
            *at += *open && **at == '\\' && (*at)[1];
            g_string_append_c(name, **at);
        }
    }
    *at += **at == ',';
    return g_strstrip(g_string_free(name, FALSE));
}

char **topic_names_read(const char *text, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    bool quoted = false, open = false;
    for (const char *at = text; *at && !open;) {
        g_autofree char *name = take_name(&at, &quoted, &open);
        if (*name)
            g_ptr_array_add(names, g_steal_pointer(&name));
    }
    if (open || names->len == 0) {
        fail(error, FAIL_NEVER,
             open ? "topics: a quotation mark is missing in %s"
                  : "topics: found \"%s\"; allowed: names of topics separated by commas, or all", text);
        return NULL;
    }
    if (names->len == 1 && !quoted && g_ascii_strcasecmp(names->pdata[0], ALL) == 0)
        g_ptr_array_set_size(names, 0);
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&names), FALSE);
}

char *topic_names_text(char **names)
{
    GString *text = g_string_new(NULL);
    for (; *names; names++) {
        bool plain = !strpbrk(*names, " \t,=\"\\") && g_ascii_strcasecmp(*names, ALL) != 0;
        g_string_append(text, text->len > 0 ? "," : "");
        g_string_append(text, plain ? "" : "\"");
        for (const char *at = *names; *at; at++)
            g_string_append_printf(text, *at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
        g_string_append(text, plain ? "" : "\"");
    }
    return g_string_free(text->len > 0 ? text : g_string_append(text, ALL), FALSE);
}

static const char *find_name(char **names, const char *name)
{
    for (; *names; names++)
        if (g_ascii_strcasecmp(*names, name) == 0)
            return *names;
    return NULL;
}

bool topic_names_match(char ***names, const List *list, GError **error)
{
    g_auto(GStrv) known = topic_names(list);
    g_autoptr(GPtrArray) matched = g_ptr_array_new_with_free_func(g_free);
    for (char **name = *names; *name; name++) {
        const char *own = find_name(known, *name);
        g_autofree char *there = *known ? topic_names_text(known) : NULL;
        if (!own)
            return there ? fail(error, FAIL_NEVER, "topics: there is no topic \"%s\"; there are: %s", *name, there)
                         : fail(error, FAIL_NEVER, "topics: this list has no topics");
        if (!g_ptr_array_find_with_equal_func(matched, own, g_str_equal, NULL))
            g_ptr_array_add(matched, g_strdup(own));
    }
    g_ptr_array_add(matched, NULL);
    g_strfreev(*names);
    *names = (char **)g_ptr_array_free(g_steal_pointer(&matched), FALSE);
    return true;
}
