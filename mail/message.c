/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/message.h"

#include <string.h>

struct Message {
    GBytes *octets;
    GArray *fields;  /* of Field */
    GPtrArray *made; /* texts of fields that were added */
    size_t separator, separator_length; /* in octets */
    size_t body;                        /* where it begins in octets */
    bool headless;                      /* there was no field at all */
    bool edited;
    const char *line_end; /* as the message's own first line has it */
};

static bool is_blank(char octet)
{
    return octet == ' ' || octet == '\t';
}

/* Reads NAME [blanks] ":" at the start of a line. */
static bool parse_name(const char *at, const char *end, Field *field)
{
    const char *name = at;
    while (at < end && *at > ' ' && *at < 127 && *at != ':')
        at++;
    field->text = name;
    field->name_length = (size_t)(at - name);
    while (at < end && is_blank(*at))
        at++;
    field->value_offset = (size_t)(at - name) + 1;
    return field->name_length > 0 && at < end && *at == ':';
}

/* Never NULL, as an empty GBytes is. */
static const char *octets_of(const Message *message, size_t *length)
{
    const char *start = g_bytes_get_data(message->octets, length);
    return start ? start : "";
}

static void scan(Message *message)
{
    size_t length;
    const char *start = octets_of(message, &length);
    const char *end = start + length, *at = start;
    while (at < end) {
        size_t empty = at[0] == '\n' ? 1 : at[0] == '\r' && end - at >= 2 && at[1] == '\n' ? 2 : 0;
        if (empty > 0) {
            message->separator = (size_t)(at - start);
            message->separator_length = empty;
            at += empty;
            break;
        }
        const char *feed = memchr(at, '\n', (size_t)(end - at)), *next = feed ? feed + 1 : end;
        Field field = {0};
        if (is_blank(*at) && message->fields->len > 0) {
            Field *last = &g_array_index(message->fields, Field, message->fields->len - 1);
            last->length += (size_t)(next - at);
            at = next;
            continue;
        }
        if (!parse_name(at, next, &field)) {
            /* An mbox "From " line, or a field behind a byte order mark: lines that only ever come first, and after
             * which a header follows. */
            const char *from = at + (*at == '>');
            bool mark = next - at > 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0;
            if (at > start ||
                !(mark ? parse_name(at + 3, next, &field) : next - from >= 5 && !memcmp(from, "From ", 5)))
                break;
            field = (Field){.text = at};
        }
        field.length = (size_t)(next - at);
        g_array_append_val(message->fields, field);
        at = next;
    }
    message->body = (size_t)(at - start);
    if (message->separator_length == 0)
        message->separator = message->body;
    message->headless = message->fields->len == 0;
    const char *feed = length > 0 ? memchr(start, '\n', length) : NULL;
    message->line_end = feed && (feed == start || feed[-1] != '\r') ? "\n" : "\r\n";
}

static size_t body_length(const Message *message)
{
    return g_bytes_get_size(message->octets) - message->body;
}

Message *message_new(GBytes *octets)
{
    Message *message = g_new0(Message, 1);
    message->octets = g_bytes_ref(octets);
    message->fields = g_array_sized_new(false, false, sizeof(Field), 48);
    message->made = g_ptr_array_new_with_free_func(g_free);
    scan(message);
    return message;
}

void message_free(Message *message)
{
    if (!message)
        return;
    g_bytes_unref(message->octets);
    g_array_unref(message->fields);
    g_ptr_array_unref(message->made);
    g_free(message);
}

size_t message_field_count(const Message *message)
{
    return message->fields->len;
}

bool message_ends_header_early(const Message *message)
{
    return !message->headless && message->separator_length == 0 && body_length(message) > 0;
}

const Field *message_field(const Message *message, size_t index)
{
    g_assert(index < message->fields->len);
    return &g_array_index(message->fields, Field, index);
}

bool field_is(const Field *field, const char *name)
{
    return strlen(name) == field->name_length && g_ascii_strncasecmp(field->text, name, field->name_length) == 0;
}

bool field_is_content(const Field *field, void *data)
{
    return field->name_length > 8 && g_ascii_strncasecmp(field->text, "Content-", 8) == 0;
}

const Field *message_find(const Message *message, const char *name, size_t *index)
{
    for (size_t at = index ? *index : 0; at < message->fields->len; at++) {
        const Field *field = &g_array_index(message->fields, Field, at);
        if (!field_is(field, name))
            continue;
        if (index)
            *index = at;
        return field;
    }
    return NULL;
}

bool message_has(const Message *message, const char *name)
{
    return message_find(message, name, NULL) != NULL;
}

