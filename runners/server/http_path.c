/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/server/http_path.h"

#include <glib.h>
#include <string.h>

void http_path_clear(char **args, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        g_clear_pointer(&args[i], g_free);
}

unsigned http_path_braces(const char *pattern)
{
    unsigned count = 0;
    for (; *pattern; pattern++)
        count += *pattern == '{';
    return count;
}

bool http_path_fits(const char *pattern, const char *path, char **args)
{
    unsigned count = 0;
    bool fits = true;
    while (fits && *pattern) {
        if (*pattern == '{') {
            const char *end = strchr(pattern, '}');
            size_t length = end[-1] == '*' ? strlen(path) : strcspn(path, "/");
            g_autofree char *encoded = g_strndup(path, length);
            char *arg = args[count++] = g_uri_unescape_string(encoded, NULL);
            fits = length > 0 && arg && g_utf8_validate(arg, -1, NULL);
            path += length;
            pattern = end + 1;
        } else {
            fits = *pattern++ == *path;
            path += fits;
        }
    }
    fits = fits && !*path;
    if (!fits)
        http_path_clear(args, count);
    return fits;
}
