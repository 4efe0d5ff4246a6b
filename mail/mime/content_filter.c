/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/mime/content_filter.h"

#include <gmime/gmime.h>
#include <string.h>

#include "base/fail.h"
#include "mail/charset.h"
#include "mail/mime/file_name.h"
#include "mail/mime/mime.h"
#include "mail/mime/mime_tree.h"

#define TEXT_MAX (4 * 1024 * 1024) /* of HTML that is made text */
#define DECODED_MAX 8              /* encoded messages within each other */

typedef struct Filter {
    const ContentRules *rules;
    GPtrArray *removed;
    bool changed;
    unsigned depth; /* of messages that were decoded */
    size_t parts;   /* of the message and of all that were decoded */
    GError **error;
} Filter;

/* ---- what may stay ---- */

static bool is_named(char *const *names, const char *type, const char *whole)
{
    for (; names && *names; names++)
        if (g_ascii_strcasecmp(*names, type) == 0 || g_ascii_strcasecmp(*names, whole) == 0)
            return true;
    return false;
}

static bool has_ending(char *const *endings, const char *ending)
{
    for (; endings && *endings; endings++)
        if (g_ascii_strcasecmp(**endings == '.' ? *endings + 1 : *endings, ending) == 0)
            return true;
    return false;
}

/* All names that a program may know the part's file by. */
static GPtrArray *names_of(GMimeObject *part)
{
    GPtrArray *names = file_names_new();
    GMimeHeaderList *headers = g_mime_object_get_header_list(part);
    for (int at = 0; at < g_mime_header_list_get_count(headers); at++) {
        GMimeHeader *header = g_mime_header_list_get_header_at(headers, at);
        const char *value = g_mime_header_get_raw_value(header);
        if (value)
            file_names_add(names, g_mime_header_get_name(header), value);
    }
    return names;
}

/* NULL, or why the list does not take a file of these names. */
static const char *name_refusal(const ContentRules *rules, const GPtrArray *names)
{
    const char *why = NULL;
    for (guint at = 0; at < names->len && !why; at++) {
        const FileName *name = names->pdata[at];
        g_autofree char *ending = file_name_ending(name->text);
        if (*ending && has_ending(rules->filter_extensions, ending))
            why = "the ending of its file name is one that the list does not take";
        else if (name->certain && rules->pass_extensions && *rules->pass_extensions &&
                 !has_ending(rules->pass_extensions, ending))
            why = "the ending of its file name is none that the list takes";
    }
    return why;
}

/* Does the list take no file of some kind? Else a message may stay whose parts nobody has seen. */
static bool takes_out(const ContentRules *rules)
{
    char *const *const names[] = {rules->filter_types, rules->pass_types, rules->filter_extensions,
                                  rules->pass_extensions};
    for (size_t at = 0; at < G_N_ELEMENTS(names); at++)
        if (names[at] && *names[at])
            return true;
    return false;
}

static char *type_of(GMimeObject *part)
{
    GMimeContentType *type = g_mime_object_get_content_type(part);
    const char *main = type ? g_mime_content_type_get_media_type(type) : "text";
    const char *sub = type ? g_mime_content_type_get_media_subtype(type) : "plain";
    return g_strdup_printf("%s/%s", main ? main : "text", sub ? sub : "plain");
}

static bool is_ambiguous(GMimeObject *part)
{
    GMimeHeaderList *headers = g_mime_object_get_header_list(part);
    unsigned found = 0;
    for (int at = 0; at < g_mime_header_list_get_count(headers); at++)
        found += g_ascii_strcasecmp(g_mime_header_get_name(g_mime_header_list_get_header_at(headers, at)),
                                    "Content-Type") == 0;
    return found > 1;
}

/* NULL, or why the part may not stay. */
static const char *refusal(const ContentRules *rules, GMimeObject *part)
{
    g_autofree char *whole = type_of(part), *main = g_strndup(whole, strcspn(whole, "/"));
    if (is_ambiguous(part))
        return "its header names several types, and readers may believe another one";
    if (is_named(rules->filter_types, main, whole))
        return "its type is one that the list does not take";
    if (rules->pass_types && *rules->pass_types && !is_named(rules->pass_types, main, whole))
        return "its type is none that the list takes";
    g_autoptr(GPtrArray) names = names_of(part);
    return name_refusal(rules, names);
}

static void note_removed(Filter *filter, GMimeObject *part)
{
    g_autofree char *type = type_of(part);
    g_autoptr(GPtrArray) names = names_of(part);
    const char *name = names->len > 0 ? ((FileName *)names->pdata[0])->text : NULL;
    g_ptr_array_add(filter->removed, g_strconcat(type, name ? ", " : "", name, NULL));
    filter->changed = true;
}

