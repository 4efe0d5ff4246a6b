/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/number_range.h"

#include <string.h>

#include <glib.h>

#define DIGITS_MAX 17

/* Returns how many bytes a number has with its mark; 0: there is none. */
static size_t read_number(const char *text, char mark, int64_t *number)
{
    size_t before = mark && g_ascii_tolower(*text) == mark;
    size_t digits = strspn(text + before, "0123456789");
    if (digits == 0 || digits > DIGITS_MAX)
        return 0;
    *number = g_ascii_strtoll(text + before, NULL, 10);
    return before + digits;
}

size_t number_range_read(const char *text, char mark, NumberRange *range)
{
    size_t length = read_number(text, mark, &range->first);
    if (length == 0)
        return 0;
    const char *end = text + length;
    size_t between = *end == '-' ? 1 : strncmp(end, "..", 2) == 0 ? 2 : 0;
    size_t more = between > 0 ? read_number(end + between, mark, &range->last) : 0;
    if (more == 0)
        range->last = range->first;
    return range->last < range->first ? 0 : length + (more > 0 ? between + more : 0);
}
