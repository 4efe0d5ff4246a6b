/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Which message an address of an old archive led to: for programs that number their pages, since a number says nothing
 * of the mail behind it. One SQLite file for all lists of an archive, PATH/.index/old.db. It is no part of the index,
 * which can be made again from the maildirs while this can not: it is made from what the old program left.
 *
 * An old archive has a kind ("pipermail"), the list that it belongs to now, and the names by which addresses called it.
 * The list is that of list_archive_name(), so nothing changes here when it is renamed. A key is what an address has in
 * the place of a message ("2019-March/1234"), whose meaning is that of lists/moving/old_address.h. What is put again
 * takes the place of what was there.
 *
 * Fails as archive_index.h does; FAIL_MISSING: there is no such file, name or key.
 */
#include <glib.h>
#include <stdbool.h>

typedef struct ArchiveOld ArchiveOld;

/* For the archive in this directory. With create, make the file where there is none. */
ArchiveOld *archive_old_open(const char *directory, bool create, GError **error);
void archive_old_free(ArchiveOld *old);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ArchiveOld, archive_old_free)

/* Is the open file still the one at its path? */
bool archive_old_present(ArchiveOld *old);

/* Around what is put: it appears at once or not at all. */
bool archive_old_begin(ArchiveOld *old, GError **error);
bool archive_old_commit(ArchiveOld *old, GError **error);
void archive_old_rollback(ArchiveOld *old);

/* Give the list's old archive of that kind a name. *before (g_free(), may be NULL) is the list that had it, where that
 * was another one, or NULL. */
bool archive_old_name(ArchiveOld *old, const char *kind, const char *name, const char *list, char **before,
                      GError **error);
/* Note that the key of the list's old archive means the message with this Message-ID-Hash. */
bool archive_old_put(ArchiveOld *old, const char *kind, const char *list, const char *key, const char *hash,
                     GError **error);

/* The list whose old archive has that name; g_free(). */
char *archive_old_list(ArchiveOld *old, const char *kind, const char *name, GError **error);
/* The hash of the message; g_free(). */
char *archive_old_hash(ArchiveOld *old, const char *kind, const char *list, const char *key, GError **error);
