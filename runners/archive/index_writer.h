/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Write the index of a maildir archive (store/archive/archive_index.h) while its archiver stores mails. No function
 * here fails, since archiving must go on without the index. When the index cannot be written, that is logged and told
 * to `listrunner status`. The missed mails are added later, while the runner has nothing else to do. A damaged index is
 * set aside and made again in the same way. A process with `looks` begins by looking through the archive for mails that
 * the index lacks.
 *
 *   index_writer_add(writer, ...) for each mail of a batch;
 *   when they are in their maildirs: index_writer_commit(writer), and sync index_writer_log() before the hop
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct IndexWriter IndexWriter;

/* Make the writer; directory is copied. looks: look through the archive for missed mails (one process is enough). */
IndexWriter *index_writer_new(const char *directory, bool looks);
void index_writer_free(IndexWriter *writer);

/* A mail that has been or will be written to a file of the list's maildir. */
typedef struct IndexedMail {
    const char *list, *file; /* the list's directory, the name of the file */
    int64_t arrival;
    const char *octets;
    size_t length;
} IndexedMail;
/* Take a mail for the next commit. A mail that comes again is added once. */
void index_writer_add(IndexWriter *writer, const IndexedMail *mail);

/* Write the taken mails in one transaction. Return the log whose sync makes it durable, borrowed until the next call;
 * -1: nothing was written. */
int index_writer_commit(IndexWriter *writer);
/* Forget the taken mails, because their batch comes again. */
void index_writer_abandon(IndexWriter *writer);

/* Add some of the missed mails. Return the microseconds until it wants to be called again. */
int64_t index_writer_idle(IndexWriter *writer);

/* Return trouble with the index that a person should know of; NULL: none. */
const char *index_writer_trouble(const IndexWriter *writer);
