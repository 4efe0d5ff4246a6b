/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/wire.h"

#include <string.h>

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
