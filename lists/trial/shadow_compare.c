/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/trial/shadow_compare.h"

#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "mail/header.h"
#include "mail/message.h"
#include "mail/mime/mime.h"
#include "mail/visible.h"

#define SHOWN 300      /* bytes of a value or a line */
#define VALUES_SHOWN 5 /* of fields of one name */

/* ---- the header ---- */

/* Fields that the way of a mail, its transport encoding or the name of the program decide, "x-mailman-rule-" and such
 * standing for all that begin so. The encoding does not matter, because bodies are compared decoded. */
static const char *const ignored[] = {
    "arc-",
    "authentication-results",
    "content-transfer-encoding",
    "delivered-to",
    "dkim-signature",
    "dkim-filter",
    "domainkey-signature",
    "listrunner-",
    "message-id-hash",
    "mime-version",
    "received",
    "return-path",
    "x-content-filtered-by",
    "x-google-dkim-signature",
    "x-mailfrom",
    "x-mailman-rule-",
    "x-mailman-version",
    "x-message-id-hash",
    "x-original-to",
};

static bool is_ignored(const char *name, char *const *also)
{
    for (size_t at = 0; at < G_N_ELEMENTS(ignored); at++) {
        bool start = g_str_has_suffix(ignored[at], "-");
        if (start ? g_str_has_prefix(name, ignored[at]) : g_str_equal(name, ignored[at]))
            return true;
    }
    for (; also && *also; also++)
        if (g_ascii_strcasecmp(name, *also) == 0)
            return true;
    return false;
}

static char *squeezed(const char *text)
{
    GString *out = g_string_new(NULL);
    for (const char *at = text; *at; at++)
        if (!g_ascii_isspace(*at))
            g_string_append_c(out, *at);
        else if (out->len > 0 && !g_ascii_isspace(at[1]) && at[1])
            g_string_append_c(out, ' ');
    return g_string_free(out, FALSE);
}

/* Type and parameters in lower case and in order, without blanks and quotes, and without the boundary, which each
 * program makes up. The charset goes with the body, which is compared decoded. */
static char *plain_type(const char *value)
{
    g_autoptr(GString) plain = g_string_new(NULL);
    for (const char *at = value; *at; at++)
        if (!g_ascii_isspace(*at) && *at != '"')
            g_string_append_c(plain, g_ascii_tolower(*at));
    g_auto(GStrv) pieces = g_strsplit(plain->str, ";", 100);
    g_autoptr(GPtrArray) kept = g_ptr_array_new();
    for (char **piece = pieces; *piece; piece++)
        if (**piece && !g_str_has_prefix(*piece, "boundary") && !g_str_has_prefix(*piece, "charset"))
            g_ptr_array_add(kept, *piece);
    g_ptr_array_sort(kept, bytes_compare_texts);
    g_ptr_array_add(kept, NULL);
    return g_strjoinv("; ", (char **)kept->pdata);
}

static void add_value(GHashTable *fields, const char *name, char *value)
{
    GPtrArray *values = g_hash_table_lookup(fields, name);
    if (!values) {
        values = g_ptr_array_new_with_free_func(g_free);
        g_hash_table_insert(fields, g_strdup(name), values);
    }
    g_ptr_array_add(values, value);
}

/* Name in lower case -> GPtrArray of values, in order of their text. */
static GHashTable *fields_of(GBytes *octets, char *const *ignore)
{
    g_autoptr(Message) message = message_new(octets);
    GHashTable *fields = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
    for (size_t at = 0; at < message_field_count(message); at++) {
        const Field *field = message_field(message, at);
        g_autofree char *name = g_ascii_strdown(field->text, (gssize)field->name_length);
        if (!*name || is_ignored(name, ignore))
            continue;
        g_autofree char *raw = field_value(field), *text = header_decode(raw);
        add_value(fields, name, g_str_equal(name, "content-type") ? plain_type(raw) : squeezed(text));
    }
    if (!g_hash_table_contains(fields, "content-type"))
        add_value(fields, "content-type", plain_type("text/plain")); /* what its absence means */
    GHashTableIter each;
    void *values;
    g_hash_table_iter_init(&each, fields);
    while (g_hash_table_iter_next(&each, NULL, &values))
        g_ptr_array_sort(values, bytes_compare_texts);
    return fields;
}

static bool same(const GPtrArray *one, const GPtrArray *other)
{
    if (!one || !other || one->len != other->len)
        return false;
    for (guint at = 0; at < one->len; at++)
        if (!g_str_equal(one->pdata[at], other->pdata[at]))
            return false;
    return true;
}

static json_t *shown(const char *text)
{
    g_autofree char *line = visible_line(text, SHOWN);
    return json_string(line);
}

static json_t *shown_values(const GPtrArray *values)
{
    json_t *array = json_array();
    for (guint at = 0; values && at < values->len && at < VALUES_SHOWN; at++)
        json_array_append_new(array, shown(values->pdata[at]));
    return array;
}

