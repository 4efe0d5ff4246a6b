/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/listing.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/plain.h"

#define REAL_DIGITS 15 /* of a number in JSON: what was written as 0.1 is shown so */

struct Listing {
    const Column *columns;
    size_t count;
    bool json;
    bool begun;       /* widths are settled */
    int *widths;
    GPtrArray *rows;  /* of char ** (cells), until begun */
};

json_t *listing_text(const char *text)
{
    if (!text)
        return json_null();
    if (g_utf8_validate(text, -1, NULL))
        return json_string(text);
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    return json_string(valid);
}

json_t *listing_texts(const char *const *texts)
{
    json_t *array = json_array();
    for (; *texts; texts++)
        json_array_append_new(array, listing_text(*texts));
    return array;
}

json_t *listing_time(int64_t time)
{
    if (time <= 0)
        return json_null();
    g_autofree char *text = clock_text(time);
    return json_string(text);
}

/* "3m12s", "2d4h"; g_free(). */
static char *span_text(int64_t seconds)
{
    static const struct {
        int64_t length;
        char letter;
    } units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
    g_autoptr(GString) text = g_string_new(seconds < 0 ? "-" : "");
    seconds = ABS(seconds);
    size_t first = 0;
    while (first < 3 && seconds < units[first].length)
        first++;
    g_string_append_printf(text, "%" G_GINT64_FORMAT "%c", seconds / units[first].length, units[first].letter);
    if (first < 3 && seconds % units[first].length / units[first + 1].length > 0)
        g_string_append_printf(text, "%" G_GINT64_FORMAT "%c",
                               seconds % units[first].length / units[first + 1].length, units[first + 1].letter);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static char *value_text(const json_t *value, ColumnKind kind)
{
    if (json_is_integer(value) && kind == COLUMN_SPAN)
        return span_text(json_integer_value(value));
    if (json_is_integer(value))
        return g_strdup_printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
    if (json_is_real(value))
        return g_strdup_printf("%.2f", json_real_value(value));
    if (json_is_boolean(value))
        return g_strdup(json_is_true(value) ? "yes" : "no");
    if (json_is_string(value))
        return g_strdup(json_string_value(value));
    if (json_is_array(value)) {
        g_autoptr(GString) joined = g_string_new(NULL);
        for (size_t i = 0; i < json_array_size(value); i++) {
            g_autofree char *item = value_text(json_array_get(value, i), kind);
            g_string_append_printf(joined, "%s%s", i ? ", " : "", item);
        }
        return g_string_free(g_steal_pointer(&joined), FALSE);
    }
    if (json_is_object(value))
        return json_dumps(value, JSON_COMPACT);
    return g_strdup("-");
}

static int text_width(const char *text)
{
    int width = 0;
    for (; *text; text = g_utf8_next_char(text)) {
        gunichar c = g_utf8_get_char(text);
        width += g_unichar_iswide(c) ? 2 : g_unichar_iszerowidth(c) ? 0 : 1;
    }
    return width;
}

static void print_cells(const Listing *listing, char *const *cells)
{
    for (size_t i = 0; i < listing->count; i++) {
        int pad = MAX(0, listing->widths[i] - text_width(cells[i]));
        bool last = i + 1 == listing->count;
        if (listing->columns[i].kind == COLUMN_TEXT)
            printf("%s%*s", cells[i], last ? 0 : pad, "");
        else
            printf("%*s%s", pad, "", cells[i]);
        fputs(last ? "\n" : "  ", stdout);
    }
}

/* Settles the widths and writes the rows kept so far. */
static void begin(Listing *listing)
{
    listing->begun = true;
    if (listing->rows->len == 0)
        return;
    g_autofree char **titles = g_new0(char *, listing->count + 1);
    for (size_t i = 0; i < listing->count; i++) {
        titles[i] = (char *)listing->columns[i].title;
        listing->widths[i] = text_width(titles[i]);
        for (guint row = 0; row < listing->rows->len; row++)
            listing->widths[i] = MAX(listing->widths[i], text_width(((char **)listing->rows->pdata[row])[i]));
    }
    print_cells(listing, titles);
    for (guint row = 0; row < listing->rows->len; row++)
        print_cells(listing, listing->rows->pdata[row]);
    g_ptr_array_set_size(listing->rows, 0);
}

Listing *listing_new(const Column *columns, bool json)
{
    Listing *listing = g_new0(Listing, 1);
    listing->columns = columns;
    while (columns[listing->count].key && columns[listing->count].title)
        listing->count++;
    listing->json = json;
    listing->widths = g_new0(int, listing->count + 1);
    listing->rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
    return listing;
}

void listing_row(Listing *listing, json_t *row)
{
    if (listing->json) {
        listing_json(row);
        json_decref(row);
        return;
    }
    g_auto(GStrv) cells = g_new0(char *, listing->count + 1);
    for (size_t i = 0; i < listing->count; i++) {
        g_autofree char *text = value_text(json_object_get(row, listing->columns[i].key), listing->columns[i].kind);
        cells[i] = plain_text(text);
    }
    json_decref(row);
    if (listing->begun) {
        print_cells(listing, cells);
        return;
    }
    g_ptr_array_add(listing->rows, g_steal_pointer(&cells));
    if (listing->rows->len >= LISTING_WIDTH_ROWS)
        begin(listing);
}

void listing_free(Listing *listing)
{
    if (!listing)
        return;
    if (!listing->begun)
        begin(listing);
    g_ptr_array_unref(listing->rows);
    g_free(listing->widths);
    g_free(listing);
}

void listing_json(const json_t *value)
{
    json_dumpf(value, stdout, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(REAL_DIGITS));
    putchar('\n');
}

void listing_show(json_t *object, bool json)
{
    const char *key;
    json_t *value;
    int width = 0;
    json_object_foreach(object, key, value)
        width = MAX(width, (int)strlen(key));
    if (json)
        listing_json(object);
    else
        json_object_foreach(object, key, value) {
            g_autofree char *text = value_text(value, COLUMN_TEXT);
            g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
            printf("%s:%*s", key, *text ? width + 1 - (int)strlen(key) : 0, "");
            for (size_t i = 0; lines[i]; i++) {
                g_autofree char *shown = plain_text(lines[i]);
                printf("%*s%s\n", i ? width + 2 : 0, "", shown);
            }
            if (!lines[0])
                putchar('\n');
        }
    json_decref(object);
}