/* ---- HTML to text ---- */

static GBytes *decoded(GMimePart *part)
{
    GMimeDataWrapper *content = g_mime_part_get_content(part);
    GMimeStream *memory = g_mime_stream_mem_new();
    if (content)
        g_mime_data_wrapper_write_to_stream(content, memory);
    GByteArray *octets = g_mime_stream_mem_get_byte_array(GMIME_STREAM_MEM(memory));
    GBytes *bytes = g_bytes_new(octets->data, octets->len);
    g_object_unref(memory);
    return bytes;
}

static GString *decoded_text(GMimePart *part)
{
    g_autoptr(GBytes) bytes = decoded(part);
    size_t all;
    const char *octets = g_bytes_get_data(bytes, &all);
    const char *charset = g_mime_object_get_content_type_parameter(GMIME_OBJECT(part), "charset");
    size_t length = MIN(all, TEXT_MAX);
    g_autoptr(GString) text = g_string_sized_new(length);
    charset_decode(charset ? charset : "", octets ? octets : "", length, length < all, text);
    g_autofree char *valid = g_utf8_make_valid(text->str, (gssize)text->len); /* U+FFFD for each NUL */
    return g_string_new(valid);
}

/* A text part in the place of an HTML part. */
static GMimeObject *make_text(Filter *filter, GMimeObject *html)
{
    g_autoptr(GError) fault = NULL;
    GString *source = decoded_text(GMIME_PART(html));
    GString *text = filter->rules->convert ? filter->rules->convert(source, filter->rules->data, &fault)
                                           : mime_html_text(source);
    g_string_free(source, TRUE);
    if (!text) {
        if (filter->error && !*filter->error)
            g_propagate_error(filter->error, g_steal_pointer(&fault));
        return NULL;
    }
    g_string_replace(text, "\r\n", "\n", 0); /* as some commands end their lines */
    GMimeTextPart *made = g_mime_text_part_new_with_subtype("plain");
    g_mime_text_part_set_charset(made, "utf-8");
    g_mime_text_part_set_text(made, text->str);
    GMimeContentEncoding best = g_mime_part_get_best_content_encoding(GMIME_PART(made), GMIME_ENCODING_CONSTRAINT_7BIT);
    g_mime_part_set_content_encoding(GMIME_PART(made), best);
    g_string_free(text, TRUE);
    filter->changed = true;
    return GMIME_OBJECT(made);
}

/* ---- the tree ---- */

static GMimeObject *strain(Filter *filter, GMimeObject *part);

/* Takes a reference of part; returns one of what takes its place, or NULL. */
static GMimeObject *strain_multipart(Filter *filter, GMimeObject *part)
{
    GMimeMultipart *multipart = GMIME_MULTIPART(part);
    int before = g_mime_multipart_get_count(multipart);
    for (int at = 0; at < g_mime_multipart_get_count(multipart);) {
        GMimeObject *child = g_mime_multipart_get_part(multipart, at);
        GMimeObject *kept = strain(filter, g_object_ref(child));
        if (!kept) {
            g_object_unref(g_mime_multipart_remove_at(multipart, at));
            continue;
        }
        if (kept != child)
            g_object_unref(g_mime_multipart_replace(multipart, at, kept));
        g_object_unref(kept);
        at++;
    }
    int left = g_mime_multipart_get_count(multipart);
    g_autofree char *type = type_of(part);
    bool collapse = filter->rules->collapse_alternatives && strcmp(type, "multipart/alternative") == 0 && left > 0;
    if (left == 0 && before > 0) {
        g_object_unref(part);
        return NULL;
    }
    if (!collapse && !(left == 1 && left < before))
        return part;
    filter->changed = true;
    GMimeObject *only = g_object_ref(g_mime_multipart_get_part(multipart, 0));
    for (int at = 1; at < left; at++)
        note_removed(filter, g_mime_multipart_get_part(multipart, at));
    g_object_unref(part);
    return only;
}

static GMimeObject *strain_message(Filter *filter, GMimeObject *part)
{
    GMimeMessage *inside = g_mime_message_part_get_message(GMIME_MESSAGE_PART(part));
    GMimeObject *content = inside ? g_mime_message_get_mime_part(inside) : NULL;
    if (!content)
        return part;
    GMimeObject *kept = strain(filter, g_object_ref(content));
    if (!kept) {
        g_object_unref(part);
        return NULL;
    }
    if (kept != content)
        g_mime_message_set_mime_part(inside, kept);
    g_object_unref(kept);
    return part;
}

