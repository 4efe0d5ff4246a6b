/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner list: create, rename, copy, remove, ls; the settings verbs are in list_settings.c, try is in list_try.c.
 * */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/admin/new_domain.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/plain.h"
#include "cli/progress.h"
#include "cli/work_site.h"
#include "lists/archive/archive_place.h"
#include "lists/making/list_make.h"
#include "store/lists/domain.h"
#include "store/lists/list_archive.h"
#include "store/lists/list_setting.h"
#include "store/people/member.h"

/* More members go some at a time before the list itself, so that others can write meanwhile. */
#define MANY 100000

static char *style;
static char **owners;
static gboolean keep_domains, new_domain, notify, names, with_members, yes, archive;

static int run_create(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace place;
    bool known = false;
    const char *at = strrchr(argv[0], '@');
    const NewList new = {.address = argv[0],
                         .style = style,
                         .owners = (const char *const *)owners,
                         .make_domain = !keep_domains,
                         .near_domain = new_domain,
                         .notify = notify};
    if (new_domain && keep_domains)
        return command_usage(error, "--new-domain and --no-domain contradict each other");
    g_autoptr(Work) work = work_place_begin(&place, site, error);
    bool sound = work && (!at || domain_answers(place.store, at + 1, &known, error));
    g_autoptr(List) list = sound ? list_make(work, &new, error) : NULL;
    if (!list || !work_place_commit(&place, site, work, error))
        return TOOL_LATER;
    printf("list %s created (List-Id %s)\n", list->posting_address, list->list_id);
    if (!known)
        new_domain_tell(site, list->mail_host, NULL);
    return TOOL_OK;
}

static int run_rename(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace place;
    g_autoptr(Work) work = work_place_begin_spooled(&place, site, error);
    g_autoptr(List) list = work ? site_list_find(place.store, argv[0], error) : NULL;
    if (!list || !list_move(work, list->list_id, argv[1], error) || !work_commit(work, place.spool, error))
        return TOOL_LATER;
    printf("list %s is %s now (List-Id %s, as before)\n", list->posting_address, argv[1], list->list_id);
    return TOOL_OK;
}

static int run_copy(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace place;
    g_autoptr(Work) work = work_place_begin_spooled(&place, site, error);
    g_autoptr(List) list = work ? site_list_find(place.store, argv[0], error) : NULL;
    g_autoptr(List) made = list ? list_copy(work, list, argv[1], with_members, error) : NULL;
    if (!made || !work_commit(work, place.spool, error))
        return TOOL_LATER;
    printf("list %s created (List-Id %s), as a copy of %s\n", made->posting_address, made->list_id,
           list->posting_address);
    return TOOL_OK;
}

/* ---- remove ---- */

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
    if (fgets(answer, sizeof answer, stdin) &&
        (g_ascii_strcasecmp(g_strstrip(answer), "y") == 0 || g_ascii_strcasecmp(answer, "yes") == 0))
        return true;
    printf("list %s not removed\n", list->posting_address);
    *code = TOOL_NOT_SO;
    return false;
}

