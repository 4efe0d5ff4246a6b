/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* From a log to the states of the disk: crashlog_states(). */
#include <string.h>

#include "t/switchboard/crashmodel_internal.h"

#define STRICT (-1)    /* for Walk.loose: no directory */
#define LOOSE_MAX 16   /* combinations of one directory's files that are built, all of them */
#define MOMENTS 2      /* steps before and after within which a changed log's state is looked for in the log as it is */

/* One walk through the states of one moment. */
typedef struct Walk {
    CrashModel *model;
    CrashVisit *visit;
    void *data;
    guint after;
    bool more;
    int loose; /* the directory whose files reached the disk in any order */
    GArray *places[CRASH_PLACES]; /* as they would be found, of CrashPlace */
    GArray *nothing;
    GPtrArray *before; /* of CrashModel: of a changed log, the log as it is at these moments */
} Walk;

static void add_place(CrashState *state, unsigned place, const char *name, GBytes *data)
{
    CrashFile file = {place, name, data};
    g_array_append_val(state->files, file);
    gsize length = 0;
    const void *octets = data ? g_bytes_get_data(data, &length) : NULL;
    state->hash = crash_hash(crash_hash(state->hash, &place, sizeof place), name, strlen(name));
    if (place == CRASH_SPOOL) /* who and when does not matter, only that there is a word; each run says another */
        length = MIN(length, 1);
    state->hash = crash_hash(state->hash, octets, length);
}

static bool is_fresh(const Walk *walk, GBytes *const *shown)
{
    for (guint i = 0; i < walk->before->len; i++)
        if (crashmodel_reaches(walk->before->pdata[i], walk->places, shown, &walk->model->notes))
            return false;
    return walk->before->len > 0;
}

/* The state in which file number n has contents[n] at choice[n]. */
static void show(Walk *walk, GPtrArray **contents, const guint *choice)
{
    if (!walk->more)
        return;
    g_autoptr(GArray) files = g_array_new(FALSE, FALSE, sizeof(CrashFile));
    g_autofree GBytes **shown = g_new0(GBytes *, walk->model->files->len + 1);
    CrashState state = {.files = files, .notes = walk->model->notes, .after = walk->after, .hash = CRASH_HASH_START};
    for (unsigned i = 0; i < CRASH_PLACES; i++)
        for (guint k = 0; k < walk->places[i]->len; k++) {
            const CrashPlace *place = &g_array_index(walk->places[i], CrashPlace, k);
            if (place->file >= 0)
                shown[place->file] = contents[place->file]->pdata[choice[place->file]];
            add_place(&state, i, place->name, place->file >= 0 ? shown[place->file] : NULL);
        }
    state.fresh = is_fresh(walk, shown);
    walk->more = walk->visit(walk->data, &state);
}

/* Every one of the torn files in each of its forms, the others all old or all new. */
static void show_each_torn(Walk *walk, GPtrArray **contents, const GArray *torn, guint *choice)
{
    for (guint others = 0; others < 2; others++)
        for (guint k = 0; k < torn->len; k++) {
            guint file = g_array_index(torn, guint, k);
            for (guint m = 0; m < torn->len; m++)
                choice[g_array_index(torn, guint, m)] = others;
            for (choice[file] = 0; choice[file] < contents[file]->len; choice[file]++)
                show(walk, contents, choice);
        }
}

/* The files all as they were, and all as they are. */
static void show_whole(Walk *walk, GPtrArray **contents, const GArray *torn, guint *choice)
{
    for (guint new = 0; new < 2; new++) {
        for (guint k = 0; k < torn->len; k++)
            choice[g_array_index(torn, guint, k)] = new;
        show(walk, contents, choice);
    }
}

static void show_choices(Walk *walk, GPtrArray **contents, const GArray *torn, guint *choice)
{
    const guint *file = (const guint *)(const void *)torn->data;
    if (torn->len == 0)
        show(walk, contents, choice);
    else if (walk->loose != STRICT)
        show_whole(walk, contents, torn, choice);
    else if (torn->len > 2)
        show_each_torn(walk, contents, torn, choice);
    else
        for (choice[file[0]] = 0; choice[file[0]] < contents[file[0]]->len; choice[file[0]]++)
            if (torn->len == 1)
                show(walk, contents, choice);
            else
                for (choice[file[1]] = 0; choice[file[1]] < contents[file[1]]->len; choice[file[1]]++)
                    show(walk, contents, choice);
}

