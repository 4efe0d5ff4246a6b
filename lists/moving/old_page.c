/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/moving/old_page.h"

#include <string.h>

#include "mail/date.h"
#include "mail/mime/mime.h"

#define VALUE_MAX 4000 /* bytes; nothing longer is a Message-ID or a subject that is known again */

void old_page_clear(OldPage *page)
{
    g_free(page->message_id);
    g_free(page->subject);
    *page = (OldPage){0};
}

/* The text between begin and end, without case; NULL: there is none, or it is longer than VALUE_MAX. g_free() */
static char *between(const char *text, const char *begin, const char *end)
{
    const char *from = text;
    size_t length = strlen(begin);
    while (*from && g_ascii_strncasecmp(from, begin, length) != 0)
        from++;
    if (!*from)
        return NULL;
    from += length;
    const char *to = from;
    while (*to && g_ascii_strncasecmp(to, end, strlen(end)) != 0)
        to++;
    return *to && to - from <= VALUE_MAX ? g_strndup(from, (size_t)(to - from)) : NULL;
}

/* The same text without entities, in one line without blanks around, in UTF-8; text is taken. */
static char *plain(char *text)
{
    g_autoptr(GString) out = g_string_new(NULL);
    for (const char *at = text; *at;)
        if (*at == '&')
            at = html_entity_take(at, out);
        else
            g_string_append_c(out, *at++);
    g_free(text);
    for (char *at = out->str; *at; at++)
        if (g_ascii_isspace(*at))
            *at = ' ';
    return g_utf8_make_valid(g_strstrip(out->str), -1);
}

/* A Message-ID without brackets; text is taken. NULL: it is none, or one that MHonArc made up. */
static char *bare_id(char *text)
{
    g_autofree char *own = text;
    char *open = own ? strchr(own, '<') : NULL, *close = open ? strchr(open, '>') : NULL;
    if (close)
        *close = '\0';
    const char *id = own ? g_strstrip(g_strdelimit(close ? open + 1 : own, "\r\n\t", ' ')) : "";
    return *id && !g_str_has_suffix(id, "@NO-ID-FOUND.mhonarc.org") ? g_strdup(id) : NULL;
}

/* ---- MHonArc ---- */

static char *comment(const char *text, const char *name)
{
    g_autofree char *begin = g_strdup_printf("<!--%s:", name);
    char *value = between(text, begin, "-->");
    return value ? plain(value) : NULL;
}

/* ---- pipermail ---- */

/* "%3C1-2%40example.org%3E", or as early versions have it, "<1-2@example.org>". */
static char *read_answer_to(const char *text)
{
    char *value = between(text, "In-Reply-To=", "\"");
    if (!value)
        return NULL;
    g_autofree char *written = plain(value);
    char *id = g_uri_unescape_string(written, NULL);
    if (!id)
        id = g_steal_pointer(&written);
    if (g_utf8_validate(id, -1, NULL))
        return bare_id(id);
    g_free(id);
    return NULL;
}

/* "Mon Mar  4 12:34:56 UTC 2019": the fields of a Date in another order. */
static int64_t read_time(const char *text)
{
    int zone;
    int64_t seconds = 0;
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    g_auto(GStrv) all = g_strsplit(text, " ", 20);
    for (char **word = all; *word; word++)
        if (**word)
            g_ptr_array_add(words, *word);
    if (words->len < 5)
        return 0;
    /* Without a zone the year stands in its place. */
    const char *year = words->pdata[words->len > 5 ? 5 : 4], *named = words->len > 5 ? words->pdata[4] : "UTC";
    g_autofree char *date = g_strdup_printf("%s %s %s %s %s", (char *)words->pdata[2], (char *)words->pdata[1], year,
                                            (char *)words->pdata[3], named);
    return date_parse(date, &seconds, &zone) ? seconds : 0;
}

void old_page_read(const char *octets, size_t length, OldPage *page)
{
    static const char *const ends[] = {"<!--X-Head-End-->", "<!--beginarticle-->"};
    int zone;
    *page = (OldPage){0};
    g_autofree char *text = g_strndup(octets, MIN(length, OLD_PAGE_MAX)); /* up to a zero byte, which no page has */
    for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) { /* the mail's own text, in which anything may stand */
        char *end = strstr(text, ends[i]);
        if (end)
            *end = '\0';
    }
    if (strstr(text, "<!--X-Subject:")) {
        g_autofree char *date = comment(text, "X-Date");
        page->message_id = bare_id(comment(text, "X-Message-Id"));
        page->subject = comment(text, "X-Subject");
        if (date && !date_parse(date, &page->date, &zone))
            page->date = 0;
        return;
    }
    g_autofree char *date = between(text, "<I>", "</I>"), *subject = between(text, "<H1>", "</H1>");
    const char *made = strstr(text, "HREF=\"mailto:"); /* a subject has no bare quotation mark */
    page->message_id = made ? read_answer_to(made) : NULL;
    page->subject = subject ? plain(g_steal_pointer(&subject)) : NULL;
    page->date = date ? read_time(date) : 0;
}