/* Of a list with many members, these go some at a time before it. */
static bool remove_list(WorkPlace *place, const List *list, int64_t members, GError **error)
{
    Progress progress = {.what = "members removed", .total = (uint64_t)members};
    int64_t done = 0, removed = members > MANY;
    bool sound = true;
    while (sound && removed > 0) {
        sound = list_remove_members(place->store, list->list_id, &removed, error);
        done += removed;
        progress_show(&progress, (uint64_t)done, (uint64_t)done);
    }
    progress_end(&progress);
    g_autoptr(Work) work = sound ? work_place_unit(place, error) : NULL;
    return work && list_drop(work, list->list_id, error) && work_commit(work, place->spool, error);
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

/* The list is gone, but its archive, and those of lists before it with that List-Id, may be there. */
static int remove_left(Site *site, Store *store, const char *name, GError *missing, GError **error)
{
    int64_t count = 0;
    g_autofree char *list_id = g_strdelimit(g_ascii_strdown(name, -1), "@", '.');
    g_autoptr(GStrvBuilder) all = g_strv_builder_new();
    const Config *config = site_config(site, error);
    bool counted = config && archive && list_archive_removed(store, list_id, &count, NULL);
    for (int64_t number = 0; counted && number < MAX(count, 1); number++) {
        g_autofree char *kept = list_archive_name(list_id, number);
        g_auto(GStrv) some = archive_places(config, kept);
        g_strv_builder_addv(all, (const char **)some);
    }
    g_auto(GStrv) places = g_strv_builder_end(all);
    if (!*places || !yes) {
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
    if (!remove_list(&place, list, contents.members, error))
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

/* ---- ls ---- */

typedef struct ListWalk {
    Listing *listing;
    Store *store;
    GError *error;
} ListWalk;

static bool show_list(const List *list, void *data)
{
    ListWalk *walk = data;
    if (names) {
        puts(list->posting_address);
        return true;
    }
    int64_t members = 0;
    if (!member_count(walk->store, list->list_id, ROLE_MEMBER, &members, &walk->error))
        return false;
    listing_row(walk->listing,
                json_pack("{so so sI sI so so}", "address", listing_text(list->posting_address), "list_id",
                          listing_text(list->list_id), "members", (json_int_t)members, "posts",
                          (json_int_t)(list->post_id - 1), "last_post_at", listing_time(list->last_post_at),
                          "description", listing_text(list->settings->description)));
    return true;
}

static int run_ls(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {
        {"address", "LIST", COLUMN_TEXT},          {"members", "MEMBERS", COLUMN_NUMBER},
        {"posts", "POSTS", COLUMN_NUMBER},         {"last_post_at", "LAST POST", COLUMN_TEXT},
        {"description", "DESCRIPTION", COLUMN_TEXT}, {NULL, NULL, COLUMN_TEXT}};
    Store *store = site_store(site, false, error);
    g_autoptr(Domain) domain = store && argc > 0 ? domain_find(store, argv[0], error) : NULL;
    if (!store || (argc > 0 && !domain))
        return TOOL_LATER;
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    ListWalk walk = {.listing = listing, .store = store};
    if (!list_each(store, domain ? domain->mail_host : NULL, show_list, &walk, error))
        return TOOL_LATER;
    if (walk.error) {
        g_propagate_error(error, walk.error);
        return TOOL_LATER;
    }
    return TOOL_OK;
}

static const GOptionEntry create_options[] = {
    {"style", 0, 0, G_OPTION_ARG_STRING, &style,
     "discussion (the default), announce, private, or one of the site's own", "discussion|announce|private"},
    {"owner", 0, 0, G_OPTION_ARG_STRING_ARRAY, &owners, "an owner; may be given more than once", "ADDRESS"},
    {"notify", 'n', 0, G_OPTION_ARG_NONE, &notify, "write to the owners about their new list", NULL},
    {"no-domain", 0, 0, G_OPTION_ARG_NONE, &keep_domains, "fail when the domain is not known, instead of creating it",
     NULL},
    {"new-domain", 0, 0, G_OPTION_ARG_NONE, &new_domain,
     "create the domain also when its name is within two letters of a known one", NULL},
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry copy_options[] = {
    {"members", 0, 0, G_OPTION_ARG_NONE, &with_members, "its members and nonmembers, too", NULL},
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry ls_options[] = {
    JSON_ROWS_OPTION,
    {"names", 0, 0, G_OPTION_ARG_NONE, &names, "only the addresses", NULL},
    G_OPTION_ENTRY_NULL,
};

static const Command create = {
    .name = "create", .arguments = "ADDRESS", .summary = "Create a list, and its domain when that is new", .least = 1,
    .most = 1, .options = create_options, .run = run_create,
};

static const Command list_rename_verb = {
    .name = "rename", .arguments = "LIST ADDRESS", .summary = "Give a list another address", .least = 2, .most = 2,
    .run = run_rename,
    .details = "The List-Id stays, and mail to the address that it was made of goes on reaching the list.",
};

static const Command list_copy_verb = {
    .name = "copy", .arguments = "LIST ADDRESS", .summary = "Make a list like another one", .least = 2, .most = 2,
    .options = copy_options, .run = run_copy,
    .details = "The copy has its settings, owners, moderators, bans, header rows and texts of letters.",
};

static const Command ls = {
    .name = "ls", .arguments = "[DOMAIN]", .summary = "Show the lists", .most = 1, .options = ls_options, .run = run_ls,
};

static const GOptionEntry remove_options[] = {
    {"yes", 'y', 0, G_OPTION_ARG_NONE, &yes, "do not ask, though the list has members or posts", NULL},
    {"archive", 0, 0, G_OPTION_ARG_NONE, &archive, "remove its archives on this host, too", NULL},
    G_OPTION_ENTRY_NULL,
};

static const Command list_remove_verb = {
    .name = "remove",
    .arguments = "LIST",
    .summary = "Remove a list with its members, held posts and requests",
    .details = "What would be lost is shown, and goes when you answer yes; without a terminal --yes must say so.\n"
               "Archives stay unless --archive is given. A list that is made with the same List-Id later\n"
               "has an archive of its own beside it: LIST-ID~2.",
    .least = 1,
    .most = 1,
    .options = remove_options,
    .run = run_remove,
};

static const Command *const verbs[] = {&create,
                                       &list_rename_verb,
                                       &list_copy_verb,
                                       &list_remove_verb,
                                       &ls,
                                       &list_show,
                                       &list_get_verb,
                                       &list_set_verb,
                                       &list_reset_verb,
                                       &list_try_verb,
                                       &list_log_verb,
                                       &list_source_verb,
                                       &list_family_verb,
                                       NULL};

const Command cmd_list = {
    .name = "list", .arguments = "", .summary = "Create, rename, copy, remove, show or set up lists", .verbs = verbs,
};
