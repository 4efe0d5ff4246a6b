/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/archived_text.h"

#include <stdbool.h>
#include <string.h>

#include "mail/mime.h"
#include "store/archive_index.h"

#define LINE_WITHOUT_BLANK 60 /* bytes */

static bool is_attachment(const MimePart *part)
{
    g_autofree char *disposition = mime_field(part->head, part->head_length, "Content-Disposition");
    return disposition && g_ascii_strncasecmp(disposition, "attachment", strlen("attachment")) == 0;
}

static bool is_plain(const MimePart *part)
{
    return strcmp(part->type, "text/plain") == 0 || strcmp(part->type, "text") == 0;
}

static bool is_kept(const char *line, size_t length)
{
    size_t blanks = 0;
    while (blanks < length && (line[blanks] == ' ' || line[blanks] == '\t'))
        blanks++;
    if (blanks < length && line[blanks] == '>')
        return false;
    return length < LINE_WITHOUT_BLANK || memchr(line, ' ', length) || !g_ascii_isprint(line[0]) ||
           strncmp(line, "http", 4) == 0;
}

static void add_lines(GString *text, const GString *all)
{
    const char *end = all->str + all->len;
    for (const char *line = all->str; line < end && text->len < ARCHIVE_TEXT_MAX;) {
        const char *feed = memchr(line, '\n', (size_t)(end - line));
        const char *next = feed ? feed + 1 : end;
        if (is_kept(line, (size_t)(next - line)))
            g_string_append_len(text, line, next - line);
        line = next;
    }
    g_string_append_c(text, '\n');
}

static void add_part(GString *text, const MimePart *part)
{
    GString *all = mime_text(part, ARCHIVE_TEXT_MAX);
    if (strcmp(part->type, "text/html") == 0) {
        GString *plain = mime_strip_html(all);
        g_string_free(all, TRUE);
        all = plain;
    }
    add_lines(text, all);
    g_string_free(all, TRUE);
}

char *archived_text(const char *octets, size_t length, int64_t *attachments)
{
    g_autoptr(GPtrArray) parts = mime_parts(octets, length);
    GString *text = g_string_new(NULL);
    bool plain = false;
    *attachments = 0;
    for (guint i = 0; i < parts->len; i++)
        plain = plain || (is_plain(parts->pdata[i]) && !is_attachment(parts->pdata[i]));
    for (guint i = 0; i < parts->len; i++) {
        const MimePart *part = parts->pdata[i];
        bool html = strcmp(part->type, "text/html") == 0;
        if (g_str_has_prefix(part->type, "multipart/") || part->inside)
            continue;
        if (!(is_plain(part) || html) || is_attachment(part))
            ++*attachments;
        else if (text->len < ARCHIVE_TEXT_MAX && !(html && plain))
            add_part(text, part);
    }
    g_autofree char *valid = g_utf8_make_valid(text->str, (gssize)MIN(text->len, ARCHIVE_TEXT_MAX));
    g_string_free(text, TRUE);
    return g_steal_pointer(&valid);
}
