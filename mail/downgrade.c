/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/downgrade.h"

#include <gmime/gmime.h>
#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "mail/mime_tree.h"

/* Parts of type message have no encoding of their own (RFC 2045, section 6.4): a fragment (message/partial) would be
 * joined with its encoding. Those of RFC 6532 and 6533 (message/global...) may have one. */
static bool may_be_encoded(GMimePart *part)
{
    GMimeContentType *type = g_mime_object_get_content_type(GMIME_OBJECT(part));
    return !g_mime_content_type_is_type(type, "message", "*") ||
           g_ascii_strncasecmp(g_mime_content_type_get_media_subtype(type), "global", strlen("global")) == 0;
}

static void encode_leaf(GMimePart *part)
{
    if (!may_be_encoded(part))
        return;
    GMimeContentEncoding now = g_mime_part_get_content_encoding(part);
    if (now == GMIME_CONTENT_ENCODING_BASE64 || now == GMIME_CONTENT_ENCODING_QUOTEDPRINTABLE)
        return;
    GMimeContentEncoding best = g_mime_part_get_best_content_encoding(part, GMIME_ENCODING_CONSTRAINT_7BIT);
    if (best == GMIME_CONTENT_ENCODING_BASE64 || best == GMIME_CONTENT_ENCODING_QUOTEDPRINTABLE)
        g_mime_part_set_content_encoding(part, best);
}

/* A part is encoded by what it holds, whatever it says of itself. What
 * holds parts has no encoding but theirs. The parser bounds the depth. */
static void encode(GMimeObject *part)
{
    if (!part || GMIME_IS_MULTIPART_SIGNED(part))
        return;
    if (GMIME_IS_PART(part)) {
        encode_leaf(GMIME_PART(part));
        return;
    }
    g_mime_object_remove_header(part, "Content-Transfer-Encoding");
    if (GMIME_IS_MULTIPART(part))
        for (int at = 0; at < g_mime_multipart_get_count(GMIME_MULTIPART(part)); at++)
            encode(g_mime_multipart_get_part(GMIME_MULTIPART(part), at));
    if (GMIME_IS_MESSAGE_PART(part) && g_mime_message_part_get_message(GMIME_MESSAGE_PART(part)))
        encode(g_mime_message_get_mime_part(g_mime_message_part_get_message(GMIME_MESSAGE_PART(part))));
}

static GBytes *write_out(GMimeMessage *message)
{
    GMimeStream *stream = g_mime_stream_mem_new();
    GMimeStream *filtered = g_mime_stream_filter_new(stream);
    GMimeFilter *line_ends = g_mime_filter_unix2dos_new(FALSE);
    g_mime_stream_filter_add(GMIME_STREAM_FILTER(filtered), line_ends);
    g_mime_object_write_to_stream(GMIME_OBJECT(message), NULL, filtered);
    g_mime_stream_flush(filtered);
    GByteArray *octets = g_mime_stream_mem_get_byte_array(GMIME_STREAM_MEM(stream));
    GBytes *result = g_bytes_new(octets->data, octets->len);
    g_object_unref(line_ends);
    g_object_unref(filtered);
    g_object_unref(stream);
    return result;
}

GBytes *downgrade_to_7bit(GBytes *message)
{
    if (!bytes_8bit_of(message))
        return g_bytes_ref(message);
    GMimeMessage *parsed = mime_tree(message);
    if (!parsed)
        return g_bytes_ref(message);
    encode(g_mime_message_get_mime_part(parsed));
    GBytes *result = write_out(parsed);
    g_object_unref(parsed);
    return result;
}
