/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/mime/mime.h"

#include <stdint.h>
#include <string.h>

#include "mail/charset.h"
#include "mail/mime/parameter.h"
#include "mail/transfer.h"

#define DEPTH_LIMIT 12
#define PART_LIMIT 200
#define BOUNDARY_LIMIT 200

typedef struct PartWalk {
    GPtrArray *parts;
    unsigned depth, most; /* parts */
    bool inside;
    bool digest; /* in a multipart/digest: parts without a type are messages (RFC 2046, 5.1.5) */
} PartWalk;

static void part_free(void *data)
{
    MimePart *part = data;
    g_free(part->type);
    g_free(part->own_charset);
    g_free(part->own_encoding);
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
        bool first = at == octets && line > 6 && memcmp(at + (*at == '>'), "From ", 5) == 0;
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
    char *value = g_malloc((gsize)(end - at) + 1), *to = value;
    for (; at < end; at++)
        if (*at != '\r' && *at != '\n' && *at != '\0')
            *to++ = *at == '\t' ? ' ' : *at;
    *to = '\0';
    return value;
}

/* In place of g_ascii_strncasecmp(), which calls a function for each octet. */
static bool same_letters(const char *a, const char *b, size_t length)
{
    for (size_t at = 0; at < length; at++)
        if (a[at] != b[at] && ((a[at] | 0x20) != (b[at] | 0x20) || !g_ascii_isalpha(b[at])))
            return false;
    return true;
}

/* Does the line at begin with the field name? Its value's beginning, else NULL. */
static const char *field_value(const char *at, size_t line, const MimeField *field)
{
    if (line <= field->length || ((*at ^ *field->name) & 0xdf) != 0 ||
        ((at[field->length - 1] ^ field->name[field->length - 1]) & 0xdf) != 0 ||
        !same_letters(at, field->name, field->length))
        return NULL;
    const char *colon = at + field->length;
    while (colon < at + line && (*colon == ' ' || *colon == '\t'))
        colon++;
    return colon < at + line && *colon == ':' ? colon + 1 : NULL;
}

void mime_fields(const char *head, size_t length, MimeField *fields, size_t count)
{
    const char *end = head + length, *at = head;
    size_t missing = count;
    uint32_t initials = 0; /* of a letter only the lower five bits, so that case does not matter */
    for (size_t i = 0; i < count; i++)
        initials |= UINT32_C(1) << (*fields[i].name & 31);
    while (at < end && missing > 0) {
        size_t line = line_length(at, end);
        bool perhaps = initials >> (*at & 31) & 1;
        for (size_t i = 0; perhaps && i < count; i++) {
            const char *value = fields[i].value ? NULL : field_value(at, line, &fields[i]);
            if (!value)
                continue;
            const char *stop = at + line;
            while (stop < end && (*stop == ' ' || *stop == '\t'))
                stop += line_length(stop, end);
            fields[i].value = unfold(value, stop);
            missing--;
        }
        at += line;
    }
}

char *mime_field(const char *head, size_t length, const char *name)
{
    MimeField field = {.name = name, .length = strlen(name)};
    mime_fields(head, length, &field, 1);
    return field.value;
}

static char *lower_all(char *value)
{
    for (char *at = value; *at; at++)
        *at = g_ascii_isupper(*at) ? (char)(*at | 0x20) : *at;
    return value;
}

/* Cuts value behind its first word, in lower case. */
static char *first_word(char *value)
{
    value[strcspn(value, "; \t")] = '\0';
    return lower_all(value);
}

static void walk(PartWalk place, const char *octets, size_t length);

