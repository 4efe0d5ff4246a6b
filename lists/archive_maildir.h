/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The maildirs of an archive: LIST/new and LIST/cur below its directory, as the maildir archiver writes them
 * (SECONDS.KEY.listrunner) and other programs may have changed their flags. A list is named by its directory there
 * (archive_file_name()), a file by its name without folder and flags.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lists that have a maildir there, in order; of char *. */
GPtrArray *archive_maildir_lists(const char *directory, GError **error);

/* Count the files of a list; none where it has no maildir. */
bool archive_maildir_count(const char *directory, const char *list, uint64_t *count, GError **error);

/* The files of a list in the order of their arrival; 80 bytes of memory each. */
typedef struct ArchiveFiles ArchiveFiles;
ArchiveFiles *archive_files_read(const char *directory, const char *list, GError **error);
void archive_files_free(ArchiveFiles *files);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ArchiveFiles, archive_files_free)
size_t archive_files_count(const ArchiveFiles *files);
/* Its name, g_free(); and its arrival, 0 when the name does not say it. */
char *archive_files_name(const ArchiveFiles *files, size_t at, int64_t *arrival);
/* Its bytes; FAIL_MISSING when it is gone meanwhile. */
GBytes *archive_files_load(const ArchiveFiles *files, size_t at, GError **error);

/* Where one file is, by its name, whatever its flags are: "cur/NAME:2,S"; g_free(). FAIL_MISSING. */
char *archive_maildir_find(const char *directory, const char *list, const char *file, GError **error);
/* Its bytes. */
GBytes *archive_maildir_load(const char *directory, const char *list, const char *file, GError **error);

/* Put other bytes in its place, durably. */
bool archive_maildir_replace(const char *directory, const char *list, const char *file, GBytes *octets, GError **error);

/* Writes mails that are imported, as the archiver does: in tmp, synced, and renamed to new by a flush. */
typedef struct ArchiveWriter ArchiveWriter;
ArchiveWriter *archive_writer_open(const char *directory, const char *list, GError **error);
void archive_writer_free(ArchiveWriter *writer); /* what was not flushed is given up */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ArchiveWriter, archive_writer_free)
/* Return its name; g_free(). A mail that is there already, of the same bytes and arrival, is not written again. */
char *archive_writer_add(ArchiveWriter *writer, int64_t arrival, const char *octets, size_t length, GError **error);
bool archive_writer_flush(ArchiveWriter *writer, GError **error);
