/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner list remove */
#include "cli/list_remove.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/fragment_wake.h"
#include "cli/progress.h"

/* From so many members on the database has become large by them. */
#define MANY 10000

static gboolean yes;

/* What is lost with the list stays lost, so somebody has to say that it is meant. */
static bool is_meant(const List *list, int64_t members, int *code, GError **error)
{
    char answer[16] = "";
    if (yes || members == 0)
        return true;
    if (!isatty(STDIN_FILENO)) {
        *code = command_usage(error, "%s has %" G_GINT64_FORMAT " member%s, who would be gone for good; say --yes",
                              list->posting_address, members, members == 1 ? "" : "s");
        return false;
    }
    fprintf(stderr, "Remove %s with its %" G_GINT64_FORMAT " member%s and its held posts for good? [y/N] ",
            list->posting_address, members, members == 1 ? "" : "s");
    fflush(stderr);
    if (fgets(answer, sizeof answer, stdin) && (g_ascii_strcasecmp(g_strstrip(answer), "y") == 0 ||
                                                g_ascii_strcasecmp(answer, "yes") == 0))
        return true;
    printf("list %s not removed\n", list->posting_address);
    *code = TOOL_NOT_SO;
    return false;
}

static bool remove_all(Store *store, const List *list, int64_t members, GError **error)
{
    Progress progress = {.what = "members removed", .total = (uint64_t)members};
    int64_t done = 0, removed;
    bool sound;
    while ((sound = list_remove_members(store, list->list_id, &removed, error)) && removed > 0) {
        done += removed;
        progress_show(&progress, (uint64_t)done, (uint64_t)done);
    }
    progress_end(&progress);
    return sound && list_remove(store, list->list_id, error);
}

/* Parts of messages that wait for it: the runner that has them is told when the list is gone. */
typedef struct Waiting {
    GPtrArray *drafts;
    int64_t sets, parts;
} Waiting;

static bool find_waiting(Site *site, Store *store, const List *list, Waiting *waiting, GError **error)
{
    const Config *config = site_config(site, error);
    waiting->drafts = config ? fragment_wake_prepare(store, list->list_id, config_string(config, "site", "hostname"),
                                                     &waiting->sets, &waiting->parts, error)
                             : NULL;
    return waiting->drafts != NULL;
}

static bool tell_of_waiting(Site *site, const Waiting *waiting, GError **error)
{
    if (waiting->sets == 0)
        return true;
    printf("%" PRId64 " part%s of %" PRId64 " incomplete message%s for it go to shunt\n", waiting->parts,
           waiting->parts == 1 ? "" : "s", waiting->sets, waiting->sets == 1 ? "" : "s");
    Spool *spool = site_spool(site, error);
    return spool && fragment_wake_store(spool, waiting->drafts, error);
}

static int run_remove(Site *site, int argc, char **argv, GError **error)
{
    int64_t members = 0;
    int code = TOOL_LATER;
    Store *store = site_store(site, false, error);
    g_autoptr(List) list = store ? list_find(store, argv[0], error) : NULL;
    Waiting waiting = {0};
    if (!list || !member_count(store, list->list_id, ROLE_MEMBER, &members, error) ||
        !is_meant(list, members, &code, error) || !find_waiting(site, store, list, &waiting, error))
        return code;
    g_autoptr(GPtrArray) drafts = waiting.drafts;
    if (!remove_all(store, list, members, error))
        return TOOL_LATER;
    printf("list %s removed\n", list->posting_address);
    if (!tell_of_waiting(site, &waiting, error))
        return TOOL_LATER;
    if (members >= MANY)
        puts("The file of the database stays as large as it is, and what is written next takes the room; "
             "\"listrunner store compact\" makes it smaller.");
    return TOOL_OK;
}

static const GOptionEntry options[] = {
    {"yes", 'y', 0, G_OPTION_ARG_NONE, &yes, "do not ask, though the list has members", NULL},
    G_OPTION_ENTRY_NULL,
};

const Command list_remove_verb = {
    .name = "remove",
    .arguments = "LIST",
    .summary = "Remove a list with its members and held posts",
    .details = "A list with members is removed when you answer yes; without a terminal --yes must say so.",
    .least = 1,
    .most = 1,
    .options = options,
    .run = run_remove,
};
