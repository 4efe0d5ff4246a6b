/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "t/switchboard/crashlog.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "switchboard/format_internal.h"
#include "t/switchboard/crashmodel_internal.h"

const char *const crash_queues[] = {"in", "out", "retry", "archive", "bounces", "corrupt", "shunt", CRASH_LEDGER,
                                    "hold", NULL};
G_STATIC_ASSERT(G_N_ELEMENTS(crash_queues) == CRASH_QUEUES + 1);

CrashLog *crashlog_new(void)
{
    CrashLog *log = g_new0(CrashLog, 1);
    log->ops = g_array_new(FALSE, FALSE, sizeof(CrashOp));
    log->live = crashmodel_new();
    log->die_in = log->fail_in = -1;
    return log;
}

void crashlog_free(CrashLog *log)
{
    for (guint i = 0; i < log->ops->len; i++)
        if (g_array_index(log->ops, CrashOp, i).data)
            g_bytes_unref(g_array_index(log->ops, CrashOp, i).data);
    g_array_unref(log->ops);
    crashmodel_free(log->live);
    g_free(log);
}

/* Which queue, and for a file which name in it, is behind the descriptor. */
static bool locate(int fd, bool directory, unsigned *queue, char name[NAME_MAX + 1])
{
    char link[64], path[PATH_MAX + 1];
    g_snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX);
    g_assert_cmpint(length, >, 0);
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (!directory) {
        g_strlcpy(name, slash + 1, NAME_MAX + 1);
        *slash = '\0';
        slash = strrchr(path, '/');
    }
    for (*queue = 0; crash_queues[*queue]; ++*queue)
        if (strcmp(slash + 1, crash_queues[*queue]) == 0)
            return true;
    return *queue == CRASH_SPOOL && g_str_has_prefix(slash + 1, CRASH_SPOOL_PREFIX);
}

static void append(CrashLog *log, const CrashOp *op)
{
    g_array_append_vals(log->ops, op, 1);
    crashmodel_apply(log->live, op);
}

/* Takes one call in, if it will succeed. */
static void take(CrashLog *log, const FsEvent *event)
{
    char name[NAME_MAX + 1] = "";
    CrashOp op = {.call = event->call, .offset = event->offset};
    if (event->name)
        op.name = g_intern_string(event->name);
    if (event->to)
        op.to = g_intern_string(event->to);
    bool directory = event->name || event->call == FS_SYNC_DIR;
    if (!locate(event->fd, directory, &op.queue, name))
        return;
    if (!directory)
        op.name = g_intern_string(name);
    op.file = op.name ? crashmodel_find(log->live, op.queue, op.name) : -1;
    if (op.queue == CRASH_SPOOL && event->call == FS_PWRITE && op.file < 0) { /* the lock was made by its opening */
        CrashOp made = {.call = FS_CREATE, .queue = op.queue, .name = op.name, .file = (int)log->live->files->len};
        op.file = made.file;
        append(log, &made);
    }
    if (event->call == FS_CREATE && op.file < 0)
        op.file = (int)log->live->files->len;
    else if (event->call == FS_CREATE || (op.name && op.file < 0) ||
             (op.to && crashmodel_find(log->live, op.queue, op.to) >= 0))
        return; /* it will fail: taken, or gone */
    if (event->data)
        op.data = g_bytes_new(event->data, event->length);
    append(log, &op);
}

static int record(const FsEvent *event, void *data)
{
    CrashLog *log = data;
    if (log->die_in == 0)
        return EIO;
    if (log->die_in > 0)
        log->die_in--;
    if (log->fail_in >= 0 && event->call == log->fail_call && log->fail_in-- == 0) {
        crashlog_begin_changes(log);
        return EIO;
    }
    take(log, event);
    return 0;
}

void crashlog_record(CrashLog *log)
{
    log->die_in = log->fail_in = -1;
    fs_set_hook(record, log);
}

void crashlog_stop(void)
{
    fs_set_hook(NULL, NULL);
}

void crashlog_begin(CrashLog *log)
{
    log->first = log->changes = log->ops->len;
}

void crashlog_begin_changes(CrashLog *log)
{
    log->changes = log->ops->len;
}

void crashlog_load(CrashLog *log, const CrashState *state)
{
    for (guint i = 0; i < state->files->len; i++) {
        const CrashFile *file = &g_array_index(state->files, CrashFile, i);
        CrashOp op = {.call = FS_CREATE, .queue = file->queue, .name = file->name, .file = (int)i};
        append(log, &op);
        op.call = FS_WRITE;
        op.data = g_bytes_ref(file->data);
        append(log, &op);
    }
    crashlog_note(log, state->notes);
    crashlog_begin(log);
}

void crashlog_note(CrashLog *log, CrashNotes notes)
{
    append(log, &(CrashOp){.call = CRASH_NOTE, .notes = notes});
}

static const char *state_of(const char *name)
{
    const char *dot = name ? strrchr(name, '.') : NULL;
    const char *dash = name ? strrchr(name, '-') : NULL; /* only tags have one, or two of the other */
    bool tagged = dash || (name && strchr(name, '+') != strrchr(name, '+'));
    return tagged ? " child.tmp" : dot ? dot : "";
}

static const char *note_text(const CrashNotes *notes)
{
    return notes->tried       ? "delivered"
           : notes->settled   ? "relied on marks"
           : notes->preserved ? "preserved"
           : notes->doomed    ? "to be deleted"
           : notes->deleted   ? "deleted"
                              : "said 250";
}

