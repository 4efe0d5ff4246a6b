/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/mime/partial.h"

#include <string.h>

#include "base/bytes.h"
#include "mail/address.h"
#include "mail/mime/parameter.h"

#define TYPE "message/partial"

void partial_clear(Partial *partial)
{
    g_clear_pointer(&partial->id, g_free);
    g_clear_pointer(&partial->author, g_free);
    g_clear_pointer(&partial->fault, g_free);
}

static bool refuse(Partial *partial, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Returns false, so that refusing is one line. */
static bool refuse(Partial *partial, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    partial->fault = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    return false;
}

/* "7", "007"; nothing else. */
static bool read_number(Partial *partial, const char *name, const char *text, int64_t *number)
{
    size_t digits = strspn(text, "0123456789"), zeros = strspn(text, "0");
    *number = 0;
    if (digits == 0 || text[digits] != '\0')
        return refuse(partial, "its %s is no number", name);
    if (digits - zeros > 9)
        return refuse(partial, "its %s is over %d", name, PARTIAL_NUMBER_MAX);
    *number = g_ascii_strtoll(text, NULL, 10);
    return *number > 0 || refuse(partial, "its %s is 0", name);
}

static bool read_parameters(Partial *partial, const ContentType *type)
{
    g_autofree char *number = NULL, *total = NULL;
    if (!content_type_parameter(type, "id", &partial->id) || !content_type_parameter(type, "number", &number) ||
        !content_type_parameter(type, "total", &total))
        return refuse(partial, "a parameter stands there twice");
    if (!partial->id || !*partial->id)
        return refuse(partial, "it has no id");
    if (strlen(partial->id) > PARTIAL_ID_MAX)
        return refuse(partial, "its id is longer than %d octets", PARTIAL_ID_MAX);
    if (!number)
        return refuse(partial, "it has no number");
    if (!read_number(partial, "number", number, &partial->number) ||
        (total && !read_number(partial, "total", total, &partial->total)))
        return false;
    return !total || partial->number <= partial->total || refuse(partial, "its number is over its total");
}

const char *partial_sender(const Partial *partial, const char *envelope_sender)
{
    return partial->author ? partial->author : envelope_sender;
}

bool partial_read(const Message *message, Partial *partial)
{
    *partial = (Partial){0};
    unsigned types = 0;
    g_autoptr(ContentType) found = NULL;
    size_t index = 0;
    for (const Field *field; (field = message_find(message, "Content-Type", &index)); index++) {
        types++;
        g_autofree char *value = field_value(field);
        g_autoptr(ContentType) type = content_type_parse(value);
        if (!found && g_ascii_strcasecmp(type->type, TYPE) == 0)
            found = g_steal_pointer(&type);
    }
    if (!found)
        return false;
    g_autofree char *from = message_value(message, "From");
    g_autoptr(GPtrArray) authors = address_list_new();
    if (from)
        address_parse(from, strlen(from), authors);
    partial->author = authors->len > 0 ? address_key(((const Address *)authors->pdata[0])->mailbox) : NULL;
    if (types > 1)
        return !refuse(partial, "it has several Content-Type fields");
    if (found->broken)
        return !refuse(partial, "its Content-Type cannot be read");
    if (!read_parameters(partial, found))
        return true;
    /* RFC 2046 5.2.2: 7bit, said or unsaid, and true. */
    index = 0;
    for (const Field *field; (field = message_find(message, "Content-Transfer-Encoding", &index)); index++) {
        g_autofree char *value = field_value(field), *word = content_token(value);
        if (g_ascii_strcasecmp(word, "7bit") != 0)
            return !refuse(partial, "its Content-Transfer-Encoding is not 7bit");
    }
    g_autoptr(GBytes) body = message_body(message);
    return !bytes_8bit_of(body) || !refuse(partial, "it holds octets over 127");
}

char *partial_set_key(const char *list_id, const char *sender, const char *id)
{
    const char *at = strrchr(sender, '@');
    g_autofree char *domain = g_ascii_strdown(at ? at : "", -1);
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    g_checksum_update(sum, (const guchar *)list_id, (gssize)strlen(list_id) + 1);
    g_checksum_update(sum, (const guchar *)sender, at ? at - sender : (gssize)strlen(sender));
    g_checksum_update(sum, (const guchar *)domain, (gssize)strlen(domain) + 1);
    g_checksum_update(sum, (const guchar *)id, (gssize)strlen(id));
    return g_strdup(g_checksum_get_string(sum));
}

char *partial_digest(const Message *part)
{
    g_autoptr(GBytes) body = message_body(part);
    return g_compute_checksum_for_bytes(G_CHECKSUM_SHA256, body);
}

/* ---- joining ---- */

/* Tell whether a field is taken from the enclosed message and not from the enclosing one. */
static bool is_inner(const Field *field)
{
    static const char prefix[] = "Content-";
    if (field->name_length >= sizeof prefix - 1 && g_ascii_strncasecmp(field->text, prefix, sizeof prefix - 1) == 0)
        return true;
    return field_is(field, "Subject") || field_is(field, "Message-ID") || field_is(field, "Encrypted") ||
           field_is(field, "MIME-Version");
}

/* Said of the first part as it was sent; not true of the whole. */
static bool is_signature(const Field *field)
{
    static const char *const names[] = {
        "DKIM-Signature",      "X-Google-DKIM-Signature", "DomainKey-Signature",
        "Authentication-Results", "Received-SPF",         "Return-Path",
    };
    static const char arc[] = "ARC-";
    if (field->name_length >= sizeof arc - 1 && g_ascii_strncasecmp(field->text, arc, sizeof arc - 1) == 0)
        return true;
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (field_is(field, names[i]))
            return true;
    return false;
}

static void add_field(GString *head, const Field *field)
{
    g_string_append_len(head, field->text, (gssize)field->length);
    if (field->length == 0 || field->text[field->length - 1] != '\n') /* the message ended in its header */
        g_string_append(head, "\r\n");
}

GPtrArray *partial_join(GBytes *const *parts, size_t count, const char *trace)
{
    g_autoptr(Message) outer = message_new(parts[0]);
    GByteArray *bodies = g_byte_array_new();
    for (size_t i = 0; i < count; i++) {
        g_autoptr(Message) part = message_new(parts[i]);
        g_autoptr(GBytes) body = message_body(part);
        g_byte_array_append(bodies, g_bytes_get_data(body, NULL), (guint)g_bytes_get_size(body));
    }
    g_autoptr(GBytes) joined = g_byte_array_free_to_bytes(bodies);
    g_autoptr(Message) inner = message_new(joined);
    g_autoptr(GString) head = g_string_new(NULL);
    if (trace)
        g_string_append_printf(head, "Received: %s\r\n", trace);
    for (size_t i = 0; i < message_field_count(outer); i++) {
        const Field *field = message_field(outer, i);
        if (field->name_length > 0 && !is_inner(field) && !is_signature(field))
            add_field(head, field);
    }
    for (size_t i = 0; i < message_field_count(inner); i++) {
        const Field *field = message_field(inner, i);
        if (field->name_length > 0 && is_inner(field))
            add_field(head, field);
    }
    if (!message_ends_header_early(inner))
        g_string_append(head, "\r\n");
    GPtrArray *whole = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    g_ptr_array_add(whole, g_string_free_to_bytes(g_steal_pointer(&head)));
    g_ptr_array_add(whole, message_body(inner));
    return whole;
}
