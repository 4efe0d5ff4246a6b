/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/conninfo.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#define BLANKS " \t\n\r\f"

static bool is_named(const char *word, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(word, name, length) == 0;
}

static char *value_in_url(const char *where, const char *name)
{
    const char *query = strchr(where, '?');
    g_auto(GStrv) pairs = g_strsplit(query ? query + 1 : "", "&", -1);
    char *value = NULL;
    for (char **pair = pairs; *pair; pair++) {
        size_t length = strcspn(*pair, "=");
        if ((*pair)[length] == '\0' || !is_named(*pair, length, name))
            continue;
        g_free(value);
        value = g_uri_unescape_string(*pair + length + 1, NULL);
    }
    return value;
}

/* Read a value, which may stand in quotation marks and have backslashes, and move behind it. */
static char *take_value(const char **at)
{
    GString *value = g_string_new(NULL);
    bool quoted = **at == '\'';
    for (*at += quoted; **at && (quoted ? **at != '\'' : !strchr(BLANKS, **at)); (*at)++) {
        if (**at == '\\' && (*at)[1])
            (*at)++;
        g_string_append_c(value, **at);
    }
    *at += quoted && **at;
    return g_string_free(value, FALSE);
}

static char *value_in_pairs(const char *where, const char *name)
{
    char *value = NULL;
    const char *at = where + strspn(where, BLANKS);
    while (*at) {
        const char *word = at;
        size_t length = strcspn(word, "=" BLANKS);
        at += length;
        at += strspn(at, BLANKS);
        if (*at != '=')
            break;
        at++;
        at += strspn(at, BLANKS);
        g_autofree char *found = take_value(&at);
        if (is_named(word, length, name)) {
            g_free(value);
            value = g_steal_pointer(&found);
        }
        at += strspn(at, BLANKS);
    }
    return value;
}

char *conninfo_value(const char *where, const char *name)
{
    bool is_url = g_str_has_prefix(where, "postgresql://") || g_str_has_prefix(where, "postgres://");
    return is_url ? value_in_url(where, name) : value_in_pairs(where, name);
}
