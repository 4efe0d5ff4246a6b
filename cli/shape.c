/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/shape.h"

#include <stdio.h>
#include <string.h>

#include "cli/listing.h"

typedef struct Row {
    char *domain;
    int64_t total;
    int64_t counts[SHAPE_BUCKETS_MAX];
} Row;

struct Shape {
    unsigned buckets;
    int tick; /* minutes */
    bool linear;
    Row sum;
    GHashTable *rows; /* domain -> Row */
};

static void row_free(gpointer data)
{
    Row *row = data;
    g_free(row->domain);
    g_free(row);
}

Shape *shape_new(unsigned buckets, int tick, bool linear)
{
    Shape *shape = g_new0(Shape, 1);
    *shape = (Shape){.buckets = buckets, .tick = tick, .linear = linear};
    shape->rows = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, row_free);
    return shape;
}

void shape_free(Shape *shape)
{
    if (!shape)
        return;
    g_hash_table_unref(shape->rows);
    g_free(shape);
}

/* The upper bound of a column, in minutes. */
static int64_t bound(const Shape *shape, unsigned bucket)
{
    return shape->linear ? (int64_t)shape->tick * (bucket + 1) : (int64_t)shape->tick << bucket;
}

/* Return the column, from 0, for an age in seconds. */
static unsigned column_of(const Shape *shape, int64_t age)
{
    unsigned bucket = 0;
    while (bucket + 1 < shape->buckets && age >= 60 * bound(shape, bucket))
        bucket++;
    return bucket;
}

void shape_add(Shape *shape, const char *domain, int64_t age)
{
    Row *row = g_hash_table_lookup(shape->rows, domain);
    if (!row) {
        row = g_new0(Row, 1);
        row->domain = g_strdup(domain);
        g_hash_table_insert(shape->rows, row->domain, row);
    }
    unsigned bucket = column_of(shape, age);
    row->total++;
    row->counts[bucket]++;
    shape->sum.total++;
    shape->sum.counts[bucket]++;
}

static gint compare(gconstpointer a, gconstpointer b)
{
    const Row *one = *(Row *const *)a, *other = *(Row *const *)b;
    if (one->total != other->total)
        return one->total > other->total ? -1 : 1;
    size_t length = strlen(one->domain), other_length = strlen(other->domain);
    return length != other_length ? (length < other_length ? -1 : 1) : strcmp(one->domain, other->domain);
}

static char *title(const Shape *shape, unsigned bucket)
{
    bool last = bucket + 1 == shape->buckets;
    return g_strdup_printf("%" G_GINT64_FORMAT "%s", bound(shape, last ? bucket - 1 : bucket), last ? "+" : "");
}

static void print_row(const Shape *shape, Listing *listing, const char *domain, const Row *row)
{
    json_t *object = json_object();
    json_object_set_new(object, "domain", listing_text(domain));
    json_object_set_new(object, "total", json_integer(row->total));
    for (unsigned i = 0; i < shape->buckets; i++) {
        g_autofree char *name = title(shape, i);
        json_object_set_new(object, name, json_integer(row->counts[i]));
    }
    listing_row(listing, object);
}

void shape_print(const Shape *shape, int top, bool json)
{
    Column columns[SHAPE_BUCKETS_MAX + 3] = {{"domain", "", COLUMN_TEXT}, {"total", "T", COLUMN_NUMBER}};
    g_autoptr(GPtrArray) titles = g_ptr_array_new_with_free_func(g_free);
    for (unsigned i = 0; i < shape->buckets; i++) {
        char *text = title(shape, i);
        g_ptr_array_add(titles, text);
        columns[2 + i] = (Column){text, text, COLUMN_NUMBER};
    }
    g_autoptr(GPtrArray) rows = g_ptr_array_new();
    GHashTableIter iter;
    gpointer row;
    g_hash_table_iter_init(&iter, shape->rows);
    while (g_hash_table_iter_next(&iter, NULL, &row))
        g_ptr_array_add(rows, row);
    g_ptr_array_sort(rows, compare);
    g_autoptr(Listing) listing = listing_new(columns, json);
    print_row(shape, listing, "TOTAL", &shape->sum);
    for (guint i = 0; i < rows->len && (top < 0 || i < (guint)top); i++)
        print_row(shape, listing, ((Row *)rows->pdata[i])->domain, rows->pdata[i]);
    g_clear_pointer(&listing, listing_free); /* before the titles go */
}
