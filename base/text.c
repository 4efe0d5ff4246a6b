/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/text.h"

#include <string.h>

#include "base/fail.h"

/* ---- a mistyped word ---- */

void near_word_offer(NearWord *near, const char *candidate)
{
    const char *a = near->wanted, *b = candidate;
    size_t rows = strlen(a) + 1, columns = strlen(b) + 1;
    /* Each missing byte is a change, so that long words from outside cost nothing. */
    if ((rows > columns ? rows - columns : columns - rows) >= near->distance)
        return;
    /* How many changes turn the first i bytes of a into the first j of b. */
    g_autofree size_t *cells = g_new0(size_t, rows * columns);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            size_t *cell = cells + i * columns + j;
            if (i == 0 || j == 0) {
                *cell = i + j;
                continue;
            }
            *cell = *(cell - columns - 1) + (a[i - 1] != b[j - 1]);
            *cell = MIN(*cell, MIN(*(cell - columns), *(cell - 1)) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                *cell = MIN(*cell, *(cell - 2 * columns - 2) + 1);
        }
    size_t found = cells[rows * columns - 1];
    if (found < near->distance && found < columns - 1) {
        near->best = candidate;
        near->distance = found;
    }
}

/* ---- numbers ---- */

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

/* ---- placeholders ---- */

size_t placeholder_read(const char *dollar, const char **name, const char **end)
{
    *name = dollar + 1 + (dollar[1] == '{');
    size_t length = 0;
    while (g_ascii_isalnum((*name)[length]) || (*name)[length] == '_')
        length++;
    *end = *name + length;
    bool closed = dollar[1] != '{' || *(*end)++ == '}';
    return closed ? length : 0;
}

char **placeholder_names(const char *text)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (const char *dollar = strchr(text, '$'); dollar;) {
        const char *name, *end;
        size_t length = dollar[1] == '$' ? 0 : placeholder_read(dollar, &name, &end);
        g_autofree char *found = length > 0 && !g_ascii_isdigit(*name) ? g_strndup(name, length) : NULL;
        if (found && !g_ptr_array_find_with_equal_func(names, found, g_str_equal, NULL))
            g_ptr_array_add(names, g_steal_pointer(&found));
        dollar = strchr(dollar + (dollar[1] == '$' ? 2 : 1), '$');
    }
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&names), FALSE);
}

char *placeholder_keep_unknown(const char *text, const char *known, char **unknown)
{
    g_auto(GStrv) allowed = g_strsplit(known, " ", -1), names = placeholder_names(text);
    g_autoptr(GString) kept = g_string_new(NULL), odd = g_string_new(NULL);
    for (char **name = names; *name; name++)
        if (!g_strv_contains((const char *const *)allowed, *name))
            g_string_append_printf(odd, "%s$%s", odd->len > 0 ? ", " : "", *name);
    for (const char *at = text; *at;) {
        const char *name, *end;
        size_t length = *at == '$' && at[1] != '$' ? placeholder_read(at, &name, &end) : 0;
        g_autofree char *found = length > 0 && !g_ascii_isdigit(*name) ? g_strndup(name, length) : NULL;
        size_t step = *at == '$' && at[1] == '$' ? 2 : 1;
        if (found && !g_strv_contains((const char *const *)allowed, found))
            g_string_append_c(kept, '$');
        g_string_append_len(kept, at, (gssize)step);
        at += step;
    }
    *unknown = odd->len > 0 ? g_string_free(g_steal_pointer(&odd), FALSE) : NULL;
    return g_string_free(g_steal_pointer(&kept), FALSE);
}

bool placeholder_check(const char *what, const char *text, const char *known, GError **error)
{
    g_auto(GStrv) names = placeholder_names(text), allowed = g_strsplit(known, " ", -1);
    for (char **name = names; *name; name++)
        if (!g_strv_contains((const char *const *)allowed, *name)) {
            g_autofree char *words = g_strjoinv(", $", allowed);
            return fail(error, FAIL_NEVER,
                        "%s: $%s is not filled in; there are: $%s (a dollar sign alone is written $$)", what, *name,
                        words);
        }
    return true;
}
