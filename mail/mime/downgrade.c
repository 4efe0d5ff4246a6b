/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/mime/downgrade.h"

#include <gmime/gmime.h>
#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "mail/mime/mime_tree.h"

/* Parts of type message have no encoding of their own (RFC 2045, section 6.4): a fragment (message/partial) would be
 * joined with its encoding. Those of RFC 6532 and 6533 (message/global...) may have one. */
static bool may_be_encoded(GMimePart *part)
{
    GMimeContentType *type = g_mime_object_get_content_type(GMIME_OBJECT(part));
    return !g_mime_content_type_is_type(type, "message", "*") ||
           g_ascii_strncasecmp(g_mime_content_type_get_media_subtype(type), "global", strlen("global")) == 0;
}

/* The bytes that GMime wrote. */
static GBytes *take_bytes(GMimeStream *stream)
{
    GByteArray *octets = g_mime_stream_mem_get_byte_array(GMIME_STREAM_MEM(stream));
    return g_bytes_new(octets->data, octets->len);
}

/* Are lines of the part long as they stand in the message? */
static bool has_long_line(GMimePart *part)
{
    GMimeDataWrapper *content = g_mime_part_get_content(part);
    GMimeStream *raw = content ? g_mime_data_wrapper_get_stream(content) : NULL, *copy = g_mime_stream_mem_new();
    if (raw) {
        g_mime_stream_reset(raw);
        g_mime_stream_write_to_stream(raw, copy);
        g_mime_stream_reset(raw);
    }
    g_autoptr(GBytes) octets = take_bytes(copy);
    g_object_unref(copy);
    return bytes_long_line(g_bytes_get_data(octets, NULL), g_bytes_get_size(octets));
}

/* Decode a part, so that it is encoded anew, in lines, when it is written. */
static void decode_leaf(GMimePart *part)
{
    GMimeStream *plain = g_mime_stream_mem_new();
    g_mime_data_wrapper_write_to_stream(g_mime_part_get_content(part), plain);
    g_mime_stream_reset(plain);
    GMimeDataWrapper *content = g_mime_data_wrapper_new_with_stream(plain, GMIME_CONTENT_ENCODING_DEFAULT);
    g_mime_part_set_content(part, content);
    g_object_unref(content);
    g_object_unref(plain);
}

static void encode_leaf(GMimePart *part, GMimeEncodingConstraint constraint)
{
    if (!may_be_encoded(part))
        return;
    GMimeContentEncoding now = g_mime_part_get_content_encoding(part);
    bool is_long = has_long_line(part);
    if (now == GMIME_CONTENT_ENCODING_BASE64 || now == GMIME_CONTENT_ENCODING_QUOTEDPRINTABLE) {
        if (is_long)
            decode_leaf(part);
        return;
    }
    if (constraint == GMIME_ENCODING_CONSTRAINT_8BIT && !is_long)
        return;
    GMimeContentEncoding best = g_mime_part_get_best_content_encoding(part, constraint);
    if (best == GMIME_CONTENT_ENCODING_BASE64 || best == GMIME_CONTENT_ENCODING_QUOTEDPRINTABLE)
        g_mime_part_set_content_encoding(part, best);
}

/* A part is encoded by what it holds, whatever it says of itself. What
 * holds parts has no encoding but theirs. The parser bounds the depth. */
static void encode(GMimeObject *part, GMimeEncodingConstraint constraint)
{
    if (!part || GMIME_IS_MULTIPART_SIGNED(part))
        return;
    if (GMIME_IS_PART(part)) {
        encode_leaf(GMIME_PART(part), constraint);
        return;
    }
    if (constraint == GMIME_ENCODING_CONSTRAINT_7BIT)
        g_mime_object_remove_header(part, "Content-Transfer-Encoding");
    if (GMIME_IS_MULTIPART(part))
        for (int at = 0; at < g_mime_multipart_get_count(GMIME_MULTIPART(part)); at++)
            encode(g_mime_multipart_get_part(GMIME_MULTIPART(part), at), constraint);
    if (GMIME_IS_MESSAGE_PART(part) && g_mime_message_part_get_message(GMIME_MESSAGE_PART(part)))
        encode(g_mime_message_get_mime_part(g_mime_message_part_get_message(GMIME_MESSAGE_PART(part))), constraint);
}

static GBytes *write_out(GMimeMessage *message)
{
    GMimeStream *stream = g_mime_stream_mem_new();
    GMimeStream *filtered = g_mime_stream_filter_new(stream);
    GMimeFilter *line_ends = g_mime_filter_unix2dos_new(FALSE);
    g_mime_stream_filter_add(GMIME_STREAM_FILTER(filtered), line_ends);
    g_mime_object_write_to_stream(GMIME_OBJECT(message), NULL, filtered);
    g_mime_stream_flush(filtered);
    GBytes *result = take_bytes(stream);
    g_object_unref(line_ends);
    g_object_unref(filtered);
    g_object_unref(stream);
    return result;
}

static GBytes *convert(GBytes *message, GMimeEncodingConstraint constraint)
{
    GMimeMessage *parsed = mime_tree(message);
    if (!parsed)
        return g_bytes_ref(message);
    encode(g_mime_message_get_mime_part(parsed), constraint);
    GBytes *result = write_out(parsed);
    g_object_unref(parsed);
    return result;
}

GBytes *downgrade_to_7bit(GBytes *message)
{
    return bytes_8bit_of(message) ? convert(message, GMIME_ENCODING_CONSTRAINT_7BIT) : g_bytes_ref(message);
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

/* Copy the header with line ends before blanks of what is too long; a blank at the end of a line is none of them. */
static void fold_header(GByteArray *to, const char *at, const char *end)
{
    while (at < end) {
        const char *feed = memchr(at, '\n', (size_t)(end - at)), *next = feed ? feed + 1 : end;
        const char *last = feed && feed > at && feed[-1] == '\r' ? feed - 1 : feed ? feed : end;
        while (last > at && (last[-1] == ' ' || last[-1] == '\t'))
            last--;
        for (const char *place; last - at > BYTES_LINE && (place = fold_place(at, last)); at = place) {
            g_byte_array_append(to, (const guint8 *)at, (guint)(place - at));
            g_byte_array_append(to, (const guint8 *)"\r\n", 2);
        }
        g_byte_array_append(to, (const guint8 *)at, (guint)(next - at));
        at = next;
    }
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
        body_fits = convert(message, GMIME_ENCODING_CONSTRAINT_8BIT);
    octets = g_bytes_get_data(body_fits ? body_fits : message, &length);
    head = header_length(octets, length);
    if (!bytes_long_line(octets, head))
        return body_fits ? g_steal_pointer(&body_fits) : g_bytes_ref(message);
    GByteArray *folded = g_byte_array_sized_new((guint)length + 64);
    fold_header(folded, octets, octets + head);
    g_byte_array_append(folded, (const guint8 *)octets + head, (guint)(length - head));
    return g_byte_array_free_to_bytes(folded);
}
