/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "t/switchboard/crashlog.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "switchboard/format_internal.h"
#include "t/switchboard/crashmodel_internal.h"
#include "t/switchboard/crashsite.h"

const char *const crash_queues[] = {"in", "out", "retry", "archive", "bounces", "corrupt", "shunt", CRASH_LEDGER,
                                    "hold", NULL};
G_STATIC_ASSERT(G_N_ELEMENTS(crash_queues) == CRASH_QUEUES + 1);

static struct {
    const char *path; /* interned */
    unsigned above;
} made_places[CRASH_PLACES - CRASH_MADE];

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

const char *crash_place_path(unsigned place)
{
    return place < CRASH_QUEUES   ? crash_queues[place]
           : place == CRASH_SPOOL ? "."
           : place < CRASH_PLACES ? made_places[place - CRASH_MADE].path
                                  : NULL;
}

unsigned crash_place_above(unsigned place)
{
    return place < CRASH_MADE ? CRASH_SPOOL : made_places[place - CRASH_MADE].above;
}

static bool find_place(const char *path, unsigned *place)
{
    const char *known;
    for (*place = 0; (known = crash_place_path(*place)) != NULL; ++*place)
        if (strcmp(known, path) == 0)
            return true;
    return false;
}

/* Where the descriptor's file or directory is, below the spool. */
static char *path_of(int fd)
{
    g_autofree char *link = g_strdup_printf("/proc/self/fd/%d", fd), *path = g_file_read_link(link, NULL);
    g_assert_nonnull(path);
    char *root = strstr(path, "/" CRASH_SPOOL_PREFIX);
    const char *rest = root ? strchr(root + 1, '/') : NULL;
    return rest ? g_strdup(rest + 1) : root ? g_strdup(".") : NULL;
}

/* A name as a call gives it, seen from that directory: which directory and name in it. */
static bool resolve(const char *path, const char *name, unsigned *place, const char **last)
{
    g_autofree char *whole = strcmp(path, ".") == 0 ? g_strdup(name) : g_build_filename(path, name, NULL);
    g_autofree char *above = g_path_get_dirname(whole), *base = g_path_get_basename(whole);
    *last = g_intern_string(base);
    return find_place(above, place);
}

void crashlog_append(CrashLog *log, const CrashOp *op)
{
    g_array_append_vals(log->ops, op, 1);
    crashmodel_apply(log->live, op);
}

/* The number of a directory that is made. */
static unsigned made_place(const CrashOp *op)
{
    const char *above = crash_place_path(op->place);
    g_autofree char *path = op->place == CRASH_SPOOL ? g_strdup(op->name) : g_build_filename(above, op->name, NULL);
    unsigned place;
    if (!find_place(path, &place)) {
        g_assert_cmpuint(place, <, CRASH_PLACES);
        made_places[place - CRASH_MADE].path = g_intern_string(path);
        made_places[place - CRASH_MADE].above = op->place;
    }
    return place;
}

/* Read what the operation is called; false when it is none of ours. */
static bool read_event(const FsEvent *event, CrashOp *op)
{
    g_autofree char *path = path_of(event->fd);
    *op = (CrashOp){.call = event->call, .offset = event->offset};
    if (!path)
        return false;
    bool known = event->name                     ? resolve(path, event->name, &op->place, &op->name)
                 : event->call == FS_SYNC_DIR ? find_place(path, &op->place)
                                                 : resolve(".", path, &op->place, &op->name);
    op->to_place = op->place;
    return known && (!event->to || resolve(path, event->to, &op->to_place, &op->to));
}

