/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/transfer.h"

#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "mail/transfer.h"

#define BASE64_LINE 57 /* bytes that make such a line */

int transfer_take_quoted(const char **at, const char *end)
{
    const char *start = (*at)++;
    if (*start != '=')
        return (unsigned char)*start;
    const char *next = start + 1;
    while (next < end && (*next == ' ' || *next == '\t' || *next == '\r'))
        next++;
    if (next < end && *next == '\n') {
        *at = next + 1;
        return -1;
    }
    if (end - start < 3 || !g_ascii_isxdigit(start[1]) || !g_ascii_isxdigit(start[2]))
        return '=';
    *at = start + 3;
    return g_ascii_xdigit_value(start[1]) << 4 | g_ascii_xdigit_value(start[2]);
}

void transfer_decode_quoted(const char *text, size_t length, GString *out)
{
    for (const char *at = text, *end = text + length; at < end;) {
        int byte = transfer_take_quoted(&at, end);
        if (byte >= 0)
            g_string_append_c(out, (char)byte);
    }
}

void transfer_decode_base64(const char *text, size_t length, GString *out)
{
    int state = 0;
    guint save = 0;
    gsize start = out->len;
    g_string_set_size(out, start + length / 4 * 3 + 3);
    g_string_set_size(out, start + g_base64_decode_step(text, length, (guchar *)out->str + start, &state, &save));
}

const char *transfer_needed(const char *bytes, size_t length)
{
    size_t high = 0;
    for (size_t at = 0; at < length; at++)
        high += (unsigned char)bytes[at] > 127;
    bool nul = length > 0 && memchr(bytes, '\0', length);
    if (nul ||
        (high > 0 && high >= length * 17 / 100)) /* base64 makes 4 of 3 bytes, quoted-printable 3 of one above 127 */
        return "base64";
    return high > 0 || bytes_long_line(bytes, length) ? "quoted-printable" : NULL;
}

void transfer_encode_quoted(GString *out, size_t *column, const char *bytes, size_t length, const char *line_end)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t used = *column;
    for (const char *at = bytes, *end = bytes + length; at < end; at++) {
        bool two = *at == '\r' && end - at > 1 && at[1] == '\n';
        if (two || *at == '\n') {
            g_string_append_len(out, at, two ? 2 : 1);
            at += two;
            used = 0;
            continue;
        }
        bool last = end - at == 1 || at[1] == '\n' || (end - at > 2 && at[1] == '\r' && at[2] == '\n');
        bool plain = g_ascii_isgraph(*at) ? *at != '=' : (*at == ' ' || *at == '\t') && !last;
        if (used + (plain ? 1 : 3) >= TRANSFER_LINE) { /* so that there is room for a "=" */
            g_string_append_c(out, '=');
            g_string_append(out, line_end);
            used = 0;
        }
        plain = plain && !(*at == '.' && used == 0); /* some servers take a dot away there, or end the mail */
        if (plain) {
            g_string_append_c(out, *at);
            used++;
            continue;
        }
        const char code[] = {'=', digits[(unsigned char)*at >> 4], digits[(unsigned char)*at & 15]};
        g_string_append_len(out, code, sizeof code);
        used += sizeof code;
    }
    *column = used;
}

void transfer_encode(GString *out, const char *encoding, const char *bytes, size_t length, const char *line_end)
{
    if (strcmp(encoding, "base64") != 0) {
        transfer_encode_quoted(out, &(size_t){0}, bytes, length, line_end);
        return;
    }
    for (size_t at = 0; at < length; at += BASE64_LINE) {
        g_autofree char *line = g_base64_encode((const guchar *)bytes + at, MIN(length - at, BASE64_LINE));
        g_string_append(out, line);
        g_string_append(out, line_end);
    }
}

void wire_append(GByteArray *wire, const char *text, size_t length)
{
    const char *end = text + length;
    while (text < end) {
        const char *feed = memchr(text, '\n', (size_t)(end - text));
        const char *stop = feed ? feed : end;
        g_byte_array_append(wire, (const guint8 *)text, (guint)(stop - text));
        if (!feed)
            return;
        if (wire->len == 0 || wire->data[wire->len - 1] != '\r')
            g_byte_array_append(wire, (const guint8 *)"\r", 1);
        g_byte_array_append(wire, (const guint8 *)"\n", 1);
        text = feed + 1;
    }
}

GBytes *wire_end(GByteArray *wire)
{
    if (wire->len > 0 && wire->data[wire->len - 1] != '\n')
        g_byte_array_append(wire, (const guint8 *)"\r\n", 2);
    return g_byte_array_free_to_bytes(wire);
}

GBytes *wire_text(const char *text, size_t length)
{
    GByteArray *wire = g_byte_array_sized_new((guint)(length + length / 32 + 2));
    wire_append(wire, text, length);
    return wire_end(wire);
}
