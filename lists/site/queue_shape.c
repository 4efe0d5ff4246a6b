/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/site/queue_shape.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "lists/keys.h"
#include "mail/copy.h"
#include "switchboard/entry.h"

#define SAMPLE_FROM 4 /* byte of the hash: those before may be of a shard key (entry.h), the same for many entries */

static const char *const suffixes[] = {".msg", ".bak", ".psv"}; /* the last one is counted by list alone */

typedef struct ShapeRow {
    char *queue, *name;
    int64_t total;
    int64_t *counts;
} ShapeRow;

/* A file that was found. */
typedef struct ShapeFile {
    Queue *queue;
    EntryName name;
} ShapeFile;

typedef struct ShapeWork {
    const QueueShapeSpec *spec;
    GArray *files;  /* of ShapeFile: all, or a little more than are to be read */
    size_t entries; /* that there are */
    size_t read, recipients;
    int64_t now;
    ShapeRow *sum;
    GHashTable *rows; /* ShapeRow -> itself */
    json_t *faults;
} ShapeWork;

/* ---- rows ---- */

static ShapeRow *row_new(const QueueShapeSpec *spec, const char *queue, const char *name)
{
    ShapeRow *row = g_new0(ShapeRow, 1);
    *row = (ShapeRow){.queue = g_strdup(queue), .name = g_strdup(name), .counts = g_new0(int64_t, spec->buckets)};
    return row;
}

static void row_free(void *data)
{
    ShapeRow *row = data;
    g_free(row->queue);
    g_free(row->name);
    g_free(row->counts);
    g_free(row);
}

static guint row_hash(const void *data)
{
    const ShapeRow *row = data;
    return g_str_hash(row->name) ^ g_str_hash(row->queue);
}

static gboolean row_equal(const void *one, const void *other)
{
    const ShapeRow *a = one, *b = other;
    return strcmp(a->name, b->name) == 0 && strcmp(a->queue, b->queue) == 0;
}

/* Most first, then the shorter name. */
static int compare_rows(const void *one, const void *other)
{
    const ShapeRow *a = *(ShapeRow *const *)one, *b = *(ShapeRow *const *)other;
    size_t length = strlen(a->name), other_length = strlen(b->name);
    if (a->total != b->total)
        return a->total > b->total ? -1 : 1;
    if (length != other_length)
        return length < other_length ? -1 : 1;
    int order = strcmp(a->name, b->name);
    return order ? order : strcmp(a->queue, b->queue);
}

/* ---- ages ---- */

/* The upper bound of a column, in minutes. */
static int64_t bound_of(const QueueShapeSpec *spec, unsigned bucket)
{
    return spec->linear ? (int64_t)spec->tick * (bucket + 1) : (int64_t)spec->tick << bucket;
}

static void count(ShapeWork *work, const char *queue, const char *name, int64_t age)
{
    const ShapeRow key = {.queue = (char *)queue, .name = (char *)name};
    ShapeRow *row = g_hash_table_lookup(work->rows, &key);
    unsigned column = 0;
    while (column + 1 < work->spec->buckets && age >= 60 * CLOCK_SECOND * bound_of(work->spec, column))
        column++;
    if (!row) {
        row = row_new(work->spec, queue, name);
        g_hash_table_add(work->rows, row);
    }
    row->total++;
    row->counts[column]++;
    work->sum->total++;
    work->sum->counts[column]++;
}

static void count_domain(ShapeWork *work, const char *address, size_t length, int64_t age)
{
    const char *at = g_strrstr_len(address, (gssize)length, "@");
    g_autofree char *domain = length == 0 ? g_strdup("MAILER-DAEMON")
                              : at        ? g_ascii_strdown(at + 1, (gssize)(length - (size_t)(at + 1 - address)))
                                          : g_strdup("(no domain)");
    count(work, "", domain, age);
}

/* ---- entries ---- */

static void count_entry(ShapeWork *work, Entry *entry)
{
    int64_t age = work->now - entry_arrival(entry);
    const json_t *meta = entry_meta(entry);
    const char *sender = meta_string(meta, KEY_ENVELOPE_SENDER, meta_string(meta, KEY_SENDER, "")), *list;
    Recipient recipient;
    switch (work->spec->by) {
    case QUEUE_SHAPE_BY_LIST:
        list = entry_list(entry);
        count(work, queue_name(entry_queue(entry)), *list ? list : "(no list)", age);
        break;
    case QUEUE_SHAPE_BY_SENDER:
        count_domain(work, sender, strlen(sender), age);
        break;
    default:
        for (size_t at = 0; entry_next_recipient(entry, at, &recipient); at = recipient.next) {
            work->recipients++;
            if (recipient.state == RECIPIENT_TODO)
                count_domain(work, recipient.address,
                             copy_recipient_read(recipient.address, recipient.length).address_length, age);
        }
    }
}

static unsigned suffix_count(const QueueShapeSpec *spec)
{
    return spec->by == QUEUE_SHAPE_BY_LIST ? 3 : 2;
}

/* Read the entry in whatever state it is now. One that has left meanwhile is none. */
static bool read_entry(ShapeWork *work, const ShapeFile *file, GError **error)
{
    char name[NAME_SIZE];
    name_format(&file->name, name);
    for (unsigned i = 0; i < suffix_count(work->spec); i++) {
        g_autoptr(GError) refusal = NULL;
        g_autofree char *path = g_strconcat(name, suffixes[i], NULL);
        g_autoptr(Entry) entry = entry_open_head(file->queue, path, &refusal);
        if (entry) {
            count_entry(work, entry);
            return true;
        }
        if (g_error_matches(refusal, FAIL, FAIL_MISSING))
            continue;
        if (!g_error_matches(refusal, FAIL, FAIL_NEVER))
            return fail_with(error, &refusal);
        g_autofree char *fault = g_strdup_printf("%s: %s", queue_name(file->queue), refusal->message);
        g_autofree char *valid = g_utf8_make_valid(fault, -1);
        if (json_array_size(work->faults) < QUEUE_SHAPE_FAULTS)
            json_array_append_new(work->faults, json_string(valid));
        return true;
    }
    return true;
}