/* The next line that begins with mark, at or after at; NULL when there is none. */
static const char *next_boundary(const char *at, const char *end, const char *mark, size_t length)
{
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

static bool walk_multipart(PartWalk place, const MimePart *part, const char *boundary)
{
    const char *end = part->body + part->body_length;
    g_autofree char *mark = g_strconcat("--", boundary, NULL);
    size_t length = strlen(mark);
    const char *at = next_boundary(part->body, end, mark, length);
    if (!at)
        return false;
    place.depth++;
    while (at && place.parts->len < place.most) {
        bool last = (size_t)(end - at) >= length + 2 && memcmp(at + length, "--", 2) == 0 &&
                    ((size_t)(end - at) == length + 2 || g_ascii_isspace(at[length + 2]));
        const char *start = at + line_length(at, end);
        if (last)
            break;
        at = start < end ? next_boundary(start, end, mark, length) : NULL;
        walk(place, start, (size_t)((at ? at : end) - start));
    }
    return true;
}

/* Of the mail that came back only who needs it looks at the head. */
static MimePart *part_new(PartWalk place, const char *octets, size_t length)
{
    MimePart *part = g_new0(MimePart, 1);
    part->head = octets;
    part->head_length = place.inside ? 0 : mime_head(octets, length);
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

static void walk(PartWalk place, const char *octets, size_t length)
{
    if (place.parts->len >= place.most)
        return;
    MimePart *part = part_new(place, octets, length);
    MimeField fields[] = {MIME_FIELD("Content-Type"), MIME_FIELD("Content-Transfer-Encoding")};
    mime_fields(part->head, part->head_length, fields, G_N_ELEMENTS(fields));
    char *type = fields[0].value;
    g_autoptr(ContentType) content = type ? content_type_parse(type) : NULL;
    part->own_charset = content ? content_type_first(content, "charset") : NULL;
    part->charset = part->own_charset ? lower_all(part->own_charset) : "";
    part->own_encoding = fields[1].value;
    part->encoding = part->own_encoding ? first_word(part->own_encoding) : "";
    g_autofree char *boundary =
        type && g_ascii_strncasecmp(type, "multipart/", 10) == 0 ? content_type_first(content, "boundary") : NULL;
    part->typed = type && strchr(type, '/');
    part->type = part->typed ? first_word(type) : g_strdup(!type && place.digest ? "message/rfc822" : "text/plain");
    if (!part->typed)
        g_free(type);
    g_ptr_array_add(place.parts, part);
    if (place.inside || place.depth >= DEPTH_LIMIT)
        return;
    if (g_str_has_prefix(part->type, "multipart/")) {
        place.digest = strcmp(part->type, "multipart/digest") == 0;
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
        place.digest = false;
        place.depth++;
        walk(place, part->body, part->body_length);
    }
}

GPtrArray *mime_parts_most(const char *octets, size_t length, unsigned most)
{
    PartWalk place = {.parts = g_ptr_array_new_with_free_func(part_free), .most = most};
    walk(place, octets ? octets : "", length);
    return place.parts;
}

GPtrArray *mime_parts(const char *octets, size_t length)
{
    return mime_parts_most(octets, length, PART_LIMIT);
}

guint mime_parts_behind(const GPtrArray *parts, guint at)
{
    const MimePart *container = parts->pdata[at], *part;
    do {
        part = ++at < parts->len ? parts->pdata[at] : NULL;
    } while (part && part->head >= container->body && part->head < container->body + container->body_length);
    return at;
}

GString *mime_text(const MimePart *part, size_t limit)
{
    size_t length = MIN(part->body_length, limit);
    GString *raw = g_string_sized_new(length + 1);
    if (strcmp(part->encoding, "quoted-printable") == 0)
        transfer_decode_quoted(part->body, length, raw);
    else if (strcmp(part->encoding, "base64") == 0)
        transfer_decode_base64(part->body, length, raw);
    else
        g_string_append_len(raw, part->body, (gssize)length);
    /* Many programs write one of these labels without a look at the text. */
    const char *label = charset_same(part->charset, "us-ascii") ? "" : part->charset;
    GString *text = g_string_sized_new(raw->len);
    charset_decode(label, raw->str, raw->len, length < part->body_length, text);
    g_string_free(raw, TRUE);
    if (!memchr(text->str, '\r', text->len) && !memchr(text->str, '\0', text->len))
        return text;
    char *to = text->str;
    const char *end = text->str + text->len;
    for (const char *at = text->str; at < end; at++) {
        if (*at == '\r' && at[1] == '\n')
            continue;
        *to++ = *at;
        if ((unsigned char)*at <= '\r' && (*at == '\0' || *at == '\r'))
            to[-1] = *at ? '\n' : ' ';
    }
    g_string_truncate(text, (gsize)(to - text->str));
    return text;
}
