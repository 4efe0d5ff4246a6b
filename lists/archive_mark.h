/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Posts of a maildir archive that are hidden or removed. That is told to the index, and written beside it, in
 * .index/marks/LIST/FILE, from where an index that is made again has it:
 *
 *   removed\n
 *   at the wish of its author\n
 *
 * The file of a removed post is replaced by a mail of its Message-ID, Date and references and the note, so that its
 * thread stays what it is. What other archivers keep (an mbox) is not touched.
 */
#include "store/archive_index.h"

/* Show, hide or remove a post of a list. Removing cannot be undone (FAIL_NEVER). It may be called again after it
 * failed or was interrupted. */
bool archive_mark_set(ArchiveIndex *index, const char *directory, const ArchiveMessage *message, ArchiveState state,
                      const char *note, GError **error);

/* Hide or remove a post that was just added, if it is marked so. In the index's transaction. */
bool archive_mark_restore(ArchiveIndex *index, const char *directory, const ArchivePost *post, GError **error);

/* Is a file of the maildir, without flags, what was left of a post that was removed? */
bool archive_mark_is_removed(const char *directory, const char *list, const char *file, bool *removed, GError **error);
