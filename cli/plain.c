/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/plain.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_plain(gunichar c)
{
    bool turns = c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
    return !turns && !g_unichar_iscntrl(c) && c != 0x2028 && c != 0x2029;
}

static char *made_plain(const char *text, gunichar kept)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    GString *plain = g_string_sized_new(strlen(valid));
    for (const char *at = valid; *at; at = g_utf8_next_char(at)) {
        gunichar c = g_utf8_get_char(at);
        g_string_append_unichar(plain, c == kept || is_plain(c) ? c : '?');
    }
    return g_string_free(plain, FALSE);
}

char *plain_text(const char *text)
{
    return made_plain(text, '?');
}

void plain_complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_autofree char *plain = made_plain(text, '\n');
    fprintf(stderr, "%s\n", plain);
}
