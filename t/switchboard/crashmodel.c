/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "t/switchboard/crashmodel_internal.h"

#include <string.h>

#define SECTORS_MAX 8 /* of a file in these tests */

CrashModel *crashmodel_new(void)
{
    CrashModel *model = g_new0(CrashModel, 1);
    for (unsigned i = 0; i < CRASH_PLACES; i++) {
        model->dirs[i].cached = g_array_new(FALSE, FALSE, sizeof(CrashPlace));
        model->dirs[i].durable = g_array_new(FALSE, FALSE, sizeof(CrashPlace));
        model->dirs[i].pending = g_array_new(FALSE, FALSE, sizeof(CrashOp));
    }
    model->files = g_array_new(FALSE, FALSE, sizeof(CrashData));
    return model;
}

void crashmodel_free(CrashModel *model)
{
    for (unsigned i = 0; i < CRASH_PLACES; i++) {
        g_array_unref(model->dirs[i].cached);
        g_array_unref(model->dirs[i].durable);
        g_array_unref(model->dirs[i].pending);
    }
    for (guint i = 0; i < model->files->len; i++) {
        g_byte_array_unref(g_array_index(model->files, CrashData, i).cached);
        g_byte_array_unref(g_array_index(model->files, CrashData, i).durable);
    }
    g_array_unref(model->files);
    g_free(model);
}

static guint place_of(const GArray *places, const char *name)
{
    guint i = 0;
    while (i < places->len && strcmp(g_array_index(places, CrashPlace, i).name, name) < 0)
        i++;
    return i;
}

static bool is_at(const GArray *places, guint at, const char *name)
{
    return at < places->len && strcmp(g_array_index(places, CrashPlace, at).name, name) == 0;
}

static void put(GArray *places, const char *name, int file)
{
    guint at = place_of(places, name);
    CrashPlace place = {name, file};
    if (is_at(places, at, name))
        g_array_index(places, CrashPlace, at) = place;
    else
        g_array_insert_val(places, at, place);
}

void crashmodel_change(GArray *places, const CrashOp *op)
{
    if (op->call == FS_CREATE || op->call == FS_MAKE_DIR) {
        put(places, op->name, op->file);
        return;
    }
    guint at = place_of(places, op->name);
    if (!is_at(places, at, op->name))
        return; /* a mutated log may ask for what is not there */
    int file = g_array_index(places, CrashPlace, at).file;
    g_array_remove_index(places, at);
    if (op->call == FS_RENAME)
        put(places, op->to, file);
}

int crashmodel_find(const CrashModel *model, unsigned place, const char *name)
{
    const GArray *places = model->dirs[place].cached;
    guint at = place_of(places, name);
    return is_at(places, at, name) ? g_array_index(places, CrashPlace, at).file : CRASH_NO_FILE;
}

bool crashmodel_has_dir(GArray *const *places, unsigned place)
{
    if (place < CRASH_MADE)
        return true;
    unsigned above = crash_place_above(place);
    for (guint i = 0; i < places[above]->len; i++)
        if (g_array_index(places[above], CrashPlace, i).file == crash_dir_file(place))
            return crashmodel_has_dir(places, above);
    return false;
}

static CrashData *data_of(CrashModel *model, int file)
{
    while ((int)model->files->len <= file) {
        CrashData data = {g_byte_array_new(), g_byte_array_new(), 0};
        g_array_append_val(model->files, data);
    }
    return &g_array_index(model->files, CrashData, file);
}

static void copy(GByteArray *to, const GByteArray *from)
{
    g_byte_array_set_size(to, 0);
    g_byte_array_append(to, from->data, from->len);
}

static void write_data(CrashData *data, const CrashOp *op)
{
    gsize length;
    const void *octets = g_bytes_get_data(op->data, &length);
    guint at = op->call == FS_WRITE ? data->cached->len : (guint)op->offset;
    if (data->cached->len < at + length)
        g_byte_array_set_size(data->cached, at + (guint)length);
    if (length > 0)
        memcpy(data->cached->data + at, octets, length);
}

static void sync_data(CrashData *data)
{
    copy(data->durable, data->cached);
    data->least = data->durable->len;
}

static void truncate_data(CrashData *data, guint length)
{
    g_byte_array_set_size(data->cached, length);
    data->least = MIN(data->least, length);
}

static void sync_dir(CrashDir *dir)
{
    g_array_set_size(dir->durable, 0);
    g_array_append_vals(dir->durable, dir->cached->data, dir->cached->len);
    g_array_set_size(dir->pending, 0);
}

void crashmodel_sync_all(CrashModel *model)
{
    for (unsigned i = 0; i < CRASH_PLACES; i++)
        sync_dir(&model->dirs[i]);
    for (guint i = 0; i < model->files->len; i++)
        sync_data(data_of(model, (int)i));
}

static void change_dir(CrashDir *dir, const CrashOp *op)
{
    crashmodel_change(dir->cached, op);
    g_array_append_vals(dir->pending, op, 1);
}

/* From one directory into another: an operation in each. */
static void move(CrashModel *model, const CrashOp *op)
{
    CrashOp gone = *op, come = *op;
    gone.call = FS_UNLINK;
    come.call = FS_CREATE;
    come.name = op->to;
    gone.to = come.to = NULL;
    if (crashmodel_find(model, op->place, op->name) != op->file)
        return; /* a mutated log */
    change_dir(&model->dirs[op->place], &gone);
    change_dir(&model->dirs[op->to_place], &come);
}