/* Takes one call in, if it will succeed. */
static void take(CrashLog *log, const FsEvent *event)
{
    CrashOp op;
    if (!read_event(event, &op))
        return;
    if (!log->aside && (event->call == FS_SYNC_FILE || event->call == FS_SYNC_DIR))
        op.site = crashsite_here();
    op.file = op.name ? crashmodel_find(log->live, op.place, op.name) : CRASH_NO_FILE;
    if (op.place == CRASH_SPOOL && event->call == FS_PWRITE && op.file < 0) { /* the lock was made by its opening */
        CrashOp made = {.call = FS_CREATE, .place = op.place, .name = op.name, .file = (int)log->live->files->len};
        op.file = made.file;
        crashlog_append(log, &made);
    }
    if (event->call == FS_MAKE_DIR && made_place(&op) < CRASH_MADE)
        return; /* it is there from the beginning */
    bool makes = event->call == FS_CREATE || event->call == FS_MAKE_DIR;
    if (op.name && makes != (op.file == CRASH_NO_FILE))
        return; /* it will fail: taken, or gone */
    if (op.to && !event->replaces && crashmodel_find(log->live, op.to_place, op.to) != CRASH_NO_FILE)
        return;
    if (makes)
        op.file = event->call == FS_CREATE ? (int)log->live->files->len : crash_dir_file(made_place(&op));
    if (event->data)
        op.data = g_bytes_new(event->data, event->length);
    crashlog_append(log, &op);
}

static int record(const FsEvent *event, void *data)
{
    CrashLog *log = data;
    CrashOp op;
    if (log->die_at && read_event(event, &op) && strcmp(crashlog_text(&op), log->die_at) == 0) {
        log->die_at = NULL;
        log->die_in = log->die_further;
    }
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

void crashlog_die_at(CrashLog *log, const char *text, int further)
{
    log->die_at = text;
    log->die_further = further;
}

/* With a hook all is done by the thread that asks: nothing waits for another one, a hundred thousand times. */
static int pass(const FsEvent *event, void *data)
{
    (void)event;
    (void)data;
    return 0;
}

void crashlog_stop(void)
{
    fs_set_hook(pass, NULL);
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
        CrashOp op = {.call = FS_CREATE, .place = file->place, .name = file->name, .file = (int)i};
        if (!file->data) {
            op.call = FS_MAKE_DIR;
            op.file = crash_dir_file(made_place(&op));
        }
        crashlog_append(log, &op);
        if (!file->data)
            continue;
        op.call = FS_WRITE;
        op.data = g_bytes_ref(file->data);
        crashlog_append(log, &op);
    }
    crashlog_note(log, state->notes);
    crashlog_begin(log);
}

void crashlog_note(CrashLog *log, CrashNotes notes)
{
    crashlog_append(log, &(CrashOp){.call = CRASH_NOTE, .notes = notes});
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
           : notes->held      ? "acted"
                              : "said 250";
}

const char *crashlog_text(const CrashOp *op)
{
    static const char *const calls[] = {"create", "write",    "mark",      "truncate", "rename",
                                        "unlink", "make dir", "sync file", "sync dir"};
    static char text[160];
    if (op->call == CRASH_NOTE)
        return note_text(&op->notes);
    bool queue = op->place < CRASH_QUEUES;
    bool is_count = queue && op->call == FS_PWRITE && op->offset == FORMAT_CRASHES_OFFSET;
    bool decides = queue && op->call == FS_PWRITE && op->offset == 0;
    const char *place = op->place == CRASH_SPOOL ? "spool" : crash_place_path(op->place);
    const char *from = op->call == FS_MAKE_DIR ? "" : state_of(op->name), *to = state_of(op->to);
    const char *moved = op->to_place == op->place ? "" : crash_place_path(op->to_place);
    g_snprintf(text, sizeof text, "%s %s%s%s%s%s%s%s", is_count  ? "count"
                                                        : decides ? "decide"
                                                                  : calls[op->call], place,
               *from == '.' ? " " : "", from, *moved ? " to " : "", moved, *to ? " " : "", *to == ' ' ? to + 1 : to);
    return text;
}

bool crashlog_apart(const CrashOp *a, const CrashOp *b)
{
    bool files = a->call != CRASH_NOTE && b->call != CRASH_NOTE && a->call != FS_SYNC_DIR && b->call != FS_SYNC_DIR;
    return files && a->file != b->file;
}
