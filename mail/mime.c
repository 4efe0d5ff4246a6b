/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/mime.h"

#include <string.h>

#define DEPTH_LIMIT 12
#define PART_LIMIT 200
#define BOUNDARY_LIMIT 200

typedef struct Walk {
    GPtrArray *parts;
    unsigned depth;
    bool inside;
} Walk;

static void part_free(void *data)
{
    MimePart *part = data;
    g_free(part->type);
    g_free(part->charset);
    g_free(part->encoding);
    g_free(part);
}

static bool is_name(const char *line, size_t length)
{
    size_t at = 0;
    while (at < length && line[at] > ' ' && line[at] < 127 && line[at] != ':')
        at++;
    while (at > 0 && at < length && (line[at] == ' ' || line[at] == '\t'))
        at++;
    return at > 0 && at < length && line[at] == ':';
}

static size_t line_length(const char *at, const char *end)
{
    const char *feed = memchr(at, '\n', (size_t)(end - at));
    return feed ? (size_t)(feed - at) + 1 : (size_t)(end - at);
}

size_t mime_head(const char *octets, size_t length)
{
    const char *end = octets + length, *at = octets;
    bool any = false;
    while (at < end) {
        size_t line = line_length(at, end);
        if (at[0] == '\n' || (at[0] == '\r' && (line == 1 || at[1] == '\n')))
            return any ? (size_t)(at - octets) + line : 0;
        bool first = at == octets && line > 5 && memcmp(at, "From ", 5) == 0;
        if (!first && !(any && (at[0] == ' ' || at[0] == '\t')) && !is_name(at, line))
            return any ? (size_t)(at - octets) : 0;
        any = true;
        at += line;
    }
    return length;
}

static char *unfold(const char *at, const char *end)
{
    while (at < end && g_ascii_isspace(*at))
        at++;
    while (at < end && g_ascii_isspace(end[-1]))
        end--;
    GString *value = g_string_sized_new((size_t)(end - at));
    for (; at < end; at++) {
        if (*at != '\r' && *at != '\n' && *at != '\0')
            g_string_append_c(value, *at == '\t' ? ' ' : *at);
    }
    return g_string_free(value, FALSE);
}

char *mime_field(const char *head, size_t length, const char *name)
{
    const char *end = head + length, *at = head;
    size_t wanted = strlen(name);
    while (at < end) {
        size_t line = line_length(at, end);
        if (line > wanted && ((*at ^ *name) & 0xdf) == 0 && g_ascii_strncasecmp(at, name, wanted) == 0) {
            const char *colon = at + wanted;
            while (colon < at + line && (*colon == ' ' || *colon == '\t'))
                colon++;
            if (*colon == ':') {
                const char *stop = at + line;
                while (stop < end && (*stop == ' ' || *stop == '\t'))
                    stop += line_length(stop, end);
                return unfold(colon + 1, stop);
            }
        }
        at += line;
    }
    return NULL;
}

char *mime_parameter(const char *value, const char *name)
{
    size_t wanted = strlen(name);
    for (const char *at = strchr(value, ';'); at; at = strchr(at, ';')) {
        at++;
        at += strspn(at, " \t;");
        if (g_ascii_strncasecmp(at, name, wanted) != 0)
            continue;
        const char *equal = at + wanted + strspn(at + wanted, " \t");
        if (*equal != '=')
            continue;
        equal += 1 + strspn(equal + 1, " \t");
        if (*equal == '"') {
            const char *quote = strchr(equal + 1, '"');
            return quote ? g_strndup(equal + 1, (size_t)(quote - equal - 1)) : g_strdup(equal + 1);
        }
        return g_strndup(equal, strcspn(equal, "; \t"));
    }
    return NULL;
}

static char *first_word(const char *value)
{
    return g_ascii_strdown(value, (gssize)strcspn(value, "; \t"));
}

static void walk(Walk place, const char *octets, size_t length);

/* The next line that is the boundary, at or after at; NULL when there is none. */
static const char *next_boundary(const char *at, const char *end, const char *boundary)
{
    g_autofree char *mark = g_strconcat("--", boundary, NULL);
    size_t length = strlen(mark);
    for (bool first = true; at < end; first = false) {
        if (first && (size_t)(end - at) >= length && memcmp(at, mark, length) == 0)
            return at;
        const char *found = memmem(at, (size_t)(end - at), mark, length);
        if (!found)
            return NULL;
        if (found[-1] == '\n')
            return found;
        at = found + 1;
    }
    return NULL;
}

static bool walk_multipart(Walk place, const MimePart *part, const char *boundary)
{
    const char *end = part->body + part->body_length;
    const char *at = next_boundary(part->body, end, boundary);
    size_t length = strlen(boundary) + 2;
    if (!at)
        return false;
    place.depth++;
    while (at && place.parts->len < PART_LIMIT) {
        bool last = (size_t)(end - at) >= length + 2 && memcmp(at + length, "--", 2) == 0 &&
                    ((size_t)(end - at) == length + 2 || g_ascii_isspace(at[length + 2]));
        const char *start = at + line_length(at, end);
        if (last)
            break;
        at = start < end ? next_boundary(start, end, boundary) : NULL;
        walk(place, start, (size_t)((at ? at : end) - start));
    }
    return true;
}

