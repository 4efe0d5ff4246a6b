/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/mime/mime_tree.h"

#include <gmime/gmime.h>
#include <stdbool.h>
#include <string.h>

/* GMime reads the address fields of each message, also of one within another, as it meets them, and calls itself for
 * each group in a group: 90 KB of "Cc: g:g:g:" end the process. Nobody asks the tree for addresses, nor for the
 * Subject, the Date or the ids that are read in the same place. So let a message keep its fields as any other object
 * does: as text. */
static void leave_addresses_alone(void)
{
    GMimeObjectClass *message = g_type_class_ref(GMIME_TYPE_MESSAGE); /* never let go: it would come back as it was */
    const GMimeObjectClass *object = g_type_class_peek_parent(message);
    message->header_added = object->header_added;
    message->header_changed = object->header_changed;
    message->header_removed = object->header_removed;
    message->headers_cleared = object->headers_cleared;
}

static void initialize(void)
{
    static gsize done = 0;
    if (!g_once_init_enter(&done))
        return;
    g_mime_init();
    leave_addresses_alone();
    g_once_init_leave(&done, 1);
}

/* ---- how many parts ---- */

static bool begins_with(const char *at, size_t length, const char *word)
{
    return length >= strlen(word) && g_ascii_strncasecmp(at, word, strlen(word)) == 0;
}

/* How often a parameter of that name may stand in the line. */
static size_t count_boundaries_named(const char *at, size_t length)
{
    size_t found = 0;
    for (const char *end = at + length; (size_t)(end - at) >= strlen("boundary"); at++)
        found += (*at | 0x20) == 'b' && begins_with(at, (size_t)(end - at), "boundary");
    return found;
}

/* One number for all lines that can begin a part of the same multipart: GMime passes over blanks at the end. */
static void *boundary_group(const char *line, size_t length)
{
    while (length > 2 && g_ascii_isspace(line[length - 1]))
        length--;
    if (length > 4 && memcmp(line + length - 2, "--", 2) == 0)
        length -= 2;
    size_t group = 5381;
    for (size_t at = 2; at < length; at++)
        group = group * 33 + (unsigned char)line[at];
    return GSIZE_TO_POINTER(group);
}

static int compare_descending(const void *one, const void *other)
{
    size_t first = *(const size_t *)one, second = *(const size_t *)other;
    return (first < second) - (first > second);
}

/* How many lines stand in the largest groups, of which no more count than there are boundaries. */
static size_t in_largest_groups(GHashTable *groups, size_t boundaries)
{
    GHashTableIter iter;
    void *count;
    g_autoptr(GArray) counts = g_array_new(FALSE, FALSE, sizeof(size_t));
    g_hash_table_iter_init(&iter, groups);
    while (g_hash_table_iter_next(&iter, NULL, &count)) {
        size_t lines = GPOINTER_TO_SIZE(count);
        g_array_append_val(counts, lines);
    }
    g_array_sort(counts, compare_descending);
    size_t sum = 0;
    for (unsigned at = 0; at < counts->len && at < boundaries; at++)
        sum += g_array_index(counts, size_t, at);
    return sum;
}

/* A part begins at a line "--" with a boundary that a field names, or is a message, which a field names, too, but in a
 * digest. Comments of SQL and the like also begin with "--": they are not counted where nothing names boundaries. */
size_t mime_tree_parts(GBytes *octets)
{
    size_t length, boundaries = 0, types = 0;
    const char *at = g_bytes_get_data(octets, &length), *end = at ? at + length : NULL;
    g_autoptr(GHashTable) groups = g_hash_table_new(NULL, NULL);
    while (at < end) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        size_t line = feed ? (size_t)(feed - at) + 1 : (size_t)(end - at);
        boundaries += count_boundaries_named(at, line);
        types += begins_with(at, line, "Content-Type");
        if (line > 1 && at[0] == '-' && at[1] == '-') {
            void *group = boundary_group(at, line);
            g_hash_table_insert(groups, group,
                                GSIZE_TO_POINTER(GPOINTER_TO_SIZE(g_hash_table_lookup(groups, group)) + 1));
        }
        at += line;
    }
    return MAX(in_largest_groups(groups, boundaries), types);
}

/* The message without the fields that tell of parts. At the blank line the header ends for GMime, too, or before. */
static GBytes *as_text(GBytes *octets)
{
    size_t length;
    const char *at = g_bytes_get_data(octets, &length), *end = at + length;
    GString *text = g_string_sized_new(length);
    for (bool dropped = false; at < end && *at != '\n' && *at != '\r';) {
        const char *feed = memchr(at, '\n', (size_t)(end - at)), *next = feed ? feed + 1 : end;
        if (*at != ' ' && *at != '\t')
            dropped = begins_with(at, (size_t)(next - at), "Content-");
        if (!dropped)
            g_string_append_len(text, at, next - at);
        at = next;
    }
    g_string_append_len(text, at, end - at);
    return g_string_free_to_bytes(text);
}

GMimeMessage *mime_tree(GBytes *octets)
{
    initialize();
    g_autoptr(GBytes) bounded = mime_tree_parts(octets) > MIME_TREE_PARTS ? as_text(octets) : g_bytes_ref(octets);
    size_t length;
    const char *data = g_bytes_get_data(bounded, &length);
    GMimeStream *stream = g_mime_stream_mem_new_with_buffer(data ? data : "", length);
    GMimeParser *parser = g_mime_parser_new_with_stream(stream);
    GMimeMessage *message = g_mime_parser_construct_message(parser, NULL);
    g_object_unref(parser);
    g_object_unref(stream);
    return message;
}
