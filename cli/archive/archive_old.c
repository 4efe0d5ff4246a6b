/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner archive old: which message each address of a list's old archive led to is noted, for the pages that the
 * runner web answers with a redirection. */
#include "cli/archive/archive_old.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "cli/archive/archive_site.h"
#include "cli/command.h"
#include "cli/moving/keep_read.h"
#include "cli/plain.h"
#include "cli/progress.h"
#include "lists/moving/old_archive.h"

#define TOLD 20 /* pages of which nothing is known that are named */

static char *name_option;

typedef struct Telling {
    Progress progress;
    unsigned told;
} Telling;

static void tell(const char *file, const char *why, void *data)
{
    Telling *telling = data;
    if (telling->told++ >= TOLD)
        return;
    progress_end(&telling->progress);
    g_autofree char *plain = plain_text(file);
    printf("left out: %s: %s\n", plain, why);
}

static void show(uint64_t pages, void *data)
{
    progress_show(&((Telling *)data)->progress, pages, pages);
}

bool archive_old_give_name(ArchiveOld *old, OldKind kind, const char *name, const char *archive, GError **error)
{
    g_autofree char *before = NULL;
    if (!*name || strchr(name, '/') || !g_utf8_validate(name, -1, NULL))
        return fail(error, FAIL_NEVER, "\"%s\" is no name of a list in an address", name);
    if (!archive_old_name(old, old_kind_text(kind), name, archive, &before, error))
        return false;
    if (before)
        printf("changed: %s addresses of \"%s\" led to %s until now\n", old_kind_text(kind), name, before);
    return true;
}

static int run_old(Site *site, int argc, char **argv, GError **error)
{
    OldKind kind;
    const char *path = argc > 2 ? argv[2] : NULL;
    g_auto(ArchiveSite) place = {0};
    if (!old_kind_read(argv[1], &kind) || kind == OLD_HYPERKITTY)
        return command_usage(error, "found \"%s\"; allowed is pipermail, mhonarc, sympa or ezmlm", argv[1]);
    if (!path && !name_option)
        return command_usage(error, "without DIR, say --name");
    if (path && access(path, R_OK | X_OK) != 0) {
        fail_errno(error, errno == ENOENT || errno == ENOTDIR ? FAIL_MISSING : FAIL_LATER, "%s", path);
        return TOOL_LATER;
    }
    keep_read_begin(); /* the pages may be another user's */
    bool found = archive_site_find(&place, site, archive_option, argv[0], error);
    keep_read_end();
    g_autoptr(ArchiveOld) old = found ? archive_old_open(place.directory, true, error) : NULL;
    /* The last part of the directory, as the programs name it; Sympa adds the domain. */
    g_autofree char *whole = name_option ? NULL : g_canonicalize_filename(path, NULL);
    g_autofree char *name = name_option ? g_strdup(name_option) : g_path_get_basename(whole);
    if (kind == OLD_SYMPA && !name_option)
        name[strcspn(name, "@")] = '\0';
    if (!old || !archive_old_give_name(old, kind, name, place.archive, error))
        return TOOL_LATER;
    if (!path)
        return TOOL_OK;
    OldCounts counts = {0};
    Telling telling = {.progress = {.what = "pages"}};
    g_autoptr(ArchiveIndex) index = archive_index_open(place.directory, true, error);
    const OldArchive from = {.kind = kind,
                             .path = path,
                             .index = index,
                             .list = place.list,
                             .old = old,
                             .archive = place.archive,
                             .tell = tell,
                             .progress = show,
                             .data = &telling};
    bool done = index && old_archive_read(&from, &counts, error);
    progress_end(&telling.progress);
    if (telling.told > TOLD)
        printf("and so %u others\n", telling.told - TOLD);
    printf("%" PRIu64 " old addresses noted, %" PRIu64 " of them of messages that are not in the archive; %" PRIu64
           " pages left out\n",
           counts.pages, counts.missing, counts.unknown);
    return !done ? TOOL_LATER : counts.unknown + counts.missing > 0 ? TOOL_NOT_SO : TOOL_OK;
}

static const GOptionEntry options[] = {
    ARCHIVER_OPTION,
    {"name", 0, 0, G_OPTION_ARG_STRING, &name_option,
     "the list's name in the old addresses (the last part of DIR; for ezmlm-cgi often a number)", "NAME"},
    G_OPTION_ENTRY_NULL,
};

const Command archive_old = {
    .name = "old",
    .arguments = "LIST KIND [DIR]",
    .summary = "Note which messages the addresses of an old archive led to",
    .least = 2,
    .most = 3,
    .options = options,
    .run = run_old,
    .details =
        "KIND is pipermail, mhonarc, sympa or ezmlm. DIR has the pages of the list, or with ezmlm its mails; each page "
        "is known by its Message-ID, or else by its subject and time. Import the mails first. Without DIR the list "
        "gets one more old name. The pages then send who follows an old address on to its message, where [web] "
        "old_archives has its path. HyperKitty's addresses need nothing of this. Exit code 1: there are pages whose "
        "message is not here.",
};