static MimePart *part_new(Walk place, const char *octets, size_t length)
{
    MimePart *part = g_new0(MimePart, 1);
    part->head = octets;
    part->head_length = mime_head(octets, length);
    size_t skip = part->head_length;
    if (skip == 0 && length > 0 && octets[0] == '\n')
        skip = 1;
    else if (skip == 0 && length > 1 && octets[0] == '\r' && octets[1] == '\n')
        skip = 2;
    part->body = octets + skip;
    part->body_length = length - skip;
    part->inside = place.inside;
    return part;
}

static void walk(Walk place, const char *octets, size_t length)
{
    if (place.parts->len >= PART_LIMIT)
        return;
    MimePart *part = part_new(place, octets, length);
    g_autofree char *type = mime_field(part->head, part->head_length, "Content-Type");
    g_autofree char *encoding = mime_field(part->head, part->head_length, "Content-Transfer-Encoding");
    g_autofree char *charset = type ? mime_parameter(type, "charset") : NULL;
    part->typed = type && strchr(type, '/');
    part->type = part->typed ? first_word(type) : g_strdup("text/plain");
    part->charset = charset ? g_ascii_strdown(charset, -1) : g_strdup("");
    part->encoding = encoding ? first_word(encoding) : g_strdup("");
    g_ptr_array_add(place.parts, part);
    if (place.inside || place.depth >= DEPTH_LIMIT)
        return;
    if (g_str_has_prefix(part->type, "multipart/")) {
        g_autofree char *boundary = mime_parameter(type, "boundary");
        bool split =
            boundary && *boundary && strlen(boundary) <= BOUNDARY_LIMIT && walk_multipart(place, part, boundary);
        if (!split && part != place.parts->pdata[0]) {
            g_free(part->type);
            part->type = g_strdup("text/plain"); /* what nobody can split is read as it is */
        }
        return;
    }
    if (strcmp(part->type, "message/rfc822") == 0 || strcmp(part->type, "message/global") == 0) {
        place.inside = true;
        place.depth++;
        walk(place, part->body, part->body_length);
    }
}

GPtrArray *mime_parts(const char *octets, size_t length)
{
    Walk place = {.parts = g_ptr_array_new_with_free_func(part_free)};
    walk(place, octets ? octets : "", length);
    return place.parts;
}

static int hex(char digit)
{
    return g_ascii_isxdigit(digit) ? g_ascii_xdigit_value(digit) : -1;
}

static void decode_quoted(const char *at, const char *end, GString *out)
{
    for (; at < end; at++) {
        if (*at != '=') {
            g_string_append_c(out, *at);
            continue;
        }
        const char *next = at + 1;
        while (next < end && (*next == ' ' || *next == '\t' || *next == '\r'))
            next++;
        if (next < end && *next == '\n') {
            at = next;
        } else if (end - at > 2 && hex(at[1]) >= 0 && hex(at[2]) >= 0) {
            g_string_append_c(out, (char)(hex(at[1]) * 16 + hex(at[2])));
            at += 2;
        } else {
            g_string_append_c(out, '=');
        }
    }
}

static void decode_base64(const char *at, size_t length, GString *out)
{
    int state = 0;
    guint save = 0;
    gsize start = out->len;
    g_string_set_size(out, start + length / 4 * 3 + 3);
    gsize size = g_base64_decode_step(at, length, (guchar *)out->str + start, &state, &save);
    g_string_set_size(out, start + size);
}

/* Charsets in which ASCII octets are not, or not always, ASCII. */
static bool is_stateful(const char *charset)
{
    return strstr(charset, "2022") || strstr(charset, "utf-7") || strstr(charset, "utf-16") || strstr(charset, "hz");
}

static GString *to_utf8(GString *raw, const char *charset)
{
    bool stateful = is_stateful(charset) && (strstr(charset, "utf-16") || strpbrk(raw->str, "\033\016+~"));
    if (!stateful && g_utf8_validate_len(raw->str, raw->len, NULL))
        return raw;
    const char *from = strstr(charset, "utf-7") ? "UTF-7" : *charset ? charset : "WINDOWS-1252";
    gsize written;
    g_autofree char *text =
        g_convert_with_fallback(raw->str, (gssize)raw->len, "UTF-8", from, "?", NULL, &written, NULL);
    if (!text && !stateful)
        text = g_convert_with_fallback(raw->str, (gssize)raw->len, "UTF-8", "ISO-8859-1", "?", NULL, &written, NULL);
    if (!text) {
        text = g_utf8_make_valid(raw->str, (gssize)raw->len);
        written = strlen(text);
    }
    g_string_free(raw, TRUE);
    return g_string_new_len(text, (gssize)written);
}

GString *mime_text(const MimePart *part, size_t limit)
{
    size_t length = MIN(part->body_length, limit);
    GString *raw = g_string_sized_new(length + 1);
    if (strcmp(part->encoding, "quoted-printable") == 0)
        decode_quoted(part->body, part->body + length, raw);
    else if (strcmp(part->encoding, "base64") == 0)
        decode_base64(part->body, length, raw);
    else
        g_string_append_len(raw, part->body, (gssize)length);
    GString *text = to_utf8(raw, part->charset);
    if (!memchr(text->str, '\r', text->len) && !memchr(text->str, '\0', text->len))
        return text;
    gsize to = 0;
    for (gsize at = 0; at < text->len; at++) {
        char octet = text->str[at];
        if (octet == '\r' && at + 1 < text->len && text->str[at + 1] == '\n')
            continue;
        text->str[to++] = octet == '\0' ? ' ' : octet == '\r' ? '\n' : octet;
    }
    g_string_truncate(text, to);
    return text;
}