/* A message is not to be encoded (RFC 2046, 5.2.1), but programs read one that is. So look into it; where something is
 * taken out the rest stands there without the encoding. */
static GMimeObject *strain_encoded(Filter *filter, GMimeObject *part)
{
    g_autoptr(GBytes) octets = decoded(GMIME_PART(part));
    filter->parts += mime_tree_parts(octets) + 1;
    bool opens = filter->depth < DECODED_MAX && filter->parts <= MIME_TREE_PARTS;
    GMimeMessage *inside = opens ? mime_tree(octets) : NULL;
    GMimeObject *content = inside ? g_mime_message_get_mime_part(inside) : NULL;
    GMimeObject *result = opens ? part : NULL; /* nobody sends so many, or so deep, but to hide something */
    bool changed = filter->changed;
    if (content) {
        filter->changed = false;
        filter->depth++;
        GMimeObject *kept = strain(filter, g_object_ref(content));
        filter->depth--;
        if (!kept)
            result = NULL;
        else if (filter->changed) {
            g_autofree char *type = type_of(part);
            GMimeMessagePart *made = g_mime_message_part_new(strchr(type, '/') + 1);
            g_mime_message_set_mime_part(inside, kept);
            g_mime_message_part_set_message(made, inside);
            result = GMIME_OBJECT(made);
        }
        if (kept)
            g_object_unref(kept);
        filter->changed = filter->changed || changed;
    }
    if (!result)
        note_removed(filter, part);
    if (inside)
        g_object_unref(inside);
    if (result != part)
        g_object_unref(part);
    return result;
}

/* Is it a message that GMime did not split because it is encoded? */
static bool is_encoded_message(GMimeObject *part)
{
    static const char *const kinds[] = {"rfc822", "rfc2822", "global", "news"};
    GMimeContentType *type = g_mime_object_get_content_type(part);
    for (size_t at = 0; at < G_N_ELEMENTS(kinds); at++)
        if (GMIME_IS_PART(part) && g_mime_content_type_is_type(type, "message", kinds[at]))
            return true;
    return false;
}

static GMimeObject *strain(Filter *filter, GMimeObject *part)
{
    if (refusal(filter->rules, part)) {
        note_removed(filter, part);
        g_object_unref(part);
        return NULL;
    }
    if (GMIME_IS_MULTIPART_SIGNED(part) || GMIME_IS_MULTIPART_ENCRYPTED(part)) {
        /* Forbidden parts are removed here, too; but nothing is made prettier at the cost of a signature. */
        const ContentRules *rules = filter->rules;
        ContentRules strict = *rules;
        strict.collapse_alternatives = strict.html_to_text = false;
        filter->rules = &strict;
        GMimeObject *kept = strain_multipart(filter, part);
        filter->rules = rules;
        return kept;
    }
    if (GMIME_IS_MULTIPART(part))
        return strain_multipart(filter, part);
    if (GMIME_IS_MESSAGE_PART(part))
        return strain_message(filter, part);
    if (is_encoded_message(part))
        return strain_encoded(filter, part);
    GMimeContentType *type = g_mime_object_get_content_type(part);
    if (!filter->rules->html_to_text || !GMIME_IS_PART(part) || !g_mime_content_type_is_type(type, "text", "html"))
        return part;
    GMimeObject *text = make_text(filter, part);
    if (!text)
        return part;
    g_object_unref(part);
    return text;
}

/* ---- the message ---- */

static bool is_content(const Field *field, void *data)
{
    return field->name_length > 8 && g_ascii_strncasecmp(field->text, "Content-", 8) == 0;
}

static GBytes *written(GMimeObject *part, bool crlf)
{
    GMimeStream *memory = g_mime_stream_mem_new();
    GMimeFormatOptions *format = g_mime_format_options_new();
    g_mime_format_options_set_newline_format(format, crlf ? GMIME_NEWLINE_FORMAT_DOS : GMIME_NEWLINE_FORMAT_UNIX);
    g_mime_object_write_content_to_stream(part, format, memory);
    g_mime_format_options_free(format);
    GByteArray *octets = g_mime_stream_mem_get_byte_array(GMIME_STREAM_MEM(memory));
    /* The line end before a boundary belongs to that; a part that stands alone now wants one of its own. */
    if (octets->len > 0 && octets->data[octets->len - 1] != '\n')
        g_byte_array_append(octets, (const guint8 *)(crlf ? "\r\n" : "\n"), crlf ? 2 : 1);
    GBytes *result = g_bytes_new(octets->data, octets->len);
    g_object_unref(memory);
    return result;
}

