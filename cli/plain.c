/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/plain.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static char *made_plain(const char *text, gssize length, const char *kept)
{
    g_autofree char *valid = g_utf8_make_valid(text, length);
    GString *plain = g_string_sized_new(strlen(valid));
    for (const char *at = valid; *at; at = g_utf8_next_char(at)) {
        gunichar c = g_utf8_get_char(at);
        bool turns = c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
        bool controls = turns || g_unichar_iscntrl(c) || c == 0x2028 || c == 0x2029;
        g_string_append_unichar(plain, !controls || (c < 0x80 && strchr(kept, (int)c)) ? c : '?');
    }
    return g_string_free(plain, FALSE);
}

char *plain_text(const char *text)
{
    return made_plain(text, -1, "");
}

char *plain_message(const char *octets, size_t length)
{
    char *text = made_plain(octets, (gssize)length, "\n\t\r");
    g_auto(GStrv) lines = g_strsplit(text, "\r\n", -1);
    g_free(text);
    text = g_strjoinv("\n", lines);
    return g_strdelimit(text, "\r", '?');
}

static void complain(const char *kept, const char *format, va_list arguments)
{
    g_autofree char *text = g_strdup_vprintf(format, arguments), *plain = made_plain(text, -1, kept);
    fprintf(stderr, "%s\n", plain);
}

void plain_complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain("", format, arguments);
    va_end(arguments);
}

void plain_complain_lines(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain("\n", format, arguments);
    va_end(arguments);
}
