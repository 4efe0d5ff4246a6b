/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* A post as plain text, for digests of RFC 1153. */
#include <inttypes.h>
#include <string.h>

#include "mail/header.h"
#include "mail/message.h"
#include "mail/mime/mime.h"
#include "mail/mime/parameter.h"
#include "mail/text/issue_internal.h"
#include "mail/text/template.h"

#define DEPTH_MAX 5            /* of messages within messages */
#define TEXT_MAX ((size_t)-1)

/* The fields that RFC 1153 keeps, in its order. */
static const char *const kept[] = {"Date", "From", "To", "Cc", "Subject", "Message-ID", "Keywords"};

static void put_field(FILE *stream, const Field *field, const char *name)
{
    g_autofree char *raw = field_value(field);
    g_autofree char *text = header_show(raw);
    g_autofree char *line = g_strdup_printf("%s: %s", name, text);
    /* A long line goes on in the next one behind a blank. A word that begins at a blank stays a fold. */
    for (char *at = line, *next; *at; at = next) {
        size_t length = strlen(at);
        next = at + length;
        if (length > ISSUE_LINE) {
            next = at + ISSUE_LINE;
            while (next > at + 1 && *next != ' ' && next > at + ISSUE_LINE / 2)
                next--;
            if (*next != ' ') {
                next = g_utf8_find_prev_char(at, at + ISSUE_LINE + 1);
                fprintf(stream, "%.*s\r\n ", (int)(next - at), at);
                continue;
            }
        }
        fprintf(stream, "%.*s\r\n", (int)(next - at), at);
    }
}

static void put_fields(FILE *stream, const Message *message)
{
    for (size_t name = 0; name < G_N_ELEMENTS(kept); name++) {
        size_t index = 0;
        for (const Field *field; (field = message_find(message, kept[name], &index)); index++)
            put_field(stream, field, kept[name]);
    }
    fputs("\r\n", stream);
}

/* A text without the empty lines around it, in which no line looks like the one between two posts. */
static void put_body(FILE *stream, const GString *text)
{
    const char *at = text->str, *end = text->str + text->len;
    for (const char *line = at; line < end && g_ascii_isspace(*line); line++)
        if (*line == '\n')
            at = line + 1;
    while (end > at && g_ascii_isspace(end[-1]))
        end--;
    while (at < end) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((feed ? feed : end) - at);
        if (length == strlen(ISSUE_RULE_30) && memcmp(at, ISSUE_RULE_30, length) == 0)
            fputs(" " /* in place of the first hyphen */, stream), at++, length--;
        issue_put_line(stream, at, length);
        at += length + (feed != NULL);
    }
}

/* The name that a part was sent with; g_free(), NULL: none. */
static char *name_of(const MimePart *part)
{
    static const char *const places[][2] = {{"Content-Disposition", "filename"}, {"Content-Type", "name"}};
    for (size_t at = 0; at < G_N_ELEMENTS(places); at++) {
        g_autofree char *value = mime_field(part->head, part->head_length, places[at][0]);
        g_autoptr(ContentType) type = value ? content_type_parse(value) : NULL;
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        if (type)
            content_type_texts(type, places[at][1], names);
        if (names->len > 0 && *(char *)names->pdata[0])
            return header_decode(names->pdata[0]);
    }
    return NULL;
}

static void put_left_out(FILE *stream, const char *sentence, const MimePart *part)
{
    g_autofree char *name = name_of(part), *brief = template_brief(name ? name : "-");
    g_autofree char *type = template_brief(part->type);
    g_autofree char *size = g_strdup_printf("%zu", part->body_length);
    const TemplateValue values[] = {{"type", type}, {"name", brief}, {"size", size}, {0}};
    g_autofree char *text = template_fill(sentence, values);
    issue_put_line(stream, text, strlen(text));
}

static bool is_text(const MimePart *part)
{
    return strcmp(part->type, "text/plain") == 0 || strcmp(part->type, "text") == 0;
}

/* Of several forms of one content the plain text, else the first that is HTML; -1: none. */
static gssize best_of(const GPtrArray *parts, guint from, guint to)
{
    gssize html = -1;
    for (guint at = from; at < to; at++) {
        const MimePart *part = parts->pdata[at];
        if (is_text(part))
            return (gssize)at;
        if (html < 0 && strcmp(part->type, "text/html") == 0)
            html = (gssize)at;
    }
    return html;
}

static void put_message(FILE *stream, const char *left_out, GBytes *octets, unsigned depth);

static void put_text_part(FILE *stream, const MimePart *part)
{
    GString *text = mime_text(part, TEXT_MAX);
    if (strcmp(part->type, "text/html") == 0) {
        GString *stripped = mime_html_text(text);
        g_string_free(text, TRUE);
        text = stripped;
    }
    g_autofree char *valid = g_utf8_validate(text->str, (gssize)text->len, NULL)
                                 ? NULL : g_utf8_make_valid(text->str, (gssize)text->len);
    if (valid)
        g_string_assign(text, valid);
    put_body(stream, text);
    g_string_free(text, TRUE);
}

/* Shows the part at *at, and moves *at behind what it showed. */
static void put_part(FILE *stream, const char *left_out, const GPtrArray *parts, guint *at, unsigned depth)
{
    const MimePart *part = parts->pdata[*at];
    guint next = part->next;
    if (strcmp(part->type, "multipart/alternative") == 0) {
        gssize best = best_of(parts, *at + 1, next);
        if (best >= 0)
            put_text_part(stream, parts->pdata[best]);
        else
            put_left_out(stream, left_out, part);
    } else if (g_str_has_prefix(part->type, "multipart/") && next > *at + 1) {
        next = *at + 1; /* what it holds comes one by one */
    } else if (strcmp(part->type, "message/rfc822") == 0 && depth < DEPTH_MAX) {
        g_autoptr(GBytes) inner = g_bytes_new_static(part->body, part->body_length);
        put_message(stream, left_out, inner, depth + 1);
    } else if (is_text(part) || strcmp(part->type, "text/html") == 0) {
        put_text_part(stream, part);
    } else if (g_str_has_prefix(part->type, "multipart/")) {
        g_autoptr(GString) text = mime_text(part, TEXT_MAX); /* it could not be split: as it is */
        g_autofree char *valid = g_utf8_make_valid(text->str, (gssize)text->len);
        g_string_assign(text, valid);
        put_body(stream, text);
    } else {
        put_left_out(stream, left_out, part);
    }
    *at = next;
}

static void put_message(FILE *stream, const char *left_out, GBytes *octets, unsigned depth)
{
    g_autoptr(Message) message = message_new(octets);
    put_fields(stream, message);
    size_t length;
    const char *data = g_bytes_get_data(octets, &length);
    g_autoptr(GPtrArray) parts = mime_parts(data, length);
    bool first = true;
    for (guint at = 0; at < parts->len;) {
        const MimePart *part = parts->pdata[at];
        bool container = g_str_has_prefix(part->type, "multipart/") && part->next > at + 1 &&
                         strcmp(part->type, "multipart/alternative") != 0;
        if (!first && !container)
            fputs("\r\n", stream);
        put_part(stream, left_out, parts, &at, depth);
        first = first && container;
    }
}

void issue_put_post(FILE *stream, const char *left_out, GBytes *post)
{
    put_message(stream, left_out, post, 0);
}