/* All contents of the files that can be seen. */
static void walk_contents(Walk *walk)
{
    guint count = walk->model->files->len;
    g_autofree GPtrArray **contents = g_new0(GPtrArray *, count + 1);
    g_autofree guint *choice = g_new0(guint, count + 1);
    g_autoptr(GArray) torn = g_array_new(FALSE, FALSE, sizeof(guint));
    for (unsigned i = 0; i < CRASH_PLACES; i++)
        for (guint k = 0; k < walk->places[i]->len; k++) {
            int number = g_array_index(walk->places[i], CrashPlace, k).file;
            guint file = (guint)number;
            if (number < 0 || contents[file])
                continue;
            contents[file] = crash_contents(&g_array_index(walk->model->files, CrashData, file));
            if (contents[file]->len > 1)
                g_array_append_val(torn, file);
        }
    show_choices(walk, contents, torn, choice);
    for (guint i = 0; i < count; i++)
        if (contents[i])
            g_ptr_array_unref(contents[i]);
}

static void walk_dirs(Walk *walk, unsigned step);

/* The spool's own directory comes first, so that each comes after the one that it is in. */
static unsigned place_at(unsigned step)
{
    return step == 0 ? CRASH_SPOOL : step <= CRASH_SPOOL ? step - 1 : step;
}

static unsigned step_after(unsigned place)
{
    return place == CRASH_SPOOL ? 1 : place < CRASH_SPOOL ? place + 2 : place + 1;
}

static void walk_on(Walk *walk, unsigned at, GArray *places)
{
    walk->places[at] = places;
    if (walk->more)
        walk_dirs(walk, step_after(at));
}

/* All prefixes of what is pending in the directory. */
static void walk_prefixes(Walk *walk, unsigned at)
{
    const CrashDir *dir = &walk->model->dirs[at];
    g_autoptr(GArray) places = g_array_copy(dir->durable);
    for (guint made = 0; walk->more; made++) {
        walk_on(walk, at, places);
        if (made == dir->pending->len)
            break;
        crashmodel_change(places, &g_array_index(dir->pending, CrashOp, made));
    }
}

/* The directory when of each chain so many operations have reached the disk. */
static void walk_made(Walk *walk, unsigned at, const CrashChains *chains, const guint *made)
{
    const CrashDir *dir = &walk->model->dirs[at];
    g_autoptr(GArray) places = g_array_copy(dir->durable);
    g_autofree guint *left = g_memdup2(made, chains->ops * sizeof *left);
    for (guint i = 0; i < chains->ops; i++)
        if (left[chains->of[i]] > 0) {
            left[chains->of[i]]--;
            crashmodel_change(places, &g_array_index(dir->pending, CrashOp, i));
        }
    walk_on(walk, at, places);
}

static void walk_all_made(Walk *walk, unsigned at, const CrashChains *chains, guint chain, guint *made)
{
    if (chain == chains->ops) {
        walk_made(walk, at, chains, made);
        return;
    }
    for (made[chain] = 0; made[chain] <= chains->length[chain]; made[chain]++)
        walk_all_made(walk, at, chains, chain + 1, made);
}

/* All prefixes, and one operation after, with what it needs. */
static void walk_overtaken(Walk *walk, unsigned at, const CrashChains *chains)
{
    for (guint prefix = 0; prefix < chains->ops; prefix++)
        for (guint i = prefix + 1; i < chains->ops; i++) {
            g_autofree guint *made = g_new0(guint, chains->ops);
            for (guint k = 0; k <= i; k++)
                made[chains->of[k]] += k < prefix || chains->of[k] == chains->of[i];
            walk_made(walk, at, chains, made);
        }
}

