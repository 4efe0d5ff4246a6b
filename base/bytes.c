/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/bytes.h"

#include <stdint.h>
#include <string.h>

#define TOP_BITS UINT64_C(0x8080808080808080)

bool bytes_8bit(const void *data, size_t length)
{
    const unsigned char *at = data;
    uint64_t word;
    for (; length >= sizeof word; at += sizeof word, length -= sizeof word) {
        memcpy(&word, at, sizeof word);
        if (word & TOP_BITS)
            return true;
    }
    while (length > 0)
        if (at[--length] > 127)
            return true;
    return false;
}

bool bytes_8bit_of(GBytes *bytes)
{
    size_t length;
    const void *data = g_bytes_get_data(bytes, &length);
    return bytes_8bit(data, length);
}

bool bytes_long_line(const void *data, size_t length)
{
    const char *at = data;
    while (length > BYTES_LINE) {
        size_t window = MIN(length, BYTES_LINE + 2); /* a longest line, CR and LF */
        const char *feed = memrchr(at, '\n', window);
        if (!feed) /* the last line may lack its end */
            return length > BYTES_LINE + 1 || at[length - 1] != '\r';
        length -= (size_t)(feed + 1 - at);
        at = feed + 1;
    }
    return false;
}

int bytes_compare_texts(const void *one, const void *other)
{
    return strcmp(*(const char *const *)one, *(const char *const *)other);
}
