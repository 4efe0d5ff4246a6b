/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Hide or remove posts of a maildir archive. The state is set in the index, and also written as a mark into a file
 * beside it, .index/marks/LIST/FILE. When the index is made again, it takes the state from the mark:
 *
 *   removed\n
 *   at the wish of its author\n
 *
 * The file of a removed post is replaced by a mail with its Message-ID, Date and references, and the note, so that its
 * thread stays what it is. Copies of other archivers (an mbox) are not touched.
 */
#include "store/archive/archive_index.h"

/* Show, hide or remove a post. directory is the archive's; note (may be NULL) is the reason, for readers of the
 * archive. FAIL_NEVER: the post was removed, which cannot be undone. Call it again after it failed or was interrupted.
 */
bool archive_mark_set(ArchiveIndex *index, const char *directory, const ArchiveMessage *message, ArchiveState state,
                      const char *note, GError **error);

/* Set the state in the index of a post that was just added to it, if there is a mark for the post. Call it in the same
 * transaction of the index. True also if there is no mark. */
bool archive_mark_restore(ArchiveIndex *index, const char *directory, const ArchivePost *post, GError **error);

/* Set *removed to whether a file of the maildir, named without flags, is the mail that replaced a removed post. */
bool archive_mark_is_removed(const char *directory, const char *list, const char *file, bool *removed, GError **error);
