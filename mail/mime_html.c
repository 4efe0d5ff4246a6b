/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "mail/mime.h"

static const struct {
    const char *name, *text;
} entities[] = {{"lt;", "<"}, {"gt;", ">"}, {"amp;", "&"}, {"quot;", "\""}, {"nbsp;", " "}, {"apos;", "'"}};

/* Decodes the entity at at (an ampersand) and returns what follows it. */
static const char *entity(const char *at, GString *out)
{
    for (size_t i = 0; i < G_N_ELEMENTS(entities); i++)
        if (g_ascii_strncasecmp(at + 1, entities[i].name, strlen(entities[i].name)) == 0) {
            g_string_append(out, entities[i].text);
            return at + 1 + strlen(entities[i].name);
        }
    if (at[1] == '#') {
        char *end;
        bool hexadecimal = at[2] == 'x' || at[2] == 'X';
        guint64 code = g_ascii_strtoull(at + (hexadecimal ? 3 : 2), &end, hexadecimal ? 16 : 10);
        if (*end == ';' && code >= 32 && code < 0x110000 && g_unichar_validate((gunichar)code)) {
            g_string_append_unichar(out, code == 160 ? ' ' : (gunichar)code);
            return end + 1;
        }
    }
    g_string_append_c(out, '&');
    return at + 1;
}

static bool is_tag(const char *name, size_t length, const char *wanted)
{
    return length == strlen(wanted) && g_ascii_strncasecmp(name, wanted, length) == 0;
}

/* What is never text: leaves at behind the end of the element. */
static const char *skip_element(const char *at, const char *name, size_t length)
{
    static const char *const silent[] = {"style", "script", "title"};
    for (size_t i = 0; i < G_N_ELEMENTS(silent); i++)
        if (is_tag(name, length, silent[i])) {
            g_autofree char *close = g_strconcat("</", silent[i], NULL);
            for (const char *next = strchr(at, '<'); next; next = strchr(next + 1, '<'))
                if (g_ascii_strncasecmp(next, close, strlen(close)) == 0)
                    return next;
            return at + strlen(at);
        }
    return at;
}

/* A link to an address of which the text does not tell: "<mailto:joe@example.com>" before it, as programs write it. */
static void link_to(const char *at, const char *end, GString *out)
{
    const char *mark = at;
    while (mark < end && g_ascii_strncasecmp(mark, "mailto:", 7) != 0)
        mark++;
    size_t length = mark < end ? strcspn(mark, "\"'?> \t") : 0;
    size_t text = strcspn(end, "<");
    if (length > strlen("mailto:") && length <= 320 && mark + length <= end && !memchr(end, '@', text))
        g_string_append_printf(out, "<%.*s>", (int)length, mark);
}

/* at is behind a '<'. */
static const char *tag(const char *at, GString *out)
{
    static const char *const blocks[] = {"br", "p",  "div", "tr",         "li", "table", "h1",
                                         "h2", "h3", "pre", "blockquote", "hr", "td"};
    if (strncmp(at, "!--", 3) == 0) {
        const char *end = strstr(at, "-->");
        return end ? end + 3 : at + strlen(at);
    }
    const char *end = strchr(at, '>');
    if (!end)
        return at + strlen(at);
    const char *name = *at == '/' ? at + 1 : at;
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ123456");
    if (strcspn(at, " =>") == (size_t)(end - at) && memchr(at, '@', (size_t)(end - at))) {
        g_string_append_printf(out, "<%.*s>", (int)(end - at), at); /* an address that nobody escaped */
        return end + 1;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(blocks); i++)
        if (is_tag(name, length, blocks[i])) {
            g_string_append_c(out, '\n');
            break;
        }
    if (is_tag(name, length, "a") && name == at)
        link_to(at, end, out);
    return name == at ? skip_element(end + 1, name, length) : end + 1;
}

GString *mime_strip_html(const GString *html)
{
    GString *out = g_string_sized_new(html->len);
    bool tags = strcasestr(html->str, "<br") || strcasestr(html->str, "<p") || strcasestr(html->str, "</");
    for (const char *at = html->str; *at;) {
        if (*at == '<' && (g_ascii_isalnum(at[1]) || at[1] == '/' || at[1] == '!' || at[1] == '?'))
            at = tag(at + 1, out);
        else if (*at == '&')
            at = entity(at, out);
        else
            g_string_append_c(out, *at++ == '\n' && tags ? ' ' : at[-1]);
    }
    return out;
}
