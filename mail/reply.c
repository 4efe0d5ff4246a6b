/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/reply.h"

#include <string.h>

#include "mail/header.h"
#include "mail/mime.h"

#define LABEL_CHARS 24  /* of a label such as "Gesendet" in a header block */
#define ATTRIBUTION 160 /* characters of a line such as "On Monday, Anne wrote:", which may be folded once */

/* What mail programs put before the Subject of an answer. */
static const char *const reply_words[] = {
    "re", "aw", "antw", "antwort", "sv", "vs", "ref", "odp", "rif", "r", "res", "ynt", "tr", "fwd", "fw", "wg",
    "回复", "回覆", "答复", "答覆", "返信", "转发", "轉寄", NULL,
};

/* The length of "Re:", "AW[2] :" and the like at the start of subject; 0: there is none. */
static size_t prefix_length(const char *subject)
{
    for (const char *const *word = reply_words; *word; word++) {
        size_t length = strlen(*word);
        if (g_ascii_strncasecmp(subject, *word, length) != 0)
            continue;
        const char *at = subject + length;
        if (*at == '[' || *at == '(') {
            at++;
            at += strspn(at, "0123456789");
            at += *at == ']' || *at == ')';
        }
        at += strspn(at, " ");
        size_t colon = *at == ':' ? 1 : g_str_has_prefix(at, "：") ? strlen("：") : 0;
        if (colon > 0)
            return (size_t)(at - subject) + colon;
    }
    return 0;
}

char *reply_subject(const Message *message)
{
    g_autofree char *raw = message_value(message, "Subject");
    g_autofree char *decoded = header_decode(raw ? raw : "");
    const char *subject = decoded;
    for (;;) {
        while (g_unichar_isspace(g_utf8_get_char(subject)))
            subject = g_utf8_next_char(subject);
        size_t length = prefix_length(subject);
        if (length == 0)
            return g_strstrip(g_strdup(subject));
        subject += length;
    }
}

/* Puts a quoted line in the place of what an HTML mail quotes, so that it is known for what it is without its tags. */
static void mark_quotes(GString *html)
{
    g_autofree char *lower = g_ascii_strdown(html->str, (gssize)html->len);
    const char *start = strstr(lower, "<blockquote"), *end = start ? g_strrstr(start, "</blockquote>") : NULL;
    if (!start)
        return;
    size_t from = (size_t)(start - lower);
    g_string_erase(html, (gssize)from, end ? (gssize)(end - start) : -1);
    g_string_insert(html, (gssize)from, "<br>&gt; <br>");
}

GString *reply_text(GBytes *message)
{
    size_t length;
    const char *octets = g_bytes_get_data(message, &length);
    g_autoptr(GPtrArray) parts = mime_parts(octets, length);
    const MimePart *html = NULL;
    for (unsigned at = 0; at < parts->len; at++) {
        const MimePart *part = parts->pdata[at];
        if (part->inside)
            continue;
        if (g_str_equal(part->type, "text/plain"))
            return mime_text(part, REPLY_TEXT_MAX);
        if (!html && g_str_equal(part->type, "text/html"))
            html = part;
    }
    if (!html)
        return NULL;
    GString *raw = mime_text(html, REPLY_TEXT_MAX);
    mark_quotes(raw);
    GString *text = mime_strip_html(raw);
    g_string_free(raw, TRUE);
    return text;
}

/* ---- lines ---- */

/* "From: Anne", "*Gesendet:* Montag": a label, a colon, a value. */
static bool is_labelled(const char *line)
{
    const char *colon = line ? strpbrk(line, ":") : NULL;
    return colon && colon > line && g_utf8_strlen(line, colon - line) <= LABEL_CHARS && colon[1] != '/' && colon[1];
}

/* Does the original begin here, unquoted: "-----Original Message-----", a rule of underscores, or the block of From,
 * Sent, To, Subject that Outlook copies? */
static bool begins_original(char *const *lines)
{
    const char *line = *lines;
    size_t length = strlen(line);
    if (length >= 12 && g_str_has_prefix(line, "----") && g_str_has_suffix(line, "----") &&
        strspn(line, "-") < length)
        return true;
    if (length >= 10 && strspn(line, "_") == length)
        return true;
    if (!is_labelled(line) || !lines[1] || !is_labelled(lines[1]) || !lines[2] || !is_labelled(lines[2]))
        return false;
    return strchr(lines[0], '@') || strchr(lines[1], '@') || strchr(lines[2], '@');
}

static const char *last_of(const GPtrArray *lines)
{
    return lines->len > 0 ? lines->pdata[lines->len - 1] : "";
}

static void drop_empty(GPtrArray *lines)
{
    while (lines->len > 0 && !*last_of(lines))
        g_ptr_array_set_size(lines, (int)lines->len - 1);
}

/* Takes "On Monday, Anne <anne@example.org> wrote:" away, which stands above quoted lines and may be folded. */
static void drop_attribution(GPtrArray *lines)
{
    drop_empty(lines);
    const char *last = last_of(lines);
    if ((!g_str_has_suffix(last, ":") && !g_str_has_suffix(last, "：")) || g_utf8_strlen(last, -1) > ATTRIBUTION)
        return;
    g_ptr_array_set_size(lines, (int)lines->len - 1);
    const char *before = last_of(lines);
    if (strchr(before, '@') || strpbrk(before, "0123456789"))
        g_ptr_array_set_size(lines, (int)lines->len - 1);
    drop_empty(lines);
}

static bool is_signature(const char *line)
{
    return g_str_equal(line, "-- ") || g_str_equal(line, "-- \r") || g_str_equal(line, "--");
}

GPtrArray *reply_own_lines(const char *text)
{
    GPtrArray *own = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    g_auto(GStrv) lines = g_strsplit(valid, "\n", -1);
    bool quoted = false;
    for (char **at = lines; *at; at++)
        if (!is_signature(*at))
            g_strstrip(*at);
    for (char **at = lines; *at; at++) {
        if (is_signature(*at) || begins_original(at))
            break;
        if (**at == '>' || **at == '|') {
            if (!quoted)
                drop_attribution(own);
            quoted = true;
            continue;
        }
        quoted = quoted && !**at;
        if (**at || (own->len > 0 && *last_of(own)))
            g_ptr_array_add(own, g_strdup(*at));
    }
    drop_empty(own);
    return own;
}