static int compare_files(const void *one, const void *other)
{
    const ShapeFile *a = one, *b = other;
    int order = memcmp(a->name.hash + SAMPLE_FROM, b->name.hash + SAMPLE_FROM, HASH_SIZE - SAMPLE_FROM);
    return order ? order : name_compare(&a->name, &b->name);
}

static void note_file(void *data, Queue *queue, G_GNUC_UNUSED const char *file, const EntryName *name, const char *rest)
{
    ShapeWork *work = data;
    const ShapeFile found = {queue, *name};
    unsigned i = 0;
    while (i < suffix_count(work->spec) && strcmp(rest, suffixes[i]) != 0)
        i++;
    if (i == suffix_count(work->spec))
        return;
    work->entries++;
    g_array_append_val(work->files, found);
    if (work->spec->most > 0 && work->files->len >= 2 * work->spec->most) {
        g_array_sort(work->files, compare_files);
        g_array_set_size(work->files, (guint)work->spec->most);
    }
}

/* ---- the picture ---- */

/* Scale a count of the entries that were read up to all entries. */
static int64_t scaled(const ShapeWork *work, int64_t value)
{
    if (work->read == work->entries || work->read == 0)
        return value;
    return (int64_t)((double)value * (double)work->entries / (double)work->read + 0.5);
}

static json_t *row_json(const ShapeWork *work, const ShapeRow *row)
{
    json_t *counts = json_array();
    for (unsigned i = 0; i < work->spec->buckets; i++)
        json_array_append_new(counts, json_integer(scaled(work, row->counts[i])));
    return json_pack("{sI so}", "total", (json_int_t)scaled(work, row->total), "counts", counts);
}

static json_t *picture(const ShapeWork *work)
{
    const QueueShapeSpec *spec = work->spec;
    g_autofree void **all = g_hash_table_get_keys_as_array(work->rows, NULL);
    guint found = g_hash_table_size(work->rows), shown = spec->top < 0 ? found : MIN(found, (guint)spec->top);
    json_t *minutes = json_array(), *rows = json_array(), *rest = json_null();
    ShapeRow *others = row_new(spec, "", "");
    qsort(all, found, sizeof *all, compare_rows);
    for (guint i = 0; i < found; i++) {
        const ShapeRow *row = all[i];
        if (i >= shown) {
            others->total += row->total;
            for (unsigned bucket = 0; bucket < spec->buckets; bucket++)
                others->counts[bucket] += row->counts[bucket];
            continue;
        }
        g_autofree char *name = g_utf8_make_valid(row->name, -1);
        json_t *object = row_json(work, row);
        json_object_set_new(object, "name", json_string(name));
        if (*row->queue)
            json_object_set_new(object, "queue", json_string(row->queue));
        json_array_append_new(rows, object);
    }
    if (found > shown) {
        rest = row_json(work, others);
        json_object_set_new(rest, "names", json_integer(found - shown));
    }
    row_free(others);
    for (unsigned i = 0; i + 1 < spec->buckets; i++)
        json_array_append_new(minutes, json_integer(bound_of(spec, i)));
    return json_pack("{so sI sI so so so sO}", "minutes", minutes, "entries", (json_int_t)work->entries, "read",
                     (json_int_t)work->read, "total", row_json(work, work->sum), "rows", rows, "others", rest, "faults",
                     work->faults);
}

json_t *queue_shape_of(Spool *spool, char **queues, const QueueShapeSpec *spec, GError **error)
{
    ShapeWork work = {.spec = spec,
                      .files = g_array_new(FALSE, FALSE, sizeof(ShapeFile)),
                      .now = clock_now(),
                      .sum = row_new(spec, "", ""),
                      .rows = g_hash_table_new_full(row_hash, row_equal, row_free, NULL),
                      .faults = json_array()};
    bool done = spool_visit(spool, queues, note_file, &work, error);
    /* In the order of hashes, so that those read until the bound are there by chance. */
    g_array_sort(work.files, compare_files);
    for (guint i = 0; done && i < work.files->len; i++) {
        if (spec->most > 0 && (work.read == spec->most || work.recipients >= QUEUE_SHAPE_RECIPIENTS))
            break;
        done = read_entry(&work, &g_array_index(work.files, ShapeFile, i), error);
        work.read += done;
    }
    json_t *shape = done ? picture(&work) : NULL;
    g_array_unref(work.files);
    row_free(work.sum);
    g_hash_table_unref(work.rows);
    json_decref(work.faults);
    return shape;
}

char **queue_shape_queues(Spool *spool, bool out, GError **error)
{
    static const char *const going[] = {"out", NOTICE_QUEUE, "retry", NULL};
    g_auto(GStrv) all = spool_queue_names(spool, error);
    if (!all)
        return NULL;
    g_autoptr(GPtrArray) chosen = g_ptr_array_new();
    for (char **name = all; *name; name++)
        if (g_strv_contains(going, *name) == out)
            g_ptr_array_add(chosen, g_strdup(*name));
    g_ptr_array_add(chosen, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&chosen), FALSE);
}