static char *value_without(const Field *field, const char *left_out, size_t count)
{
    GString *value = g_string_sized_new(field->length);
    for (size_t at = field->value_offset; field->name_length > 0 && at < field->length; at++)
        if (!memchr(left_out, field->text[at], count))
            g_string_append_c(value, field->text[at]);
    return g_strstrip(g_string_free(value, false));
}

char *field_value(const Field *field)
{
    return value_without(field, "\0\r\n", 3);
}

char *field_value_folded(const Field *field)
{
    return value_without(field, "", 1);
}

char *message_value(const Message *message, const char *name)
{
    const Field *field = message_find(message, name, NULL);
    return field ? field_value(field) : NULL;
}

/* The text of the field is safe against values that would begin a new line. */
static Field make_field(Message *message, const char *name, const char *value)
{
    GString *text = g_string_new(name);
    size_t name_length = text->len;
    g_string_append(text, ": ");
    for (const char *at = value; *at; at++) {
        size_t ending = at[0] == '\r' && at[1] == '\n' ? 2 : at[0] == '\n' || at[0] == '\r' ? 1 : 0;
        if (ending == 0)
            g_string_append_c(text, *at);
        else if (is_blank(at[ending]))
            g_string_append(text, message->line_end);
        else
            g_string_append_c(text, ' ');
        at += ending > 0 ? ending - 1 : 0;
    }
    g_string_append(text, message->line_end);
    message->edited = true;
    Field field = {.length = text->len, .name_length = name_length, .value_offset = name_length + 1};
    field.text = g_string_free(text, false);
    g_ptr_array_add(message->made, (char *)field.text);
    return field;
}

void message_prepend(Message *message, const char *name, const char *value)
{
    Field field = make_field(message, name, value);
    bool prelude = message->fields->len > 0 && message_field(message, 0)->name_length == 0;
    g_array_insert_val(message->fields, prelude ? 1 : 0, field);
}

void message_append(Message *message, const char *name, const char *value)
{
    Field field = make_field(message, name, value);
    g_array_append_val(message->fields, field);
}

size_t message_remove_if(Message *message, MessageUnwanted *unwanted, void *data)
{
    unsigned kept = 0, all = message->fields->len;
    for (unsigned at = 0; at < all; at++) {
        const Field field = g_array_index(message->fields, Field, at);
        if (!unwanted(&field, data))
            g_array_index(message->fields, Field, kept++) = field;
    }
    g_array_set_size(message->fields, kept);
    message->edited |= kept < all;
    return all - kept;
}

static bool has_name(const Field *field, void *name)
{
    return field_is(field, name);
}

size_t message_remove(Message *message, const char *name)
{
    return message_remove_if(message, has_name, (void *)name);
}

/* All but the first of a name. */
typedef struct Further {
    const char *name;
    bool met;
} Further;

static bool is_further(const Field *field, void *data)
{
    Further *further = data;
    bool named = field_is(field, further->name), was_met = further->met;
    further->met |= named;
    return named && was_met;
}

size_t message_remove_further(Message *message, const char *name)
{
    return message_remove_if(message, is_further, &(Further){.name = name});
}

void message_set(Message *message, const char *name, const char *value)
{
    size_t index = 0;
    if (!message_find(message, name, &index)) {
        message_append(message, name, value);
        return;
    }
    Field field = make_field(message, name, value);
    g_array_index(message->fields, Field, index) = field;
    message_remove_further(message, name);
}

GBytes *message_head(const Message *message)
{
    if (!message->edited)
        return g_bytes_new_from_bytes(message->octets, 0, message->body);
    const char *start = octets_of(message, NULL);
    GString *head = g_string_sized_new(message->body + 1024);
    for (size_t at = 0; at < message->fields->len; at++) {
        const Field *field = &g_array_index(message->fields, Field, at);
        if (head->len > 0 && head->str[head->len - 1] != '\n')
            g_string_append(head, message->line_end);
        g_string_append_len(head, field->text, (gssize)field->length);
    }
    g_string_append_len(head, start + message->separator, (gssize)message->separator_length);
    /* Where there was no header, the body would be read as one that goes on after ours. */
    if (message->headless && message->separator_length == 0 && message->fields->len > 0 && body_length(message) > 0)
        g_string_append(head, message->line_end);
    return g_string_free_to_bytes(head);
}

GBytes *message_body(const Message *message)
{
    return g_bytes_new_from_bytes(message->octets, message->body, body_length(message));
}

GBytes *message_octets(const Message *message)
{
    if (!message->edited)
        return g_bytes_ref(message->octets);
    g_autoptr(GBytes) head = message_head(message);
    GByteArray *octets = g_byte_array_sized_new((guint)(g_bytes_get_size(head) + body_length(message)));
    g_byte_array_append(octets, g_bytes_get_data(head, NULL), (guint)g_bytes_get_size(head));
    g_byte_array_append(octets, (const guint8 *)octets_of(message, NULL) + message->body, (guint)body_length(message));
    return g_byte_array_free_to_bytes(octets);
}

