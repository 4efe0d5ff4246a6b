/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/moving/mmdf.h"

#include <string.h>

#define SEPARATOR "\001\001\001\001\n"
#define FROM "From "

/* The first line is no header field: it has no name of printable characters with a colon behind it. */
static bool is_sender(const char *line, size_t length)
{
    size_t name = 0;
    while (name < length && line[name] > ' ' && line[name] < 0x7f && line[name] != ':')
        name++;
    return name == 0 || name == length || line[name] != ':';
}

static bool end_mail(GString *mail, MmdfEach *each, void *data, GError **error)
{
    if (mail->len == 0)
        return true;
    g_autoptr(GBytes) bytes = g_bytes_new(mail->str, mail->len);
    g_string_truncate(mail, 0);
    return each(bytes, data, error);
}

bool mmdf_each(GBytes *file, MmdfEach *each, void *data, GError **error)
{
    size_t length;
    const char *at = g_bytes_get_data(file, &length), *end = at + length;
    g_autoptr(GString) mail = g_string_new(NULL);
    bool first = false;
    while (at < end) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        size_t line = next ? (size_t)(next - at) + 1 : (size_t)(end - at);
        if (line == strlen(SEPARATOR) && memcmp(at, SEPARATOR, line) == 0) {
            if (!end_mail(mail, each, data, error))
                return false;
            first = true;
        } else {
            /* A line that begins with "From " was written with a '>' before it. */
            bool quoted = line > strlen(FROM) && *at == '>' && memcmp(at + 1, FROM, strlen(FROM)) == 0;
            if (!first || !is_sender(at, line))
                g_string_append_len(mail, at + quoted, (gssize)(line - quoted));
            first = false;
        }
        at += line;
    }
    return end_mail(mail, each, data, error);
}