static void walk_loosely(Walk *walk, unsigned at)
{
    CrashChains chains;
    guint combinations = 1;
    crashchains_find(walk->model->dirs[at].pending, &chains);
    for (guint i = 0; i < chains.ops; i++)
        combinations = MIN(combinations * (chains.length[i] + 1), LOOSE_MAX + 1);
    g_autofree guint *made = g_new0(guint, chains.ops);
    if (combinations <= LOOSE_MAX)
        walk_all_made(walk, at, &chains, 0, made);
    else
        walk_overtaken(walk, at, &chains);
    crashchains_clear(&chains);
}

static void walk_dirs(Walk *walk, unsigned step)
{
    unsigned at = place_at(step);
    if (step == CRASH_PLACES || !crash_place_path(at))
        walk_contents(walk);
    else if (!crashmodel_has_dir(walk->places, at))
        walk_on(walk, at, walk->nothing);
    else if (walk->loose == (int)at)
        walk_loosely(walk, at);
    else
        walk_prefixes(walk, at);
}

static bool has_chains(const CrashDir *dir)
{
    CrashChains chains;
    crashchains_find(dir->pending, &chains);
    bool has = chains.ops > 0 && chains.length[chains.of[0]] < chains.ops;
    crashchains_clear(&chains);
    return has;
}

static void walk_all(Walk *walk, bool orderly)
{
    for (unsigned i = 0; i < CRASH_PLACES && !orderly; i++)
        if (has_chains(&walk->model->dirs[i])) {
            walk->loose = (int)i;
            walk_dirs(walk, 0);
        }
    walk->loose = STRICT;
    walk_dirs(walk, 0);
}

static const CrashOp *op_at(const CrashLog *log, guint i)
{
    return &g_array_index(log->ops, CrashOp, i);
}

/* The operation that a mutated log has in place i; NULL: none. */
static const CrashOp *mutated(const CrashLog *log, CrashMutation mutation, guint i)
{
    guint from = i;
    bool within = i >= mutation.at && i <= mutation.to;
    if (mutation.change == CRASH_DROP && within)
        return NULL;
    if (mutation.change == CRASH_SWAP && within)
        from = i == mutation.at ? mutation.to : i == mutation.to ? mutation.at : i;
    else if (mutation.change == CRASH_LATER && within)
        from = i == mutation.to ? mutation.at : i + 1;
    else if (mutation.change == CRASH_EARLIER && within)
        from = i == mutation.at ? mutation.to : i - 1;
    return op_at(log, from);
}

/* The log as it is, at each of its moments from `first` on; none before the part to be judged. */
static GPtrArray *moments(const CrashLog *log, guint first, guint count)
{
    GPtrArray *models = g_ptr_array_new_with_free_func((GDestroyNotify)crashmodel_free);
    for (guint end = MAX(first, log->first); end < first + count && end <= log->ops->len; end++) {
        CrashModel *model = crashmodel_new();
        for (guint i = 0; i <= end; i++) {
            if (i == log->first)
                crashmodel_sync_all(model);
            if (i < end)
                crashmodel_apply(model, op_at(log, i));
        }
        g_ptr_array_add(models, model);
    }
    return models;
}

bool crashlog_states(CrashLog *log, CrashMutation mutation, CrashVisit *visit, void *data)
{
    g_autoptr(CrashModel) model = crashmodel_new();
    g_autoptr(CrashModel) as_is = crashmodel_new();
    g_autoptr(GPtrArray) before = NULL;
    bool changed = mutation.change != CRASH_AS_IS, differs = false;
    g_autoptr(GArray) nothing = g_array_new(FALSE, FALSE, sizeof(CrashPlace));
    Walk walk = {.model = model, .visit = visit, .data = data, .more = true, .nothing = nothing};
    for (unsigned i = 0; i < CRASH_PLACES; i++)
        walk.places[i] = nothing;
    for (guint i = 0; i <= log->ops->len && walk.more; i++) {
        if (i == log->first) {
            crashmodel_sync_all(model);
            crashmodel_sync_all(as_is);
        }
        walk.after = i;
        bool differs_now = changed && i > mutation.at && crashmodel_hash(model) != crashmodel_hash(as_is);
        differs = differs || differs_now;
        if (changed && i > mutation.to && !differs_now)
            break;
        if (i >= MAX(log->first, log->killed) && (!changed || differs_now)) {
            g_clear_pointer(&before, g_ptr_array_unref);
            walk.before = before = moments(log, i - MIN(i, MOMENTS), mutation.compare ? 2 * MOMENTS + 1 : 0);
            walk_all(&walk, log->orderly);
        }
        if (i == log->ops->len)
            break;
        const CrashOp *op = mutated(log, mutation, i);
        if (op)
            crashmodel_apply(model, op);
        crashmodel_apply(as_is, op_at(log, i));
    }
    return differs;
}

