/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Add to the index of an archive the mails that its maildirs have and the index lacks: after a failure, for an archive
 * without an index, and to make the index again. The work is done in portions, so that a runner can do other work
 * between them. It is idempotent: several processes may do it at once, and one that was interrupted begins again.
 *
 *   catch_up = archive_catch_up_new(directory, NULL, &error);
 *   do archive_catch_up_some(catch_up, index, 100000, &more, &error); while (more);
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/archive/archive_index.h"

typedef struct ArchiveCatchUp ArchiveCatchUp;

/* Begin for one list, or for all (list NULL). directory is the archive's. With all, a list is passed over if the index
 * has as many messages of it as there are files. */
ArchiveCatchUp *archive_catch_up_new(const char *directory, const char *list, GError **error);
void archive_catch_up_free(ArchiveCatchUp *catch_up);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ArchiveCatchUp, archive_catch_up_free)

/* Work for about budget microseconds, in one transaction of the index. *more is false when all is done. After false,
 * the transaction is undone, and the next call does that portion again. */
bool archive_catch_up_some(ArchiveCatchUp *catch_up, ArchiveIndex *index, int64_t budget, bool *more, GError **error);

typedef struct ArchiveCaught {
    uint64_t lists, files; /* looked at so far */
    uint64_t added;        /* files that were missing in the index */
    uint64_t list_files;   /* files of the list that is being worked on */
    uint64_t list_done;    /* of these files, how many were looked at */
} ArchiveCaught;
/* Return how far the work is. */
ArchiveCaught archive_catch_up_figures(const ArchiveCatchUp *catch_up);

/* Report progress; false ends the work with FAIL_LATER. */
typedef bool ArchiveTell(const ArchiveCaught *figures, void *data);
/* Make the index of an archive anew in a file of its own, and put it in the place of the old one, which readers use
 * meanwhile. Posts that were hidden or removed stay so. tell (may be NULL) is called now and then. False: the old index
 * stays. */
bool archive_index_make_again(const char *directory, ArchiveTell *tell, void *data, GError **error);
