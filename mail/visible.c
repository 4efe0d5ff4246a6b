/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/visible.h"

#include <stdbool.h>
#include <string.h>

#define ELLIPSIS "\u2026"

/* Is it one that nobody sees, or that changes how others look? */
static bool is_left_out(gunichar character)
{
    return (character < ' ' && character != '\n' && character != '\t') || (character >= 0x7f && character < 0xa0) ||
           (character >= 0x202a && character <= 0x202e) || (character >= 0x2066 && character <= 0x2069) ||
           character == 0xfeff || (character >= 0xfff9 && character <= 0xfffb);
}

static void append_valid(GString *out, const char *text, size_t length)
{
    const char *kept = text, *end = text + length;
    for (const char *at = text; at < end;) {
        if ((unsigned char)*at >= ' ' && (unsigned char)*at < 0x7f) {
            at++;
            continue;
        }
        gunichar character = g_utf8_get_char(at);
        const char *next = g_utf8_next_char(at);
        bool feed = character == '\r' || character == 0x2028 || character == 0x2029;
        bool none = character == 0xfffe || character == 0xffff;
        if (feed || none || is_left_out(character)) {
            g_string_append_len(out, kept, at - kept);
            if (feed && !(character == '\r' && next < end && *next == '\n'))
                g_string_append_c(out, '\n');
            else if (none)
                g_string_append(out, "\ufffd");
            kept = next;
        }
        at = next;
    }
    g_string_append_len(out, kept, end - kept);
}

void visible_append(GString *out, const char *text, size_t length)
{
    const char *end;
    while (!g_utf8_validate_len(text, length, &end)) { /* a NUL ends it too */
        append_valid(out, text, (size_t)(end - text));
        if (*end)
            g_string_append(out, "\ufffd");
        length -= (size_t)(end - text) + 1;
        text = end + 1;
    }
    append_valid(out, text, length);
}

/* Cut text to most bytes, the sign for what is left out among them. */
static void cut(GString *text, size_t most)
{
    if (text->len <= most)
        return;
    const char *end = g_utf8_find_prev_char(text->str, text->str + most - strlen(ELLIPSIS) + 1);
    g_string_truncate(text, end ? (gsize)(end - text->str) : 0);
    g_string_append(text, ELLIPSIS);
}

char *visible_line(const char *text, size_t most)
{
    g_autoptr(GString) clean = g_string_new(NULL);
    visible_append(clean, text, strlen(text));
    gsize length = 0;
    for (const char *at = clean->str; *at; at++) {
        bool blank = *at == ' ' || *at == '\t' || *at == '\n';
        if (!blank)
            clean->str[length++] = *at;
        else if (length > 0 && clean->str[length - 1] != ' ')
            clean->str[length++] = ' ';
    }
    g_string_truncate(clean, length > 0 && clean->str[length - 1] == ' ' ? length - 1 : length);
    cut(clean, most);
    return g_string_free(g_steal_pointer(&clean), FALSE);
}
