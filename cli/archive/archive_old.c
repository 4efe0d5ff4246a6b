/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner archive old: where each address of a list's old archive leads to is noted, for the redirections by which
 * the runner web answers them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "cli/archive/archive_site.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/plain.h"
#include "cli/progress.h"
#include "mail/message.h"
#include "store/archive/archive_old.h"

#define BATCH 1000 /* addresses of one transaction */
#define TOLD 20    /* lines that were left out and are named */
#define ADDRESS_MAX 2000

typedef struct OldMap {
    const ArchiveSite *place;
    ArchiveOld *old;
    ArchiveIndex *index;
    int64_t list;                      /* number of the list in the index; 0: it has no posts */
    uint64_t noted, missing, left_out; /* missing: noted, and the archive has no such message now */
} OldMap;

/* A month, or the mails of one. */
static bool is_month(const char *text)
{
    return strspn(text, "0123456789-") == 7 && text[4] == '-' && (!text[7] || g_str_equal(text + 7, ".mbox.gz"));
}

/* Note one line of the map. *wrong: why it is left out, or NULL. */
static bool take_line(OldMap *map, char *line, const char **wrong, GError **error)
{
    char *tab = strchr(line, '\t');
    *wrong = !tab || *line != '/'               ? "it is no path, a tab and a Message-ID, a month or nothing"
             : tab - line > ADDRESS_MAX         ? "its path is too long"
             : !g_utf8_validate(line, -1, NULL) ? "it is no UTF-8"
                                                : NULL;
    if (*wrong)
        return true;
    *tab = '\0';
    const char *target = tab + 1;
    bool message = *target && !is_month(target);
    g_autofree char *hash = message ? message_id_hash(target) : NULL;
    if (message) {
        g_autoptr(GError) absent = NULL;
        g_autoptr(ArchiveMessage) here = map->list ? archive_index_message(map->index, map->list, hash, &absent) : NULL;
        if (absent && !fail_unless(error, FAIL_MISSING, &absent))
            return false;
        map->missing += !here;
    }
    map->noted++;
    return archive_old_put(map->old, line, map->place->archive, message ? hash : target, error) &&
           (map->noted % BATCH != 0 || (archive_old_commit(map->old, error) && archive_old_begin(map->old, error)));
}

static bool take_all(OldMap *map, InputFile *file, GError **error)
{
    Progress progress = {.what = "addresses"};
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    bool done = archive_old_begin(map->old, error);
    for (uint64_t number = 1; done && (length = getline(&line, &room, file)) > 0; number++) {
        const char *wrong = NULL;
        line[strcspn(line, "\r\n")] = '\0';
        if (!*line || *line == '#')
            continue;
        done = take_line(map, line, &wrong, error);
        progress_show(&progress, map->noted, map->noted);
        if (!wrong || map->left_out++ >= TOLD)
            continue;
        progress_end(&progress);
        g_autofree char *plain = plain_text(line);
        printf("left out: line %" PRIu64 ": %s: %s\n", number, plain, wrong);
    }
    progress_end(&progress);
    free(line);
    if (done && ferror(file))
        done = fail_errno(error, FAIL_LATER, "the map cannot be read");
    done = done && archive_old_commit(map->old, error);
    if (!done)
        archive_old_rollback(map->old);
    return done;
}

static int run_old(Site *site, int argc, char **argv, GError **error)
{
    (void)argc;
    g_auto(ArchiveSite) place = {0};
    g_autoptr(InputFile) file = input_open(argv[1], error);
    if (!file || !archive_site_find(&place, site, archive_option, argv[0], error))
        return TOOL_LATER;
    g_autoptr(ArchiveOld) old = archive_old_open(place.directory, true, error);
    g_autoptr(ArchiveIndex) index = old ? archive_index_open(place.directory, true, error) : NULL;
    if (!index)
        return TOOL_LATER;
    g_autoptr(GError) absent = NULL;
    g_autoptr(ArchiveList) list = archive_index_list(index, place.list, &absent);
    if (!list && !fail_unless(error, FAIL_MISSING, &absent))
        return TOOL_LATER;
    OldMap map = {.place = &place, .old = old, .index = index, .list = list ? list->number : 0};
    bool done = take_all(&map, file, error);
    if (map.left_out > TOLD)
        printf("and so %" PRIu64 " others\n", map.left_out - TOLD);
    printf("%" PRIu64 " old addresses noted, %" PRIu64 " of them of messages that are not in the archive; %" PRIu64
           " lines left out\n",
           map.noted, map.missing, map.left_out);
    return !done ? TOOL_LATER : map.left_out + map.missing > 0 ? TOOL_NOT_SO : TOOL_OK;
}

static const GOptionEntry options[] = {
    ARCHIVER_OPTION,
    G_OPTION_ENTRY_NULL,
};

const Command archive_old = {
    .name = "old",
    .arguments = "LIST MAP",
    .summary = "Note which messages the addresses of an old archive led to",
    .least = 2,
    .most = 2,
    .options = options,
    .run = run_old,
    .details =
        "MAP is a file of lines, or - for standard input: the path of an old address, a tab, and the Message-ID of the "
        "mail that it showed, or a month (2019-03), or nothing for the list. The script old-links makes it from the "
        "pages of pipermail, MHonArc and Sympa and the files of ezmlm. Import the mails first. The pages then send who "
        "follows an old address on to its message, where it stands below a path of [web] old_archives. HyperKitty's "
        "addresses need nothing of this. Exit code 1: lines were left out, or messages are not here.",
};