json_t *shadow_compare_header(GBytes *live, GBytes *ours, char *const *ignore)
{
    g_autoptr(GHashTable) here = fields_of(ours, ignore), there = fields_of(live, ignore);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    GHashTableIter each;
    void *name, *values;
    g_hash_table_iter_init(&each, there);
    while (g_hash_table_iter_next(&each, &name, &values))
        if (!same(values, g_hash_table_lookup(here, name)))
            g_ptr_array_add(names, name);
    g_hash_table_iter_init(&each, here);
    while (g_hash_table_iter_next(&each, &name, &values))
        if (!g_hash_table_contains(there, name))
            g_ptr_array_add(names, name);
    g_ptr_array_sort(names, bytes_compare_texts);
    json_t *array = json_array();
    for (guint at = 0; at < names->len && at < SHADOW_FIELDS_MAX; at++)
        json_array_append_new(array, json_pack("{so so so}", "field", shown(names->pdata[at]), "live",
                                               shown_values(g_hash_table_lookup(there, names->pdata[at])), "ours",
                                               shown_values(g_hash_table_lookup(here, names->pdata[at]))));
    return array;
}

/* ---- the body ---- */

static bool is_text(const MimePart *part)
{
    return g_str_has_prefix(part->type, "text/");
}

/* Return the content that a reader gets of the part: text in UTF-8 without line ends at its end, else bytes. */
static GString *content_of(const MimePart *part)
{
    if (is_text(part)) {
        GString *text = mime_text(part, part->body_length);
        while (text->len > 0 && g_ascii_isspace(text->str[text->len - 1]))
            g_string_truncate(text, text->len - 1);
        return text;
    }
    return mime_body(part, part->body_length);
}

/* Parts that hold no others, in order; what they point to stays the array's. */
static GPtrArray *leaves_of(const GPtrArray *parts)
{
    GPtrArray *leaves = g_ptr_array_new();
    for (guint at = 0; at < parts->len; at++) {
        const MimePart *part = parts->pdata[at];
        if (!g_str_has_prefix(part->type, "multipart/") && !g_str_equal(part->type, "message/rfc822"))
            g_ptr_array_add(leaves, (void *)part);
    }
    return leaves;
}

static json_t *part_name(guint number, const MimePart *part)
{
    g_autofree char *name = g_strdup_printf("%u %s", number + 1, part->type);
    return shown(name);
}

static size_t line_at(const GString *text, size_t from)
{
    const char *end = from < text->len ? memchr(text->str + from, '\n', text->len - from) : NULL;
    return end ? (size_t)(end - text->str) : text->len;
}

static json_t *shown_line(const GString *text, size_t from)
{
    g_autofree char *line = g_strndup(text->str + from, line_at(text, from) - from);
    return from > text->len ? json_null() : shown(line);
}

/* Blanks at the end of a line say nothing. */
static size_t trimmed(const GString *text, size_t from, size_t end)
{
    while (end > from && (text->str[end - 1] == ' ' || text->str[end - 1] == '\t'))
        end--;
    return end - from;
}

/* The first line that differs; NULL: none. */
static json_t *compare_lines(const GString *live, const GString *ours, json_t *part)
{
    size_t there = 0, here = 0, number = 1;
    for (; there <= live->len && here <= ours->len; number++) {
        size_t there_end = line_at(live, there), here_end = line_at(ours, here);
        size_t length = trimmed(live, there, there_end);
        if (length != trimmed(ours, here, here_end) || memcmp(live->str + there, ours->str + here, length) != 0)
            break;
        there = there_end + 1;
        here = here_end + 1;
    }
    if (there > live->len && here > ours->len) {
        json_decref(part);
        return NULL;
    }
    return json_pack("{so sI so so}", "part", part, "line", (json_int_t)number, "live",
                     there > live->len ? json_null() : shown_line(live, there), "ours",
                     here > ours->len ? json_null() : shown_line(ours, here));
}

static json_t *compare_parts(guint number, const MimePart *there, const MimePart *here)
{
    g_autoptr(GString) live = content_of(there), ours = content_of(here);
    if (!g_str_equal(there->type, here->type))
        return json_pack("{so sn so so}", "part", part_name(number, there), "line", "live", shown(there->type), "ours",
                         shown(here->type));
    if (is_text(there))
        return compare_lines(live, ours, part_name(number, there));
    return g_string_equal(live, ours)
               ? NULL
               : json_pack("{so sn sn sn}", "part", part_name(number, there), "line", "live", "ours");
}

json_t *shadow_compare_body(GBytes *live, GBytes *ours)
{
    gsize there_length, here_length;
    const char *there_octets = g_bytes_get_data(live, &there_length),
               *here_octets = g_bytes_get_data(ours, &here_length);
    g_autoptr(GPtrArray) there_parts = mime_parts(there_octets, there_length);
    g_autoptr(GPtrArray) here_parts = mime_parts(here_octets, here_length);
    g_autoptr(GPtrArray) there = leaves_of(there_parts), here = leaves_of(here_parts);
    for (guint at = 0; at < there->len && at < here->len; at++) {
        json_t *found = compare_parts(at, there->pdata[at], here->pdata[at]);
        if (found)
            return found;
    }
    guint number = MIN(there->len, here->len);
    if (there->len == here->len)
        return NULL;
    bool more = there->len > here->len;
    const MimePart *part = more ? there->pdata[number] : here->pdata[number];
    return json_pack("{so sn so so}", "part", part_name(number, part), "line", "live",
                     more ? shown(part->type) : json_null(), "ours", more ? json_null() : shown(part->type));
}
