/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/text/subject.h"

#include <inttypes.h>
#include <string.h>

#define NUMBER_WIDTH_MAX 20

/* The length of the place for the post's number at text, "%d" or "%05d"; 0: there is none. */
static size_t place_length(const char *text)
{
    size_t digits = *text == '%' ? strspn(text + 1, "0123456789") : 0;
    return *text == '%' && text[digits + 1] == 'd' ? digits + 2 : 0;
}

size_t subject_prefix_length(const char *text, const char *pattern)
{
    const char *at = text;
    for (; *pattern; pattern++) {
        size_t place = place_length(pattern);
        if (place > 0) {
            at += strspn(at, " \t\r\n");
            size_t digits = strspn(at, "0123456789");
            if (digits == 0)
                return 0;
            at += digits;
            pattern += place - 1;
        } else if (g_ascii_toupper(*at) == g_ascii_toupper(*pattern)) {
            at++;
        } else {
            return 0;
        }
    }
    return (size_t)(at - text);
}

char *subject_prefix_make(const char *pattern, int64_t number)
{
    GString *prefix = g_string_new(NULL);
    const char *at = pattern;
    while (*at && place_length(at) == 0)
        at++;
    g_string_append_len(prefix, pattern, at - pattern);
    if (*at) { /* as C's printf() writes it: blanks, or after a zero zeros, up to the width */
        int width = (int)MIN(g_ascii_strtoull(at + 1, NULL, 10), NUMBER_WIDTH_MAX);
        g_string_append_printf(prefix, at[1] == '0' ? "%0*" PRId64 : "%*" PRId64, width, number);
        g_string_append(prefix, at + place_length(at));
    }
    g_string_append_c(prefix, ' ');
    return g_string_free(prefix, FALSE);
}

char *subject_prefix_bare(const char *pattern)
{
    g_autoptr(GString) bare = g_string_new(NULL);
    for (const char *at = pattern; *at;) {
        size_t place = place_length(at);
        if (place == 0)
            g_string_append_c(bare, *at++);
        at += place;
    }
    return g_strstrip(g_strdup(bare->str));
}
