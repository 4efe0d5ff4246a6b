/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner list remove */
#include "cli/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/plain.h"
#include "cli/progress.h"
#include "cli/work_site.h"
#include "lists/archive/archive_place.h"
#include "lists/making/list_change.h"
#include "lists/making/list_make.h"
#include "store/lists/list_archive.h"

/* More members go some at a time before the list itself, so that others can write meanwhile. */
#define MANY 100000

static gboolean yes, archive;

static void add_count(GString *text, int64_t count, const char *one, const char *many)
{
    if (count > 0)
        g_string_append_printf(text, "%s%" PRId64 " %s", text->len ? ", " : "", count, count == 1 ? one : many);
}

/* "2 members, 1 held post, the archive /var/lib/..."; empty: nothing that anybody would miss. g_free() */
static char *lost_text(const ListContents *contents, char *const *places)
{
    g_autoptr(GString) text = g_string_new(NULL);
    add_count(text, contents->members, "member", "members");
    add_count(text, contents->held, "held post", "held posts");
    add_count(text, contents->scheduled, "scheduled post", "scheduled posts");
    add_count(text, contents->requests, "request", "requests");
    add_count(text, contents->digest_posts, "post that waits for the digest", "posts that wait for the digest");
    for (; archive && *places; places++)
        g_string_append_printf(text, "%sthe archive %s", text->len ? ", " : "", *places);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

/* Ask whether the removal is meant, since data that go with the list cannot be brought back. */
static bool is_meant(const List *list, const char *lost, int *code, GError **error)
{
    char answer[16] = "";
    if (yes || !*lost)
        return true;
    if (!isatty(STDIN_FILENO)) {
        *code = command_usage(error, "%s has %s, which would be gone for good; say --yes", list->posting_address, lost);
        return false;
    }
    fprintf(stderr, "Remove %s with %s for good? [y/N] ", list->posting_address, lost);
    fflush(stderr);
    if (fgets(answer, sizeof answer, stdin) && (g_ascii_strcasecmp(g_strstrip(answer), "y") == 0 ||
                                                g_ascii_strcasecmp(answer, "yes") == 0))
        return true;
    printf("list %s not removed\n", list->posting_address);
    *code = TOOL_NOT_SO;
    return false;
}

static bool remove_many(Store *store, const List *list, int64_t members, GError **error)
{
    Progress progress = {.what = "members removed", .total = (uint64_t)members};
    int64_t done = 0, removed = members > MANY;
    bool sound = true;
    while (sound && removed > 0) {
        sound = list_remove_members(store, list->list_id, &removed, error);
        done += removed;
        progress_show(&progress, (uint64_t)done, (uint64_t)done);
    }
    progress_end(&progress);
    return sound;
}

static bool remove_archives(const char *name, char *const *places, GError **error)
{
    if (!*places)
        printf("list %s has no archive of its own on this host\n", name);
    for (; *places; places++) {
        if (!archive_place_remove(*places, error))
            return false;
        printf("archive %s removed\n", *places);
    }
    return true;
}

static bool drop(WorkPlace *place, const List *list, GError **error)
{
    g_autoptr(Work) work = work_place_unit(place, error);
    return work && list_drop(work, list->list_id, error) && work_commit(work, place->spool, error);
}

/* The places of all lists that had this List-Id; NULL: the store failed. */
static char **removed_places(Store *store, const Config *config, const char *list_id, GError **error)
{
    int64_t count;
    if (!list_archive_removed(store, list_id, &count, error))
        return NULL;
    g_autoptr(GStrvBuilder) all = g_strv_builder_new();
    for (int64_t number = 0; number < MAX(count, 1); number++) {
        g_autofree char *name = list_archive_name(list_id, number);
        g_auto(GStrv) places = archive_places(config, name);
        g_strv_builder_addv(all, (const char **)places);
    }
    return g_strv_builder_end(all);
}

/* The list is gone, but its archive, and those of lists before it, may be there. */
static int remove_left(Site *site, Store *store, const char *name, GError *missing, GError **error)
{
    g_autofree char *list_id = g_strdelimit(g_ascii_strdown(name, -1), "@", '.');
    const Config *config = site_config(site, error);
    g_auto(GStrv) places = config && archive ? removed_places(store, config, list_id, NULL) : NULL;
    if (!places || !*places || !yes) {
        g_propagate_error(error, missing);
        return TOOL_LATER;
    }
    g_error_free(missing);
    return remove_archives(name, places, error) ? TOOL_OK : TOOL_LATER;
}

static int run_remove(Site *site, int argc, char **argv, GError **error)
{
    int code = TOOL_LATER;
    WorkPlace place;
    ListContents contents;
    GError *missing = NULL;
    if (!work_place_open(&place, site, error))
        return TOOL_LATER;
    g_autoptr(List) list = site_list_find(place.store, argv[0], &missing);
    if (!list)
        return remove_left(site, place.store, argv[0], missing, error);
    g_autofree char *kept = list_archive_name(list->list_id, list->archive);
    g_auto(GStrv) places = archive_places(site_config(site, error), kept);
    if (!list_contents(place.store, list, place.site.hostname, &contents, error))
        return TOOL_LATER;
    g_autofree char *lost = lost_text(&contents, places);
    if (!is_meant(list, lost, &code, error))
        return code;
    if (!remove_many(place.store, list, contents.members, error) || !drop(&place, list, error))
        return TOOL_LATER;
    printf("list %s removed%s%s\n", list->posting_address, *lost ? ", with " : "", lost);
    if (contents.sets > 0)
        printf("%" PRId64 " part%s of %" PRId64 " incomplete message%s for it go to shunt\n", contents.parts,
               contents.parts == 1 ? "" : "s", contents.sets, contents.sets == 1 ? "" : "s");
    if (archive && !remove_archives(list->posting_address, places, error))
        return TOOL_LATER;
    for (char **stays = places; !archive && *stays; stays++)
        printf("its archive %s stays; list remove --archive --yes %s removes it\n", *stays, list->posting_address);
    if (contents.members >= MANY / 10)
        puts("The timer gives the room in the database back to the file system within the next hours; "
             "\"listrunner store compact\" does it at once.");
    return TOOL_OK;
}

static const GOptionEntry options[] = {
    {"yes", 'y', 0, G_OPTION_ARG_NONE, &yes, "do not ask, though the list has members or posts", NULL},
    {"archive", 0, 0, G_OPTION_ARG_NONE, &archive, "remove its archives on this host, too", NULL},
    G_OPTION_ENTRY_NULL,
};

const Command list_remove_verb = {
    .name = "remove",
    .arguments = "LIST",
    .summary = "Remove a list with its members, held posts and requests",
    .details = "What would be lost is shown, and goes when you answer yes; without a terminal --yes must say so.\n"
               "Archives stay unless --archive is given. A list that is made with the same List-Id later\n"
               "has an archive of its own beside it: LIST-ID~2.",
    .least = 1,
    .most = 1,
    .options = options,
    .run = run_remove,
};
