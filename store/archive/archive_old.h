/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Translate old web addresses: keep which message each page of an archive of another program showed, so that old links
 * go on working after a move. It is needed for programs that number their pages, since a number tells nothing of the
 * mail. There is one SQLite file for all lists of an archive, PATH/.index/old.db. It is no part of the index. Unlike
 * the index it cannot be made again from the maildirs, but only from what the old program left.
 *
 * An old archive has a kind ("pipermail"), the list that it belongs to now, and the names by which web addresses called
 * it. The list is named by list_archive_name(), so nothing changes here when it is renamed. A key is the part of a web
 * address that stands for a message ("2019-March/1234"; lists/moving/old_address.h). A name or key that is put again
 * replaces the earlier one.
 *
 * Fails as archive_index.h does; FAIL_MISSING: there is no such file, name or key.
 */
#include <glib.h>
#include <stdbool.h>

typedef struct ArchiveOld ArchiveOld;

/* Open the file of the archive in this directory. With create, make it where there is none; otherwise FAIL_MISSING. */
ArchiveOld *archive_old_open(const char *directory, bool create, GError **error);
void archive_old_free(ArchiveOld *old);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ArchiveOld, archive_old_free)

/* Return whether the open file is still the one at its path. False: free this ArchiveOld, and open the file anew. */
bool archive_old_present(ArchiveOld *old);

/* Put begin and commit around several writes, which then appear together or not at all; rollback undoes them. */
bool archive_old_begin(ArchiveOld *old, GError **error);
bool archive_old_commit(ArchiveOld *old, GError **error);
void archive_old_rollback(ArchiveOld *old);

/* Give the list's old archive of that kind a name (any case of ASCII letters). *before (before may be NULL; g_free())
 * is the list whose archive had that name until now, or NULL where that was no other list. */
bool archive_old_name(ArchiveOld *old, const char *kind, const char *name, const char *list, char **before,
                      GError **error);
/* Note that the key of the list's old archive means the message with this Message-ID-Hash. */
bool archive_old_put(ArchiveOld *old, const char *kind, const char *list, const char *key, const char *hash,
                     GError **error);

/* Return the list whose old archive has that name; g_free(). */
char *archive_old_list(ArchiveOld *old, const char *kind, const char *name, GError **error);
/* Return the Message-ID-Hash of the message that the key means; g_free(). */
char *archive_old_hash(ArchiveOld *old, const char *kind, const char *list, const char *key, GError **error);
