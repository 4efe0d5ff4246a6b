/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/command.h"

#include <stdio.h>

#include "base/fail.h"
#include "cli/input.h"
#include "lists/people/member_line.h"
#include "cli/plain.h"
#include "cli/progress.h"
#include "cli/people/role_option.h"
#include "cli/work_site.h"
#include "lists/event.h"
#include "lists/people/own_address.h"
#include "lists/people/roster.h"
#include "store/lists/list.h"

/* A look at the clock for the bar, once in so many lines. */
#define SHOW_LINES 1000

typedef struct MemberFileImport {
    WorkPlace place;
    const List *list;
    Role role;
    MemberImport *members;
    MemberLines *lines;
    GHashTable *domains; /* of the site: addresses in them are looked up */
    const char *file; /* for messages */
    Progress progress;
    uint64_t taken, added, duplicate, bad, other;
    Work *work; /* the unit of some thousand lines, and what it adds */
    uint64_t work_added, work_duplicate;
} MemberFileImport;

static void complain(MemberFileImport *import, uint64_t number, const GError *error)
{
    progress_end(&import->progress);
    plain_complain("%s:%" G_GUINT64_FORMAT ": %s", import->file, number, error->message);
    import->bad++;
}

/* A file of Google Groups says which part each has there: others than members are none here, and owners and managers
 * come as owners and moderators. */
static bool is_wanted(const MemberFileImport *import, MemberRank rank)
{
    return rank == RANK_UNSAID ||
           (import->role == ROLE_OWNER       ? rank == RANK_OWNER
            : import->role == ROLE_MODERATOR ? rank == RANK_MANAGER
                                             : rank != RANK_NONE);
}

/* Most lines are of other domains, and cost no question to the store. */
static bool may_have(const MemberFileImport *import, const char *address, GError **error)
{
    if (!own_address_may_be(import->domains, address))
        return true;
    g_autoptr(Work) work = work_new(import->place.store, &import->place.site, &import->place.actor);
    return own_address_check(work, import->list->list_id, import->role, address, error);
}

/* Reads one line and hands it to the store; *last at the end of the file.
 * False only when the import must end. */
static bool take_line(MemberFileImport *import, bool *last, GError **error)
{
    g_autoptr(GError) refusal = NULL;
    g_auto(MemberLine) line = {0};
    bool taken = member_lines_next(import->lines, &line, &refusal);
    *last = line.last;
    if (taken && !line.last && !is_wanted(import, line.rank)) {
        import->other++;
    } else if (taken && !line.last) {
        taken = may_have(import, line.address, &refusal) &&
                member_import_add(import->members, (int64_t)line.number, line.address, line.display_name, &line.own,
                                  &refusal);
        import->taken += taken;
    }
    if (taken)
        return true;
    if (g_error_matches(refusal, FAIL, FAIL_NEVER)) {
        complain(import, line.number, refusal);
        return true;
    }
    if (g_error_matches(refusal, FAIL, FAIL_CONFIG))
        command_usage(error, "%s: %s", import->file, refusal->message);
    else
        g_propagate_prefixed_error(error, g_steal_pointer(&refusal), "%s: ", import->file);
    return false;
}

static bool take_all(MemberFileImport *import, GError **error)
{
    bool last = false;
    for (uint64_t count = 1; !last; count++) {
        if (!take_line(import, &last, error))
            return false;
        if (count % SHOW_LINES == 0)
            progress_show(&import->progress, member_lines_bytes(import->lines), count);
    }
    progress_end(&import->progress);
    return true;
}

static void imported(int64_t number, const char *address, const GError *refusal, void *data)
{
    MemberFileImport *import = data;
    (void)number;
    if (refusal) { /* it is there already */
        import->work_duplicate++;
        return;
    }
    import->work_added++;
    roster_tell(import->work, EVENT_MEMBER_JOINED, import->list->list_id, import->role, address);
}

/* One unit: the next lines, and the events about them. */
static bool import_some(MemberFileImport *import, Site *site, bool *more, GError **error)
{
    g_autoptr(Work) work = work_new(import->place.store, &import->place.site, &import->place.actor);
    import->work = work;
    import->work_added = import->work_duplicate = 0;
    if (!work_begin(work, error) || !member_import_some(import->members, imported, import, more, error) ||
        !roster_log_many(work, import->list->list_id, import->role, import->work_added, error) ||
        !work_place_commit(&import->place, site, work, error))
        return false;
    import->added += import->work_added;
    import->duplicate += import->work_duplicate;
    progress_show(&import->progress, import->added + import->duplicate, import->added + import->duplicate);
    return true;
}

static bool import_all(MemberFileImport *import, Site *site, uint64_t size, GError **error)
{
    import->progress = (Progress){.what = "lines read", .total = size};
    if (!take_all(import, error))
        return false;
    import->progress = (Progress){.what = "members", .total = import->taken};
    bool more = true, whole = member_import_sort(import->members, error);
    while (whole && more)
        whole = import_some(import, site, &more, error);
    progress_end(&import->progress);
    if (!whole)
        g_prefix_error(error, "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " are in, the rest is not: ",
                       import->added + import->duplicate, import->taken);
    return whole;
}

static int run_import(Site *site, int argc, char **argv, GError **error)
{
    Role role;
    g_autoptr(InputFile) file = role_option(&role, error) ? input_open(argc > 1 ? argv[1] : "-", error) : NULL;
    WorkPlace place;
    bool open = file && work_place_store(&place, site, error);
    g_autoptr(List) list = open ? site_list_find(place.store, argv[0], error) : NULL;
    if (!list)
        return TOOL_LATER;
    g_autoptr(MemberLines) lines = member_lines_new(file);
    g_autoptr(MemberImport) members = member_import_open(place.store, list->list_id, role, error);
    g_autoptr(GHashTable) domains = members ? own_address_domains(place.store, error) : NULL;
    if (!domains)
        return TOOL_LATER;
    MemberFileImport import = {.place = place,
                               .list = list,
                               .role = role,
                               .members = members,
                               .lines = lines,
                               .domains = domains,
                               .file = input_name(argc > 1 ? argv[1] : "-")};
    if (!import_all(&import, site, input_size(file), error))
        return TOOL_LATER;
    printf("%" G_GUINT64_FORMAT " added to %s as %s, %" G_GUINT64_FORMAT " there already, %" G_GUINT64_FORMAT
           " bad line%s\n",
           import.added, list->posting_address, role_text(role), import.duplicate, import.bad,
           import.bad == 1 ? "" : "s");
    if (import.other > 0)
        printf("%" G_GUINT64_FORMAT " passed over, who have another Group status\n", import.other);
    return import.bad ? TOOL_NOT_SO : TOOL_OK;
}

static const GOptionEntry options[] = {ROLE_OPTION, G_OPTION_ENTRY_NULL};

const Command member_import = {
    .name = "import",
    .arguments = "LIST [FILE]",
    .summary = "Add members from a file or standard input",
    .details = "FILE is CSV with a first line that names its columns (address, display_name, delivery_mode,\n"
               "delivery_status; others are passed over), or has an address or 'Name <address>' a line.\n"
               "Of a file of Google Groups, --role owner and moderator take its owners and managers alone.\n"
               "Bad lines are reported as FILE:LINE: REASON, the others are added; then the exit code is 1.",
    .least = 1,
    .most = 2,
    .options = options,
    .run = run_import,
};