static void add_file(CrashState *state, const CrashModel *model, unsigned in, const CrashPlace *place)
{
    const CrashData *data = place->file >= 0 ? &g_array_index(model->files, CrashData, place->file) : NULL;
    add_place(state, in, place->name, data ? g_bytes_new(data->cached->data, data->cached->len) : NULL);
}

CrashLog *crashlog_killed(const CrashLog *log, CrashMutation mutation, guint upto, CrashState *state)
{
    CrashLog *killed = crashlog_new();
    for (guint i = 0; i < upto; i++) {
        CrashOp op = *mutated(log, mutation, i);
        if (op.data)
            g_bytes_ref(op.data);
        op.notes.held = 0; /* who held it is gone, and whoever comes now holds nothing */
        if (i == log->first)
            crashmodel_sync_all(killed->live);
        crashlog_append(killed, &op);
    }
    killed->first = log->first;
    killed->killed = upto;
    *state = (CrashState){.files = g_array_new(FALSE, FALSE, sizeof(CrashFile)), .notes = killed->live->notes,
                          .after = upto, .hash = CRASH_HASH_START};
    for (unsigned i = 0; i < CRASH_PLACES; i++)
        for (guint k = 0; k < killed->live->dirs[i].cached->len; k++)
            add_file(state, killed->live, i, &g_array_index(killed->live->dirs[i].cached, CrashPlace, k));
    return killed;
}

void crashstate_clear(CrashState *state)
{
    for (guint i = 0; i < state->files->len; i++)
        g_clear_pointer(&g_array_index(state->files, CrashFile, i).data, g_bytes_unref);
    g_array_unref(state->files);
}

/* Whether the call would do anything: its file is there, and what it makes is not. */
static bool can(const CrashModel *model, const CrashOp *op)
{
    bool makes = op->call == FS_CREATE || op->call == FS_MAKE_DIR;
    bool names = makes || op->call == FS_RENAME || op->call == FS_UNLINK;
    const char *made = makes ? op->name : op->to;
    return !names || ((makes || crashmodel_find(model, op->place, op->name) == op->file) &&
                      (!made || crashmodel_find(model, op->to_place, made) == CRASH_NO_FILE));
}

/* Whether the call is about what the other makes. */
static bool needs(const CrashOp *op, const CrashOp *maker)
{
    if (op->call == CRASH_NOTE)
        return false;
    if (maker->call == FS_MAKE_DIR)
        return crash_dir_file(op->place) == maker->file || crash_dir_file(op->to_place) == maker->file;
    return maker->call == FS_CREATE && op->call != FS_SYNC_DIR && maker->file == op->file;
}

/* Whether what the call is about is made only later. */
static bool too_early(const CrashLog *log, CrashMutation mutation, guint at)
{
    for (guint i = at + 1; i <= mutation.to; i++)
        if (needs(mutated(log, mutation, at), mutated(log, mutation, i)))
            return true;
    return false;
}

bool crashlog_can(const CrashLog *log, CrashMutation mutation)
{
    g_autoptr(CrashModel) model = crashmodel_new();
    for (guint i = 0; i <= mutation.to; i++) {
        const CrashOp *op = mutated(log, mutation, i);
        if (i >= mutation.at && (!can(model, op) || too_early(log, mutation, i)))
            return false;
        crashmodel_apply(model, op);
    }
    return true;
}
