/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/member_import.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "cli/input.h"
#include "cli/member_line.h"
#include "cli/progress.h"
#include "cli/role_option.h"

/* Lines a transaction: many, for the addresses come in any order and each
 * transaction writes every page it touched; not more than runners that want
 * to write can wait for, about a second. */
#define CHUNK_LINES 20000

typedef struct Import {
    Store *store;
    const List *list;
    Role role;
    const char *file; /* for messages */
    MemberLines *lines;
    Progress progress;
    uint64_t added, duplicate, bad, seen;
    uint64_t stored; /* the last line whose transaction was committed */
    bool last;
} Import;

static void complain(Import *import, uint64_t number, const GError *error)
{
    progress_end(&import->progress);
    fprintf(stderr, "%s:%" G_GUINT64_FORMAT ": %s\n", import->file, number, error->message);
    import->bad++;
}

/* Adds one person inside the chunk's transaction; what a refused one has
 * begun is undone. False only when the import must end. */
static bool add_line(Import *import, const MemberLine *line, GError **error)
{
    g_autoptr(GError) refusal = NULL;
    if (!store_savepoint(import->store, error))
        return false;
    bool added = member_add(import->store, import->list->list_id, import->role, line->address, line->display_name,
                            &line->own, &refusal);
    store_savepoint_end(import->store, added);
    if (added)
        import->added++;
    else if (g_error_matches(refusal, FAIL, FAIL_RACE))
        import->duplicate++;
    else if (g_error_matches(refusal, FAIL, FAIL_NEVER))
        complain(import, line->number, refusal);
    else {
        g_propagate_error(error, g_steal_pointer(&refusal));
        return false;
    }
    return true;
}

/* One transaction. */
static bool import_chunk(Import *import, GError **error)
{
    uint64_t number = import->stored;
    for (unsigned i = 0; i < CHUNK_LINES && !import->last; i++) {
        g_autoptr(GError) refusal = NULL;
        g_auto(MemberLine) line = {0};
        bool read = member_lines_next(import->lines, &line, &refusal);
        if (!read && !g_error_matches(refusal, FAIL, FAIL_NEVER)) {
            g_propagate_error(error, g_steal_pointer(&refusal));
            return false;
        }
        number = line.number;
        import->last = line.last;
        import->seen += !line.last;
        if (!read)
            complain(import, line.number, refusal);
        else if (!line.last && !add_line(import, &line, error))
            return false;
    }
    import->stored = number;
    return true;
}

static bool import_all(Import *import, GError **error)
{
    while (!import->last) {
        uint64_t before = import->stored;
        if (!store_begin(import->store, error))
            return false;
        if (!import_chunk(import, error)) {
            store_rollback(import->store);
            g_prefix_error(error, "%s: lines up to %" G_GUINT64_FORMAT " are in, the rest is not: ", import->file,
                           before);
            return false;
        }
        if (!store_commit(import->store, error)) {
            g_prefix_error(error, "%s: lines up to %" G_GUINT64_FORMAT " are in, the rest is not: ", import->file,
                           before);
            return false;
        }
        progress_show(&import->progress, member_lines_octets(import->lines), import->seen);
    }
    return true;
}

static int run_import(Site *site, int argc, char **argv, GError **error)
{
    Role role;
    g_autoptr(InputFile) file = role_option(&role, error) ? input_open(argc > 1 ? argv[1] : "-", error) : NULL;
    Store *store = file ? site_store(site, false, error) : NULL;
    g_autoptr(List) list = store ? list_find(store, argv[0], error) : NULL;
    if (!list)
        return TOOL_LATER;
    g_autoptr(MemberLines) lines = member_lines_new(file);
    Import import = {
        .store = store,
        .list = list,
        .role = role,
        .file = input_name(argc > 1 ? argv[1] : "-"),
        .lines = lines,
        .progress = {.what = "lines", .total = input_size(file)},
    };
    bool whole = import_all(&import, error);
    progress_end(&import.progress);
    if (!whole)
        return TOOL_LATER;
    printf("%" G_GUINT64_FORMAT " added to %s as %s, %" G_GUINT64_FORMAT " there already, %" G_GUINT64_FORMAT
           " bad lines\n",
           import.added, list->posting_address, role_text(role), import.duplicate, import.bad);
    return import.bad ? TOOL_NOT_SO : TOOL_OK;
}

static const GOptionEntry options[] = {ROLE_OPTION, G_OPTION_ENTRY_NULL};

const Command member_import = {
    .name = "import",
    .arguments = "LIST [FILE]",
    .summary = "Add members from a file or standard input",
    .details = "FILE is CSV with a first line that names its columns (address, display_name, delivery_mode,\n"
               "delivery_status; others are passed over), or has an address or 'Name <address>' a line.\n"
               "Bad lines are reported as FILE:LINE: REASON, the others are added; then the exit code is 1.",
    .least = 1,
    .most = 2,
    .options = options,
    .run = run_import,
};
