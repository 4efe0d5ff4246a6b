/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "mail/html_entity.h"
#include "mail/mime.h"

/* Text that is being made. */
typedef struct Strip {
    GString *out;
    bool for_people;    /* the targets of links are named, and preformatted text keeps its lines */
    bool preformatted;
    const char *target; /* of the link that is open, target_length octets; NULL: none is */
    size_t target_length, target_from; /* where in out its text begins */
} Strip;

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

static const char *find_value(const char *at, const char *end, const char *name)
{
    size_t length = strlen(name);
    for (; at + length < end; at++)
        if (g_ascii_strncasecmp(at, name, length) == 0)
            return at + length + (at[length] == '"' || at[length] == '\'');
    return NULL;
}

/* Remember the target of a link to a page, for close_link(). */
static void open_link(Strip *strip, const char *at, const char *end)
{
    const char *target = find_value(at, end, "href=");
    bool page = target && (g_ascii_strncasecmp(target, "http:", strlen("http:")) == 0 ||
                           g_ascii_strncasecmp(target, "https:", strlen("https:")) == 0);
    strip->target = page ? target : NULL;
    strip->target_length = page ? MIN(strcspn(target, "\"'> \t\r\n"), (size_t)(end - target)) : 0;
    strip->target_from = strip->out->len;
}

/* Name the target of the open link behind its text, if the text does not name it. */
static void close_link(Strip *strip)
{
    GString *out = strip->out;
    g_autoptr(GString) target = g_string_sized_new(strip->target_length);
    const char *end = strip->target + strip->target_length;
    for (const char *at = strip->target; at && at < end;)
        if (*at == '&')
            at = html_entity_take(at, target);
        else
            g_string_append_c(target, *at++);
    if (strip->target && !strstr(out->str + strip->target_from, target->str))
        g_string_append_printf(out, " <%s>", target->str);
    strip->target = NULL;
}

/* For people the cells of a table stand in one line, an item of a list in its own, and no empty line is between two
 * <div>, with which some programs write each line. False: it is another element. */
static bool break_line(GString *out, const char *name, size_t length, bool opens)
{
    bool cell = is_tag(name, length, "td"), item = is_tag(name, length, "li");
    if (!cell && !item && !is_tag(name, length, "tr") && !is_tag(name, length, "div"))
        return false;
    char last = out->len > 0 ? out->str[out->len - 1] : '\n';
    if (last != '\n' && !(cell && last == ' '))
        g_string_append_c(out, cell ? ' ' : '\n');
    if (item && opens)
        g_string_append(out, "* ");
    return true;
}

/* at is behind a '<'. */
static const char *tag(Strip *strip, const char *at)
{
    static const char *const blocks[] = {"br", "p",  "div", "tr",         "li", "table", "h1",
                                         "h2", "h3", "pre", "blockquote", "hr", "td"};
    GString *out = strip->out;
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
            if (!strip->for_people || !break_line(out, name, length, name == at))
                g_string_append_c(out, '\n');
            break;
        }
    if (strip->for_people && is_tag(name, length, "pre"))
        strip->preformatted = name == at;
    if (strip->for_people && is_tag(name, length, "a"))
        name == at ? open_link(strip, at, end) : close_link(strip);
    if (is_tag(name, length, "a") && name == at)
        link_to(at, end, out);
    return name == at ? skip_element(end + 1, name, length) : end + 1;
}

/* tags: it is HTML indeed, and line ends are blanks. For people blanks in a row are one. */
static void append_octet(Strip *strip, char octet, bool tags)
{
    GString *out = strip->out;
    bool feed = octet == '\n' || octet == '\r';
    if (feed)
        octet = tags && !strip->preformatted ? ' ' : '\n';
    bool blank = octet == ' ' || octet == '\t';
    bool first = out->len == 0 || strchr(" \n", out->str[out->len - 1]);
    if (strip->for_people && tags && !strip->preformatted && blank && first)
        return;
    g_string_append_c(out, octet);
}

static GString *strip_html(const GString *html, bool for_people)
{
    Strip strip = {.out = g_string_sized_new(html->len), .for_people = for_people};
    bool tags = strcasestr(html->str, "<br") || strcasestr(html->str, "<p") || strcasestr(html->str, "</");
    for (const char *at = html->str; *at;) {
        if (*at == '<' && (g_ascii_isalnum(at[1]) || at[1] == '/' || at[1] == '!' || at[1] == '?'))
            at = tag(&strip, at + 1);
        else if (*at == '&')
            at = html_entity_take(at, strip.out);
        else if (*at == '\r' && at[1] == '\n')
            at++;
        else
            append_octet(&strip, *at++, tags);
    }
    return strip.out;
}

GString *mime_strip_html(const GString *html)
{
    return strip_html(html, false);
}

/* One line without blanks at its end; of empty lines in a row the first. */
static void append_line(GString *text, const char *line, size_t length)
{
    while (length > 0 && strchr(" \t", line[length - 1]))
        length--;
    bool again = text->len == 0 || (text->len >= 2 && memcmp(text->str + text->len - 2, "\n\n", 2) == 0);
    if (length == 0 && again)
        return;
    g_string_append_len(text, line, (gssize)length);
    g_string_append_c(text, '\n');
}

GString *mime_html_text(const GString *html)
{
    GString *raw = strip_html(html, true), *text = g_string_sized_new(raw->len);
    for (const char *at = raw->str; *at;) {
        size_t length = strcspn(at, "\n");
        append_line(text, at, length);
        at += length + (at[length] != '\0');
    }
    g_string_free(raw, TRUE);
    return text;
}
