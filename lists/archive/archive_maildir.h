/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read and write the maildirs of an archive: LIST/new and LIST/cur below its directory. The maildir archiver names its
 * files SECONDS.KEY.listrunner; other programs may move them to cur and set flags. The argument directory is the
 * archive's, list is the list's directory in it (archive_file_name()), and file a name without folder and flags.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Return the lists that have a maildir in directory, in order, of char *; the array frees them. */
GPtrArray *archive_maildir_lists(const char *directory, GError **error);

/* Count the files of a list; none where it has no maildir. */
bool archive_maildir_count(const char *directory, const char *list, uint64_t *count, GError **error);

/* Read the names of a list's files, in the order of their arrival; 80 bytes of memory each. */
typedef struct ArchiveFiles ArchiveFiles;
ArchiveFiles *archive_files_read(const char *directory, const char *list, GError **error);
/* The same of a maildir that somebody else owns. Its folders stay open, so nothing that its owner puts in their places
 * later is read. FAIL_NEVER: one of them is a symbolic link. */
ArchiveFiles *archive_files_read_foreign(const char *path, GError **error);
void archive_files_free(ArchiveFiles *files);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ArchiveFiles, archive_files_free)
size_t archive_files_count(const ArchiveFiles *files);
/* Return the name of the file at this index; g_free(). *arrival is its time of arrival, 0 when the name does not say
 * it. */
char *archive_files_name(const ArchiveFiles *files, size_t at, int64_t *arrival);
/* Return the bytes of the file at this index. FAIL_MISSING: it was removed meanwhile. */
GBytes *archive_files_load(const ArchiveFiles *files, size_t at, GError **error);

/* Return the bytes of one file. FAIL_MISSING: there is none. */
GBytes *archive_maildir_load(const char *directory, const char *list, const char *file, GError **error);

/* Replace the bytes of one file, and return true when they are synced. Readers see the old bytes or the new ones. */
bool archive_maildir_replace(const char *directory, const char *list, const char *file, GBytes *octets, GError **error);

/* Write imported mails as the archiver does. archive_writer_add() writes each into tmp; archive_writer_flush() syncs
 * all of them and renames them to new. */
typedef struct ArchiveWriter ArchiveWriter;
ArchiveWriter *archive_writer_open(const char *directory, const char *list, GError **error);
void archive_writer_free(ArchiveWriter *writer); /* mails that were not flushed are lost */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ArchiveWriter, archive_writer_free)
/* Write one mail, and return its file's name; g_free(). A mail of the same bytes and arrival (in seconds) that is in
 * new already is not written again. */
char *archive_writer_add(ArchiveWriter *writer, int64_t arrival, const char *octets, size_t length, GError **error);
bool archive_writer_flush(ArchiveWriter *writer, GError **error);