/* The header gets the fields that tell of what is left, in place of its own. */
static void put(Message *message, GMimeObject *part)
{
    message_remove_if(message, is_content, NULL);
    GMimeHeaderList *headers = g_mime_object_get_header_list(part);
    for (int at = 0; at < g_mime_header_list_get_count(headers); at++) {
        GMimeHeader *header = g_mime_header_list_get_header_at(headers, at);
        const char *name = g_mime_header_get_name(header), *raw = g_mime_header_get_raw_value(header);
        if (raw && g_ascii_strncasecmp(name, "Content-", 8) == 0) {
            g_autofree char *value = g_strstrip(g_strdup(raw));
            message_append(message, name, value);
        }
    }
    if (!message_has(message, "MIME-Version"))
        message_append(message, "MIME-Version", "1.0");
    g_autoptr(GBytes) head = message_head(message);
    size_t length;
    const char *octets = g_bytes_get_data(head, &length);
    g_autoptr(GBytes) body = written(part, length == 0 || memmem(octets, length, "\r\n", 2));
    message_set_body(message, body);
}

/* Put the filtered body into the message, and say what was done; kept is NULL when nothing is left. */
static bool finish(Filter *filter, Message *message, GMimeObject *kept, ContentResult *result)
{
    *result = CONTENT_KEPT;
    if (filter->error && *filter->error)
        return false;
    if (!kept) {
        g_ptr_array_set_size(filter->removed, 0);
        g_ptr_array_add(filter->removed, g_strdup("The message holds nothing that the list takes."));
        *result = CONTENT_REFUSED;
    } else if (filter->changed) {
        put(message, kept);
        *result = CONTENT_CHANGED;
    }
    return true;
}

typedef struct FirstOnly {
    const char *name;
    bool seen;
} FirstOnly;

static bool is_repeated(const Field *field, void *data)
{
    FirstOnly *first = data;
    bool named = field_is(field, first->name), repeated = named && first->seen;
    first->seen = first->seen || named;
    return repeated;
}

/* The message as the filter sees it. Of several fields that say what the content is readers take one or another: the
 * first alone is left, so that they see the same. *fewer: there were more. */
static GBytes *with_first_only(const Message *message, bool *fewer)
{
    g_autoptr(GBytes) octets = message_octets(message);
    g_autoptr(Message) copy = message_new(octets);
    FirstOnly type = {.name = "Content-Type"}, encoding = {.name = "Content-Transfer-Encoding"};
    size_t types = message_remove_if(copy, is_repeated, &type);
    *fewer = message_remove_if(copy, is_repeated, &encoding) + types > 0;
    return *fewer ? message_octets(copy) : g_steal_pointer(&octets);
}

bool content_filter(Message *message, const ContentRules *rules, ContentResult *result, GPtrArray *removed,
                    GError **error)
{
    bool fewer;
    *result = CONTENT_KEPT;
    g_autoptr(GBytes) octets = with_first_only(message, &fewer);
    const size_t parts = mime_tree_parts(octets);
    if (parts > MIME_TREE_PARTS) {
        if (!takes_out(rules))
            return true;
        g_ptr_array_add(removed, g_strdup_printf("The message has more than %d parts, and they are not looked at.",
                                                 MIME_TREE_PARTS));
        *result = CONTENT_REFUSED;
        return true;
    }
    GMimeMessage *parsed = mime_tree(octets);
    GMimeObject *whole = parsed ? g_mime_message_get_mime_part(parsed) : NULL;
    if (!whole) {
        if (parsed)
            g_object_unref(parsed);
        return true;
    }
    const char *why = refusal(rules, whole);
    if (why) {
        g_autofree char *type = type_of(whole);
        g_ptr_array_add(removed, g_strdup_printf("The message is %s: %s.", type, why));
        *result = CONTENT_REFUSED;
        g_object_unref(parsed);
        return true;
    }
    g_autoptr(GError) fault = NULL;
    Filter filter = {.rules = rules, .removed = removed, .changed = fewer, .parts = parts, .error = &fault};
    GMimeObject *kept = strain(&filter, g_object_ref(whole));
    bool done = finish(&filter, message, kept, result);
    if (kept)
        g_object_unref(kept);
    g_object_unref(parsed);
    if (!done)
        g_propagate_error(error, g_steal_pointer(&fault));
    return done;
}
