/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/transfer.h"

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

void transfer_encode_byte(GString *out, unsigned char byte)
{
    g_string_append_printf(out, "=%02X", byte);
}
