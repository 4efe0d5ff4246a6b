/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Whether a disk may be so after a power cut: crashmodel_reaches(). */
#include <string.h>

#include "switchboard/format_internal.h"
#include "switchboard/recover.h"
#include "t/switchboard/crashmodel_internal.h"

static bool same_name(const char *a, const char *b)
{
    return a && a == b; /* interned */
}

static bool linked(const CrashOp *a, const CrashOp *b)
{
    return a->file == b->file || same_name(a->name, b->name) || same_name(a->name, b->to) ||
           same_name(a->to, b->name) || same_name(a->to, b->to);
}

static void join(CrashChains *chains, guint chain, guint other)
{
    for (guint i = 0; i <= chain; i++)
        if (chains->of[i] == other)
            chains->of[i] = chain;
}

void crashchains_find(const GArray *pending, CrashChains *chains)
{
    *chains = (CrashChains){pending->len, g_new(guint, pending->len), g_new0(guint, pending->len)};
    for (guint i = 0; i < pending->len; i++) {
        chains->of[i] = i;
        for (guint k = 0; k < i; k++)
            if (linked(&g_array_index(pending, CrashOp, i), &g_array_index(pending, CrashOp, k)))
                join(chains, i, chains->of[k]);
    }
    for (guint i = 0; i < pending->len; i++)
        chains->length[chains->of[i]]++;
}

void crashchains_clear(CrashChains *chains)
{
    g_free(chains->of);
    g_free(chains->length);
}

static int file_at(const GArray *places, const char *name)
{
    for (guint i = 0; name && i < places->len; i++)
        if (same_name(g_array_index(places, CrashPlace, i).name, name))
            return g_array_index(places, CrashPlace, i).file;
    return -1;
}

/* The names of the chain are the same in both. */
static bool same_in_chain(const CrashDir *dir, const CrashChains *chains, guint chain, const GArray *a, const GArray *b)
{
    for (guint i = 0; i < chains->ops; i++) {
        const CrashOp *op = &g_array_index(dir->pending, CrashOp, i);
        if (chains->of[i] == chain && (file_at(a, op->name) != file_at(b, op->name) ||
                                       file_at(a, op->to) != file_at(b, op->to)))
            return false;
    }
    return true;
}

/* Makes of `from` what the chain can make of it that is as in places, as far as its names go. */
static bool follow_chain(const CrashDir *dir, const CrashChains *chains, guint chain, GArray *from,
                         const GArray *places)
{
    if (same_in_chain(dir, chains, chain, from, places))
        return true;
    for (guint i = 0; i < chains->ops; i++)
        if (chains->of[i] == chain) {
            crashmodel_change(from, &g_array_index(dir->pending, CrashOp, i));
            if (same_in_chain(dir, chains, chain, from, places))
                return true;
        }
    return false;
}

static bool reaches_names(const CrashDir *dir, const GArray *places)
{
    CrashChains chains;
    crashchains_find(dir->pending, &chains);
    g_autoptr(GArray) made = g_array_copy(dir->durable);
    bool reached = true;
    for (guint i = 0; i < chains.ops && reached; i++)
        reached = chains.length[i] == 0 || follow_chain(dir, &chains, i, made, places);
    crashchains_clear(&chains);
    reached = reached && made->len == places->len;
    for (guint i = 0; i < made->len && reached; i++)
        reached = file_at(places, g_array_index(made, CrashPlace, i).name) == g_array_index(made, CrashPlace, i).file;
    return reached;
}

static bool says_nothing(uint8_t count)
{
    return count >= '0' && count < '0' + RECOVER_CRASHES_LIMIT;
}

/* Octets of a sector as they would be of these, as far as they were kept, with holes behind that. */
static bool same_sector(const uint8_t *octets, guint at, guint length, const GByteArray *of, guint kept, bool entry)
{
    for (guint i = at; i < at + length; i++) {
        uint8_t wanted = i < kept ? of->data[i] : 0;
        bool counts = entry && i == FORMAT_CRASHES_OFFSET && says_nothing(octets[i]) && says_nothing(wanted);
        if (octets[i] != wanted && !counts)
            return false;
    }
    return true;
}

static bool reaches_octets(const CrashData *data, GBytes *content)
{
    gsize length;
    const uint8_t *octets = g_bytes_get_data(content, &length);
    guint old = data->durable->len, new = data->cached->len;
    bool entry = length > FORMAT_CRASHES_OFFSET && memcmp(octets, FORMAT_MAGIC, FORMAT_MAGIC_SIZE) == 0;
    if (length < MIN(data->least, MIN(new, old)) || length > MAX(new, old))
        return false;
    for (guint at = 0; at < length; at += CRASH_SECTOR) {
        guint part = MIN((guint)length - at, CRASH_SECTOR);
        if (!same_sector(octets, at, part, data->cached, new, entry) &&
            !same_sector(octets, at, part, data->durable, old, entry) &&
            !same_sector(octets, at, part, data->durable, MIN(old, data->least), entry))
            return false;
    }
    return true;
}

bool crashnotes_promise_less(const CrashNotes *a, const CrashNotes *b)
{
    uint64_t more = (a->acknowledged & ~b->acknowledged) | (a->settled & ~b->settled) |
                    (a->preserved & ~b->preserved) | (a->deleted & ~b->deleted) | (a->held & ~b->held);
    uint64_t forgiven_less = (b->tried & ~a->tried) | (b->doomed & ~a->doomed);
    return (more | forgiven_less) == 0;
}

bool crashmodel_reaches(const CrashModel *model, GArray *const *places, GBytes *const *contents,
                        const CrashNotes *notes)
{
    bool reached = crashnotes_promise_less(notes, &model->notes);
    for (unsigned i = 0; i < CRASH_PLACES && reached; i++) /* of one that is not there, anything */
        reached = !crashmodel_has_dir(places, i) || reaches_names(&model->dirs[i], places[i]);
    for (unsigned i = 0; i < CRASH_PLACES && reached; i++)
        for (guint k = 0; k < places[i]->len && reached; k++) {
            int file = g_array_index(places[i], CrashPlace, k).file;
            reached = file < 0 || ((guint)file < model->files->len &&
                                   reaches_octets(&g_array_index(model->files, CrashData, file), contents[file]));
        }
    return reached;
}
