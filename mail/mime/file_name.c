/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/mime/file_name.h"

#include <string.h>

#include "mail/header.h"
#include "mail/mime/parameter.h"
#include "mail/visible.h"

static void file_name_free(void *data)
{
    FileName *name = data;
    g_free(name->text);
    g_free(name);
}

GPtrArray *file_names_new(void)
{
    return g_ptr_array_new_with_free_func(file_name_free);
}

static void append(GPtrArray *names, const char *text, bool certain)
{
    FileName *name = g_new(FileName, 1);
    *name = (FileName){header_decode(text), certain};
    g_ptr_array_add(names, name);
}

/* Append the text as a name, and what programs may make of it. */
static void append_readings(GPtrArray *names, const char *text, bool certain)
{
    append(names, text, certain);
    g_autofree char *file = strchr(text, ':') ? g_strndup(text, strcspn(text, ":")) : NULL;
    if (file)
        append(names, file, false); /* "x.exe:y.txt" is a stream of the file "x.exe" to Windows */
    g_autofree char *decoded = strchr(text, '%') ? g_uri_unescape_string(text, NULL) : NULL;
    if (decoded && g_utf8_validate(decoded, -1, NULL))
        append(names, decoded, false);
}

/* By the grammar: each parameter, as a whole or in pieces. */
static void add_parameters(GPtrArray *names, const char *value, bool certain)
{
    static const char *const parameters[] = {"filename", "name"};
    g_autoptr(ContentType) type = content_type_parse(value);
    for (size_t at = 0; at < G_N_ELEMENTS(parameters); at++) {
        g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
        content_type_texts(type, parameters[at], texts);
        for (guint text = 0; text < texts->len; text++)
            append_readings(names, texts->pdata[text], certain);
    }
}

/* Without a grammar: all from the sign behind "name", or "name*1*", to the next semicolon. */
static void add_rests(GPtrArray *names, const char *value)
{
    for (const char *at = value; (at = strcasestr(at, "name"));) {
        at += strlen("name");
        const char *sign = at + strspn(at, "*0123456789 \t\"");
        if (*sign != '=')
            continue;
        at = sign + strcspn(sign, ";");
        g_autofree char *rest = g_strndup(sign + 1, (gsize)(at - sign - 1));
        g_auto(GStrv) pieces = g_strsplit(rest, "\"", -1);
        g_autofree char *text = g_strjoinv("", pieces);
        append_readings(names, g_strstrip(text), false);
    }
}

/* The value without line ends, and without the blanks behind them if those go, too. */
static char *unfold(const char *value, bool blanks)
{
    GString *text = g_string_new(NULL);
    for (const char *at = value; *at; at++) {
        if (*at != '\r' && *at != '\n')
            g_string_append_c(text, *at);
        else if (blanks)
            at += strspn(at + 1, "\r\n \t");
    }
    return g_string_free(text, FALSE);
}

void file_names_add(GPtrArray *names, const char *field, const char *value)
{
    static const char *const fields[] = {"Content-Disposition", "Content-Type", "Content-Name", "X-Sun-Data-Name"};
    size_t kind = 0, length = strcspn(field, " \t");
    while (kind < G_N_ELEMENTS(fields) &&
           (g_ascii_strncasecmp(field, fields[kind], length) != 0 || strlen(fields[kind]) != length))
        kind++;
    if (kind == G_N_ELEMENTS(fields))
        return;
    g_autofree char *line = unfold(value, false), *tight = unfold(value, true);
    g_autofree char *decoded = strstr(line, "=?") ? header_decode(line) : NULL;
    if (kind >= 2)
        append_readings(names, g_strstrip(line), false);
    add_parameters(names, line, true);
    add_rests(names, line);
    if (strcmp(tight, line) != 0) {
        add_parameters(names, tight, false);
        add_rests(names, tight);
    }
    if (decoded && strcmp(decoded, line) != 0) { /* where encoded words hide a parameter */
        add_parameters(names, decoded, false);
        add_rests(names, decoded);
    }
}

char *file_name_ending(const char *given)
{
    /* As a person sees it: in its usual letters, without those that nobody sees. */
    g_autofree char *usual = g_utf8_normalize(given, -1, G_NORMALIZE_NFKC);
    g_autoptr(GString) name = g_string_new(NULL);
    for (const char *at = usual ? usual : given; *at; at = g_utf8_next_char(at))
        if (g_unichar_type(g_utf8_get_char(at)) != G_UNICODE_FORMAT)
            g_string_append_unichar(name, g_utf8_get_char(at));
    /* Some characters at the end get lost when the file is kept. */
    const char *end = name->str + name->len;
    while (end > name->str) {
        const char *before = g_utf8_prev_char(end);
        gunichar last = g_utf8_get_char(before);
        if (!g_unichar_isspace(last) && !g_unichar_iszerowidth(last) && !g_unichar_iscntrl(last) &&
            !(last < 128 && strchr(".\"'/\\", (int)last)))
            break;
        end = before;
    }
    const char *dot = memrchr(name->str, '.', (size_t)(end - name->str));
    return dot ? g_strndup(dot + 1, (size_t)(end - dot - 1)) : g_strdup("");
}

/* Does Windows take it for a device, whatever the ending? */
static bool is_device(const char *name)
{
    static const char *const devices[] = {"CON", "PRN", "AUX", "NUL", "COM", "LPT", "CONIN$", "CONOUT$"};
    g_autofree char *stem = g_strndup(name, strcspn(name, ". "));
    size_t letters = strlen(stem) - (strlen(stem) == 4 && g_ascii_isdigit(stem[3]));
    for (size_t at = 0; at < G_N_ELEMENTS(devices); at++) {
        bool numbered = at == 4 || at == 5;
        if (strlen(devices[at]) == letters && g_ascii_strncasecmp(stem, devices[at], letters) == 0 &&
            numbered == (strlen(stem) == 4))
            return true;
    }
    return false;
}

char *file_name_safe(const char *name, size_t most)
{
    g_autofree char *line = visible_line(name, 16 * 1024);
    for (char *at = line; *at; at++)
        if (strchr("<>:\"|?*`$;&'", *at))
            *at = '_';
    const char *start = line;
    for (const char *at = line; *at; at++)
        if (strchr("/\\", *at) && at[1])
            start = at + 1;
    while (*start && strchr(".- /\\~", *start))
        start++;
    size_t length = strcspn(start, "/\\");
    while (length > 0 && strchr(" .", start[length - 1]))
        length--;
    g_autofree char *bare = g_strndup(start, length);
    g_autofree char *whole = is_device(bare) ? g_strconcat("_", bare, NULL) : g_strdup(bare);
    size_t all = strlen(whole);
    if (all <= most)
        return g_steal_pointer(&whole);
    /* Cut before its ending, if that is a short one. */
    const char *dot = strrchr(whole, '.');
    size_t ending = dot && strlen(dot) <= most / 2 && strlen(dot) <= 16 ? strlen(dot) : 0;
    const char *cut = g_utf8_find_prev_char(whole, whole + most - ending + 1);
    g_autofree char *stem = g_strndup(whole, (gsize)(cut - whole));
    return g_strconcat(stem, whole + all - ending, NULL);
}
