/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/moving/sympa_config.h"

#include <string.h>

static void entry_free(gpointer data)
{
    SympaEntry *entry = data;
    g_free(entry->key);
    g_free(entry->value);
    g_free(entry);
}

static void paragraph_free(gpointer data)
{
    SympaParagraph *paragraph = data;
    g_free(paragraph->name);
    g_free(paragraph->value);
    g_ptr_array_unref(paragraph->entries);
    g_free(paragraph);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* Take a line apart. False: it begins with no name. */
static bool split(const char *line, size_t length, char **key, char **value)
{
    size_t end = 0;
    while (end < length && (g_ascii_isalnum(line[end]) || line[end] == '_' || line[end] == '-' || line[end] == '.'))
        end++;
    if (end == 0 || (end < length && !is_blank(line[end])))
        return false;
    *key = g_strndup(line, end);
    while (end < length && is_blank(line[end]))
        end++;
    *value = g_utf8_make_valid(line + end, (gssize)(length - end));
    return true;
}

typedef struct SympaConfigReader {
    GPtrArray *config;
    SympaParagraph *open; /* NULL: the next line begins a paragraph */
    bool passes;          /* the paragraph began with a line that is none; what follows belongs to nothing */
    SympaFault *fault;
    void *data;
} SympaConfigReader;

/* A line without blanks at its ends, which is not empty. */
static void take_line(SympaConfigReader *reader, const char *line, size_t length, unsigned number)
{
    char *key, *value;
    const char *wrong = length > SYMPA_LINE_MAX      ? "the line is too long"
                        : memchr(line, '\0', length) ? "the line has a zero byte"
                                                     : NULL;
    if (!wrong && *line == '#')
        return;
    if (!wrong && !split(line, length, &key, &value))
        wrong = "the line does not begin with a name";
    if (wrong || reader->passes) {
        reader->passes |= !reader->open;
        if (!wrong) {
            g_free(key);
            g_free(value);
        }
        reader->fault(number, wrong ? wrong : "the paragraph does not begin with a name", reader->data);
    } else if (!reader->open) {
        reader->open = g_new(SympaParagraph, 1);
        *reader->open = (SympaParagraph){key, value, number, g_ptr_array_new_with_free_func(entry_free)};
        g_ptr_array_add(reader->config, reader->open);
    } else {
        SympaEntry *entry = g_new(SympaEntry, 1);
        *entry = (SympaEntry){key, value, number};
        g_ptr_array_add(reader->open->entries, entry);
    }
}

GPtrArray *sympa_config_read(const char *octets, size_t length, SympaFault *fault, void *data)
{
    SympaConfigReader reader = {.config = g_ptr_array_new_with_free_func(paragraph_free), .fault = fault, .data = data};
    const char *at = octets, *end = octets + length;
    for (unsigned number = 1; at < end; number++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at)) ?: end, *last = stop;
        while (at < last && is_blank(*at))
            at++;
        while (last > at && is_blank(last[-1]))
            last--;
        if (at < last) {
            take_line(&reader, at, (size_t)(last - at), number);
        } else {
            reader.open = NULL;
            reader.passes = false;
        }
        at = stop < end ? stop + 1 : end;
    }
    return reader.config;
}

const SympaParagraph *sympa_config_find(const GPtrArray *config, const char *name)
{
    for (guint i = 0; i < config->len; i++) {
        const SympaParagraph *paragraph = config->pdata[i];
        if (g_ascii_strcasecmp(paragraph->name, name) == 0)
            return paragraph;
    }
    return NULL;
}

const char *sympa_config_value(const SympaParagraph *paragraph, const char *key)
{
    for (guint i = 0; paragraph && i < paragraph->entries->len; i++) {
        const SympaEntry *entry = paragraph->entries->pdata[i];
        if (g_ascii_strcasecmp(entry->key, key) == 0)
            return entry->value;
    }
    return NULL;
}