void message_replace(Message *message, GBytes *octets)
{
    g_bytes_ref(octets);
    g_bytes_unref(message->octets);
    message->octets = octets;
    g_array_set_size(message->fields, 0);
    g_ptr_array_set_size(message->made, 0);
    message->separator_length = 0;
    message->edited = false;
    scan(message);
}

void message_set_body(Message *message, GBytes *body)
{
    g_autoptr(GBytes) head = message_head(message);
    size_t length = g_bytes_get_size(head), added = g_bytes_get_size(body);
    const char *text = length > 0 ? g_bytes_get_data(head, NULL) : "";
    GString *octets = g_string_sized_new(length + added + 4);
    g_string_append_len(octets, text, (gssize)length);
    if (length > 0 && text[length - 1] != '\n')
        g_string_append(octets, message->line_end);
    if (message->separator_length == 0)
        g_string_append(octets, message->line_end);
    if (added > 0)
        g_string_append_len(octets, g_bytes_get_data(body, NULL), (gssize)added);
    g_autoptr(GBytes) whole = g_string_free_to_bytes(octets);
    message_replace(message, whole);
}

size_t message_length(const Message *message)
{
    g_autoptr(GBytes) head = message_head(message);
    return g_bytes_get_size(head) + body_length(message);
}

/* Return the text between the brackets, or all of it. */
static char *without_brackets(const char *id)
{
    const char *open = strchr(id, '<');
    const char *close = open ? strchr(open, '>') : NULL;
    return g_strstrip(close ? g_strndup(open + 1, (size_t)(close - open - 1)) : g_strdup(id));
}

char *message_id(const Message *message)
{
    g_autofree char *value = message_value(message, "Message-ID");
    g_autofree char *id = value ? without_brackets(value) : NULL;
    return id && *id ? g_steal_pointer(&id) : NULL;
}

char *message_id_brief(const Message *message)
{
    char *id = message_id(message);
    if (id && strlen(id) > MESSAGE_ID_BRIEF)
        id[MESSAGE_ID_BRIEF] = '\0';
    return id;
}

char *message_id_hash(const char *id)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    g_autofree char *bare = without_brackets(id);
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA1);
    g_checksum_update(sum, (const guchar *)bare, -1);
    guint8 digest[20];
    gsize length = sizeof digest;
    g_checksum_get_digest(sum, digest, &length);
    char *text = g_malloc(33);
    for (unsigned digit = 0; digit < 32; digit++) {
        unsigned bit = digit * 5;
        unsigned pair = (unsigned)digest[bit / 8] << 8 | (bit / 8 + 1 < 20 ? digest[bit / 8 + 1] : 0);
        text[digit] = alphabet[pair >> (11 - bit % 8) & 31];
    }
    text[32] = '\0';
    return text;
}

GPtrArray *message_replied_ids(const Message *message, const char **likely)
{
    static const char around[] = "\"'()[]{},;:.";
    GPtrArray *ids = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *value = message_value(message, "In-Reply-To");
    bool words = false;
    guint numbered = 0; /* the last one with a digit before its @, counted from 1 */
    for (const char *at = value ? value : ""; *(at += strspn(at, " \t\r\n"));) {
        size_t length = *at == '<' ? strcspn(at + 1, "<> \t\r\n") + 1 : 0;
        bool bracketed = length > 1 && at[length] == '>';
        const char *word = at + (*at == '<'), *end = bracketed ? at + length : word + strcspn(word, "< \t\r\n");
        at = bracketed ? end + 1 : end;
        if (!bracketed) { /* an id all the same, if it has the form of an address */
            word += MIN(strspn(word, around), (size_t)(end - word));
            while (end > word && strchr(around, end[-1]))
                end--;
            const char *sign = memchr(word, '@', (size_t)(end - word));
            if (!sign || sign == word || sign + 1 == end || memchr(word, '>', (size_t)(end - word))) {
                words = true;
                continue;
            }
        }
        if (ids->len == MESSAGE_REPLIED_MAX)
            g_ptr_array_set_size(ids, MESSAGE_REPLIED_MAX - 1);
        char *id = g_strndup(word, (size_t)(end - word));
        g_ptr_array_add(ids, id);
        if (bracketed && strcspn(id, "0123456789") < strcspn(id, "@"))
            numbered = ids->len;
    }
    guint chosen = numbered == 0 && !words ? ids->len : numbered;
    *likely = chosen > 0 ? ids->pdata[chosen - 1] : NULL;
    return ids;
}
