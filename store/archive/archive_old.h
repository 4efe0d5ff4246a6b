/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Translate old web addresses: keep where each address of an archive of another program leads to here, so that old
 * links go on working after a move. There is one SQLite file for all lists of an archive, PATH/.index/old.db. It is no
 * part of the index: that can be made again from the maildirs, and this only from what the old program left.
 *
 * An address is a path, with its percent signs decoded and without a slash at its end, and its query behind a question
 * mark, if it has one. It leads to a place of the archive of a list (list_archive_name()), so nothing changes here when
 * the list is renamed. A place is a Message-ID-Hash, a month ("2019-03") or its mails ("2019-03.mbox.gz"), or "", the
 * list's archive. An address that is put again replaces the earlier one.
 *
 * Fails as archive_index.h does; FAIL_MISSING: there is no such file or address.
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

/* Note where the address leads to. */
bool archive_old_put(ArchiveOld *old, const char *address, const char *archive, const char *place, GError **error);
/* Set *archive and *place (g_free()) to where the address leads to. */
bool archive_old_find(ArchiveOld *old, const char *address, char **archive, char **place, GError **error);
