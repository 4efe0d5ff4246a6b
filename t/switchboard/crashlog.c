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
#include "t/switchboard/crashsite.h"

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

void crashlog_append(CrashLog *log, const CrashOp *op)
{
    g_array_append_vals(log->ops, op, 1);
    crashmodel_apply(log->live, op);
}

/* What it is called; false when it is none of ours. */
static bool read_event(const FsEvent *event, CrashOp *op)
{
    char name[NAME_MAX + 1] = "";
    *op = (CrashOp){.call = event->call, .offset = event->offset};
    if (event->name)
        op->name = g_intern_string(event->name);
    if (event->to)
        op->to = g_intern_string(event->to);
    bool directory = event->name || event->call == FS_SYNC_DIR;
    if (!locate(event->fd, directory, &op->queue, name))
        return false;
    if (!directory)
        op->name = g_intern_string(name);
    return true;
}

/* Takes one call in, if it will succeed. */
static void take(CrashLog *log, const FsEvent *event)
{
    CrashOp op;
    if (!read_event(event, &op))
        return;
    if (event->call == FS_SYNC_FILE || event->call == FS_SYNC_DIR)
        op.site = crashsite_here();
    op.file = op.name ? crashmodel_find(log->live, op.queue, op.name) : -1;
    if (op.queue == CRASH_SPOOL && event->call == FS_PWRITE && op.file < 0) { /* the lock was made by its opening */
        CrashOp made = {.call = FS_CREATE, .queue = op.queue, .name = op.name, .file = (int)log->live->files->len};
        op.file = made.file;
        crashlog_append(log, &made);
    }
    if (event->call == FS_CREATE && op.file < 0)
        op.file = (int)log->live->files->len;
    else if (event->call == FS_CREATE || (op.name && op.file < 0) ||
             (op.to && crashmodel_find(log->live, op.queue, op.to) >= 0))
        return; /* it will fail: taken, or gone */
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
        crashlog_append(log, &op);
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