void crashmodel_apply(CrashModel *model, const CrashOp *op)
{
    CrashDir *dir = &model->dirs[op->place];
    switch ((int)op->call) {
    case FS_CREATE:
        data_of(model, op->file);
        /* fall through */
    case FS_RENAME:
    case FS_UNLINK:
    case FS_MAKE_DIR:
        if (op->to && op->to_place != op->place)
            move(model, op);
        else
            change_dir(dir, op);
        break;
    case FS_SYNC_DIR:
        sync_dir(dir);
        break;
    case FS_SYNC_FILE:
        sync_data(data_of(model, op->file));
        break;
    case FS_TRUNCATE:
        truncate_data(data_of(model, op->file), (guint)op->offset);
        break;
    case CRASH_NOTE:
        model->notes.acknowledged |= op->notes.acknowledged;
        model->notes.tried |= op->notes.tried;
        model->notes.settled |= op->notes.settled;
        model->notes.preserved |= op->notes.preserved;
        model->notes.doomed |= op->notes.doomed;
        model->notes.deleted |= op->notes.deleted;
        model->notes.held |= op->notes.held;
        break;
    default:
        write_data(data_of(model, op->file), op);
        break;
    }
}

uint64_t crash_hash(uint64_t hash, const void *octets, size_t length)
{
    const uint8_t *at = octets;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return (hash ^ length) * UINT64_C(0x100000001b3);
}

static uint64_t hash_octets(uint64_t hash, const GByteArray *octets)
{
    return crash_hash(hash, octets->data, octets->len);
}

uint64_t crashmodel_hash(const CrashModel *model)
{
    uint64_t hash = crash_hash(CRASH_HASH_START, &model->notes, sizeof model->notes);
    for (unsigned i = 0; i < CRASH_PLACES; i++) {
        const CrashDir *dir = &model->dirs[i];
        hash = crash_hash(hash, &i, sizeof i);
        for (guint k = 0; k < dir->durable->len; k++) {
            const CrashPlace *place = &g_array_index(dir->durable, CrashPlace, k);
            hash = crash_hash(crash_hash(hash, place->name, strlen(place->name)), &place->file, sizeof place->file);
        }
        for (guint k = 0; k < dir->pending->len; k++) {
            const CrashOp *op = &g_array_index(dir->pending, CrashOp, k);
            hash = crash_hash(crash_hash(hash, &op->call, sizeof op->call), op->name, strlen(op->name));
            hash = crash_hash(hash, op->to, op->to ? strlen(op->to) : 0);
        }
    }
    for (guint i = 0; i < model->files->len; i++) {
        const CrashData *data = &g_array_index(model->files, CrashData, i);
        hash = hash_octets(hash_octets(hash ^ data->least, data->cached), data->durable);
    }
    return hash;
}

/* The file length octets long, of whose sectors those in mask are new, and the others old as far as they were kept. */
static GBytes *content(const CrashData *data, guint kept, guint length, unsigned mask)
{
    uint8_t *octets = g_malloc0(length + 1);
    if (data->durable->len > 0)
        memcpy(octets, data->durable->data, MIN(length, kept));
    for (guint at = 0, sector = 0; at < length; at += CRASH_SECTOR, sector++) {
        guint size = MIN(CRASH_SECTOR, length - at), new = at < data->cached->len ? data->cached->len - at : 0;
        if ((mask >> sector & 1) == 0 || new == 0)
            continue;
        memset(octets + at, 0, data->least < data->durable->len ? size : 0);
        memcpy(octets + at, data->cached->data + at, MIN(size, new));
    }
    return g_bytes_new_take(octets, length);
}

static void add_content(GPtrArray *contents, GBytes *one)
{
    for (guint i = 0; i < contents->len; i++)
        if (g_bytes_equal(contents->pdata[i], one)) {
            g_bytes_unref(one);
            return;
        }
    g_ptr_array_add(contents, one);
}

static void add_contents(GPtrArray *contents, const CrashData *data, guint kept, unsigned every)
{
    guint new = data->cached->len, longest = MAX(kept, new);
    for (guint length = MIN(kept, new);; length = MIN((length / CRASH_SECTOR + 1) * CRASH_SECTOR, longest)) {
        for (unsigned mask = 0; mask <= every; mask++)
            add_content(contents, content(data, kept, length, mask));
        if (length == longest)
            return;
    }
}

GPtrArray *crash_contents(const CrashData *data)
{
    GPtrArray *contents = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    guint old = data->durable->len, new = data->cached->len, longest = MAX(old, new);
    guint sectors = (longest + CRASH_SECTOR - 1) / CRASH_SECTOR;
    g_assert_cmpuint(sectors, <=, SECTORS_MAX);
    unsigned every = (1U << sectors) - 1;
    add_content(contents, content(data, old, old, 0));
    add_content(contents, content(data, old, new, every));
    add_contents(contents, data, old, every);
    if (data->least < MIN(old, new)) /* it was cut, and has grown since */
        add_contents(contents, data, data->least, every);
    return contents;
}