const char *crashlog_text(const CrashOp *op)
{
    static const char *const calls[] = {"create", "write", "mark",      "truncate",
                                        "rename", "unlink", "sync file", "sync dir"};
    static char text[120];
    if (op->call == CRASH_NOTE)
        return note_text(&op->notes);
    bool is_count = op->call == FS_PWRITE && op->offset == FORMAT_CRASHES_OFFSET;
    bool decides = op->call == FS_PWRITE && op->offset == 0 && op->queue != CRASH_SPOOL;
    const char *place = op->queue == CRASH_SPOOL ? "spool" : crash_queues[op->queue];
    const char *from = state_of(op->name), *to = state_of(op->to);
    g_snprintf(text, sizeof text, "%s %s%s%s%s%s", is_count  ? "count"
                                                        : decides ? "decide"
                                                                  : calls[op->call], place,
               *from == '.' ? " " : "", from, *to ? " " : "", *to == ' ' ? to + 1 : to);
    return text;
}

bool crashlog_apart(const CrashOp *a, const CrashOp *b)
{
    bool files = a->call != CRASH_NOTE && b->call != CRASH_NOTE && a->call != FS_SYNC_DIR && b->call != FS_SYNC_DIR;
    return files && a->file != b->file;
}

/* One walk through the states of one moment. */
typedef struct Walk {
    CrashModel *model;
    CrashVisit *visit;
    void *data;
    guint after;
    bool more;
    GArray *places[CRASH_PLACES]; /* as they would be found, of CrashPlace */
} Walk;

static void add_place(CrashState *state, unsigned queue, const char *name, GBytes *data)
{
    CrashFile file = {queue, name, data};
    g_array_append_val(state->files, file);
    gsize length;
    const void *octets = g_bytes_get_data(data, &length);
    state->hash = crash_hash(crash_hash(state->hash, &queue, sizeof queue), name, strlen(name));
    if (queue == CRASH_SPOOL) /* who and when does not matter, only that there is a word; each run says another */
        length = MIN(length, 1);
    state->hash = crash_hash(state->hash, octets, length);
}

/* The state in which file number n has contents[n] at choice[n]. */
static void show(Walk *walk, GPtrArray **contents, const guint *choice)
{
    if (!walk->more)
        return;
    g_autoptr(GArray) files = g_array_new(FALSE, FALSE, sizeof(CrashFile));
    CrashState state = {files, walk->model->notes, walk->after, CRASH_HASH_START};
    for (unsigned i = 0; i < CRASH_PLACES; i++)
        for (guint k = 0; k < walk->places[i]->len; k++) {
            const CrashPlace *place = &g_array_index(walk->places[i], CrashPlace, k);
            add_place(&state, i, place->name, contents[place->file]->pdata[choice[place->file]]);
        }
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

static void show_choices(Walk *walk, GPtrArray **contents, const GArray *torn, guint *choice)
{
    const guint *file = (const guint *)(const void *)torn->data;
    if (torn->len == 0)
        show(walk, contents, choice);
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
            guint file = (guint)g_array_index(walk->places[i], CrashPlace, k).file;
            if (contents[file])
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

/* All prefixes of what is pending in directory number at and those after. */
static void walk_dirs(Walk *walk, unsigned at)
{
    if (at == CRASH_PLACES) {
        walk_contents(walk);
        return;
    }
    const CrashDir *dir = &walk->model->dirs[at];
    g_autoptr(GArray) places = g_array_copy(dir->durable);
    for (guint made = 0; walk->more; made++) {
        walk->places[at] = places;
        walk_dirs(walk, at + 1);
        if (made == dir->pending->len)
            break;
        crashmodel_change(places, &g_array_index(dir->pending, CrashOp, made));
    }
}

static const CrashOp *op_at(const CrashLog *log, guint i)
{
    return &g_array_index(log->ops, CrashOp, i);
}

/* The operation that a mutated log has in place i; NULL: none. */
static const CrashOp *mutated(const CrashLog *log, CrashMutation mutation, guint i)
{
    if (mutation.change == CRASH_DROP && i == mutation.at)
        return NULL;
    if (mutation.change == CRASH_SWAP && i == mutation.at)
        return op_at(log, i + 1);
    if (mutation.change == CRASH_SWAP && i == mutation.at + 1)
        return op_at(log, i - 1);
    return op_at(log, i);
}

bool crashlog_states(CrashLog *log, CrashMutation mutation, CrashVisit *visit, void *data)
{
    g_autoptr(CrashModel) model = crashmodel_new();
    g_autoptr(CrashModel) as_is = crashmodel_new();
    Walk walk = {.model = model, .visit = visit, .data = data, .more = true};
    bool differs = false;
    for (guint i = 0; i <= log->ops->len && walk.more; i++) {
        if (i == log->first) {
            crashmodel_sync_all(model);
            crashmodel_sync_all(as_is);
        }
        walk.after = i;
        bool differs_now = mutation.change != CRASH_AS_IS && i > mutation.at &&
                           crashmodel_hash(model) != crashmodel_hash(as_is);
        differs = differs || differs_now;
        if (i >= log->first && (mutation.change == CRASH_AS_IS || differs_now))
            walk_dirs(&walk, 0);
        else if (mutation.change != CRASH_AS_IS && i > mutation.at + 1 && !differs_now)
            break;
        if (i == log->ops->len)
            break;
        const CrashOp *op = mutated(log, mutation, i);
        if (op)
            crashmodel_apply(model, op);
        crashmodel_apply(as_is, op_at(log, i));
    }
    return differs;
}
