/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * An index gets what its archive has and it lacks: after a failure, for an archive that had none, and to make it again.
 * The work is done in portions, so that a runner may do it beside its own. It is idempotent: several processes may do
 * it at once, and one that was interrupted begins again.
 *
 *   catch_up = archive_catch_up_new(directory, NULL, &error);
 *   do archive_catch_up_some(catch_up, index, 100000, &more, &error); while (more);
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/archive_index.h"

typedef struct ArchiveCatchUp ArchiveCatchUp;

/* For one list, or for all (NULL). With all, a list is passed over when the index has as many messages as there are
 * files. */
ArchiveCatchUp *archive_catch_up_new(const char *directory, const char *list, GError **error);
void archive_catch_up_free(ArchiveCatchUp *catch_up);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ArchiveCatchUp, archive_catch_up_free)

/* Work for about budget microseconds, in one transaction of the index. *more is false at the end. */
bool archive_catch_up_some(ArchiveCatchUp *catch_up, ArchiveIndex *index, int64_t budget, bool *more, GError **error);

typedef struct ArchiveCaught {
    uint64_t lists, files; /* that were looked at */
    uint64_t added;        /* files that were missing in the index */
    uint64_t list_files;   /* of the list at hand, and how many of them were looked at */
    uint64_t list_done;
} ArchiveCaught;
ArchiveCaught archive_catch_up_figures(const ArchiveCatchUp *catch_up);

/* Make the index of an archive anew in a file of its own, and put it in the place of the old one, which is read
 * meanwhile. What was hidden or removed stays so. tell (may be NULL) is called now and then; false from it ends the
 * work with FAIL_LATER. */
typedef bool ArchiveTell(const ArchiveCaught *figures, void *data);
bool archive_index_make_again(const char *directory, ArchiveTell *tell, void *data, GError **error);
