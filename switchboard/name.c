/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "switchboard/name.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define SECONDS_DIGITS 10
#define MICROS_DIGITS 6

/* One more than the value; 0: no digit. A large queue's listing spends its time here. */
static const uint8_t digit_values[256] = {
    ['0'] = 1, ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16};

/* Reads exactly count decimal digits; -1 when there are others. */
static int64_t read_decimal(const char *text, int count)
{
    int64_t value = 0;
    for (int i = 0; i < count; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

void name_hash_format(const uint8_t hash[HASH_SIZE], char text[HASH_DIGITS + 1])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < HASH_SIZE; i++) {
        text[2 * i] = digits[hash[i] >> 4];
        text[2 * i + 1] = digits[hash[i] & 15];
    }
    text[HASH_DIGITS] = '\0';
}

char *name_effect(const char *queue, const uint8_t hash[HASH_SIZE])
{
    char digits[HASH_DIGITS + 1];
    name_hash_format(hash, digits);
    return g_strdup_printf("%s:%s", queue, digits);
}

bool name_hash_parse(const char *text, uint8_t hash[HASH_SIZE])
{
    for (int i = 0; i < HASH_SIZE; i++) {
        unsigned high = digit_values[(uint8_t)text[2 * i]];
        unsigned low = high == 0 ? 0 : digit_values[(uint8_t)text[2 * i + 1]];
        if (low == 0)
            return false;
        hash[i] = (uint8_t)((high - 1) << 4 | (low - 1));
    }
    return true;
}

void name_format(const EntryName *name, char text[NAME_SIZE])
{
    int64_t due = CLAMP(name->due, 0, INT64_C(9999999999999999));
    int64_t seconds = due / CLOCK_SECOND, micros = due % CLOCK_SECOND;
    for (int i = SECONDS_DIGITS - 1; i >= 0; i--, seconds /= 10)
        text[i] = (char)('0' + seconds % 10);
    text[SECONDS_DIGITS] = '.';
    for (int i = SECONDS_DIGITS + MICROS_DIGITS; i > SECONDS_DIGITS; i--, micros /= 10)
        text[i] = (char)('0' + micros % 10);
    text[SECONDS_DIGITS + 1 + MICROS_DIGITS] = '+';
    name_hash_format(name->hash, text + SECONDS_DIGITS + MICROS_DIGITS + 2);
}

bool name_parse(const char *text, EntryName *name, const char **rest)
{
    if (strnlen(text, NAME_LENGTH) < NAME_LENGTH || text[SECONDS_DIGITS] != '.' ||
        text[SECONDS_DIGITS + MICROS_DIGITS + 1] != '+')
        return false;
    int64_t seconds = read_decimal(text, SECONDS_DIGITS);
    int64_t micros = read_decimal(text + SECONDS_DIGITS + 1, MICROS_DIGITS);
    if (seconds < 0 || micros < 0 || !name_hash_parse(text + SECONDS_DIGITS + MICROS_DIGITS + 2, name->hash))
        return false;
    if (text[NAME_LENGTH] != '\0' && text[NAME_LENGTH] != '.')
        return false;
    name->due = seconds * CLOCK_SECOND + micros;
    if (rest)
        *rest = text + NAME_LENGTH;
    return true;
}

int name_compare(const EntryName *a, const EntryName *b)
{
    if (a->due != b->due)
        return a->due < b->due ? -1 : 1;
    return memcmp(a->hash, b->hash, HASH_SIZE);
}

int name_hash_compare(const void *a, const void *b)
{
    return memcmp(a, b, HASH_SIZE);
}
