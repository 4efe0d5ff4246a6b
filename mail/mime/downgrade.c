/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/mime/downgrade.h"

#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "mail/message.h"
#include "mail/mime/mime.h"
#include "mail/transfer.h"

#define ENCODING "Content-Transfer-Encoding"

/* The encoding that a part is to be written in: one that it needs, or its own where that left lines long. NULL: it
 * stays as it is. Parts of type message have no encoding of their own (RFC 2045, section 6.4): a fragment
 * (message/partial) would be joined with its encoding. Those of RFC 6532 and 6533 (message/global...) may have one. */
static const char *encoding_for(const MimePart *part, bool seven_bits)
{
    if (part->closed || (g_str_has_prefix(part->type, "message/") && !g_str_has_prefix(part->type, "message/global")))
        return NULL;
    size_t length = (size_t)(part->end - part->body);
    bool is_long = bytes_long_line(part->body, length);
    if (strcmp(part->encoding, "base64") == 0 || strcmp(part->encoding, "quoted-printable") == 0)
        return is_long ? part->encoding : NULL;
    return !mime_is_encoded(part) && (seven_bits || is_long) ? transfer_needed(part->body, length) : NULL;
}

/* Write the message anew, with other heads and bodies of some parts in the place of their own. A part is encoded by
 * what it holds, whatever it says of itself. */
static GBytes *convert(GBytes *message, bool seven_bits)
{
    size_t length;
    g_autoptr(GPtrArray) parts = mime_parts_all(g_bytes_get_data(message, NULL), g_bytes_get_size(message));
    g_autoptr(GBytes) source = g_bytes_ref(message), nothing = g_bytes_new(NULL, 0);
    if (!parts) { /* more than anybody splits: one text, without the fields that tell of them */
        g_autoptr(Message) whole = message_new(message);
        message_remove_if(whole, field_is_content, NULL);
        g_bytes_unref(source);
        source = message_octets(whole);
    }
    const char *octets = g_bytes_get_data(source, &length), *done = octets;
    if (!parts)
        parts = mime_parts_most(octets, length, 1);
    GByteArray *to = g_byte_array_sized_new((guint)length + 64);
    for (guint at = 0; at < parts->len; at++) {
        const MimePart *part = parts->pdata[at];
        if (strcmp(part->type, "multipart/signed") == 0) {
            at = part->next - 1; /* the signature counts for more */
            continue;
        }
        bool holds = part->next > at + 1 || g_str_has_prefix(part->type, "multipart/");
        const char *encoding = !holds ? encoding_for(part, seven_bits) : NULL;
        if (!encoding && !(holds && seven_bits && *part->encoding))
            continue;
        wire_append(to, done, (size_t)(part->head - done));
        /* A head that names this encoding, or none, and ends with an empty line. */
        g_autoptr(GBytes) fields = mime_part_fields(part);
        g_autoptr(Message) head = message_new(fields);
        if (encoding)
            message_set(head, ENCODING, encoding);
        else
            message_remove(head, ENCODING);
        message_set_body(head, nothing);
        g_autoptr(GBytes) changed = message_octets(head);
        wire_append(to, g_bytes_get_data(changed, NULL), g_bytes_get_size(changed));
        done = part->body;
        if (!encoding)
            continue;
        g_autoptr(GString) encoded = g_string_new(NULL), content = mime_body(part, (size_t)(part->end - part->body));
        transfer_encode(encoded, encoding, content->str, content->len, "\r\n");
        wire_append(to, encoded->str, encoded->len);
        done = part->end;
    }
    if (done == octets) {
        g_byte_array_unref(to);
        return g_steal_pointer(&source);
    }
    wire_append(to, done, (size_t)(octets + length - done));
    return g_byte_array_free_to_bytes(to);
}

GBytes *downgrade_to_7bit(GBytes *message)
{
    return bytes_8bit_of(message) ? convert(message, true) : g_bytes_ref(message);
}

/* ---- long lines ---- */

#define FOLD_AT 900 /* bytes of a header line behind which it goes on in the next one */

/* The last blank of a line before its bound, and behind the first word of its value; NULL: there is none. */
static const char *fold_place(const char *line, const char *end)
{
    const char *colon = memchr(line, ':', (size_t)(end - line)), *from = colon ? colon + 1 : line;
    while (from < end && (*from == ' ' || *from == '\t'))
        from++;
    const char *bound = MIN(end, line + FOLD_AT);
    for (const char *at = bound; at-- > from;)
        if (*at == ' ' || *at == '\t')
            return at;
    for (const char *at = MAX(bound, from); at < end; at++)
        if (*at == ' ' || *at == '\t')
            return at;
    return NULL;
}

/* Up to the empty line that ends the header, which stays out. */
static size_t header_length(const char *octets, size_t length)
{
    const char *end = octets + length;
    for (const char *at = octets, *feed; at < end; at = feed + 1) {
        if (*at == '\n' || (*at == '\r' && at + 1 < end && at[1] == '\n'))
            return (size_t)(at - octets);
        if (!(feed = memchr(at, '\n', (size_t)(end - at))))
            break;
    }
    return length;
}

GBytes *downgrade_lines(GBytes *message)
{
    size_t length;
    const char *octets = g_bytes_get_data(message, &length);
    if (!bytes_long_line(octets, length))
        return g_bytes_ref(message);
    size_t head = header_length(octets, length);
    g_autoptr(GBytes) body_fits = NULL;
    if (bytes_long_line(octets + head, length - head))
        body_fits = convert(message, false);
    octets = g_bytes_get_data(body_fits ? body_fits : message, &length);
    head = header_length(octets, length);
    if (!bytes_long_line(octets, head))
        return body_fits ? g_steal_pointer(&body_fits) : g_bytes_ref(message);
    GByteArray *folded = g_byte_array_sized_new((guint)length + 64);
    /* The header with line ends before blanks of what is too long; a blank at the end of a line is none of them. */
    for (const char *at = octets, *end = octets + head, *next; at < end; at = next) {
        const char *feed = memchr(at, '\n', (size_t)(end - at)), *last = feed ? feed : end;
        next = feed ? feed + 1 : end;
        last -= feed && feed > at && feed[-1] == '\r';
        while (last > at && (last[-1] == ' ' || last[-1] == '\t'))
            last--;
        for (const char *place; last - at > BYTES_LINE && (place = fold_place(at, last)); at = place) {
            g_byte_array_append(folded, (const guint8 *)at, (guint)(place - at));
            g_byte_array_append(folded, (const guint8 *)"\r\n", 2);
        }
        g_byte_array_append(folded, (const guint8 *)at, (guint)(next - at));
    }
    g_byte_array_append(folded, (const guint8 *)octets + head, (guint)(length - head));
    return g_byte_array_free_to_bytes(folded);
}
