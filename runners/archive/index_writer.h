/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Writes the index of a maildir archive (store/archive_index.h) while its archiver stores mails. The archiver comes
 * first in all: nothing here fails. When the index cannot be written, that is logged and told to `listrunner status`,
 * archiving goes on, and what was missed is added once the index can be written again, while the runner has nothing
 * else to do. A damaged index is set aside and made again in the same way. So is what was missed by a process that
 * ended: each begins by looking through the archive.
 *
 *   index_writer_add(writer, ...) for each mail of a batch;
 *   when they are in their maildirs: index_writer_commit(writer), and sync index_writer_log() before the hop
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct IndexWriter IndexWriter;

/* directory is copied. looks: it looks through the archive now (one process is enough). */
IndexWriter *index_writer_new(const char *directory, bool looks);
void index_writer_free(IndexWriter *writer);

/* Take a mail that has been or will be written to the file of the list's maildir. What comes again is added once. */
typedef struct IndexedMail {
    const char *list, *file; /* the list's directory, the name of the file */
    int64_t arrival;
    const char *octets;
    size_t length;
} IndexedMail;
void index_writer_add(IndexWriter *writer, const IndexedMail *mail);

/* Write what was taken, in one transaction. Return the log whose sync makes it durable, borrowed until the next call;
 * -1: nothing was written. */
int index_writer_commit(IndexWriter *writer);
/* Forget what was taken: the batch comes again. */
void index_writer_abandon(IndexWriter *writer);

/* Add some of what was missed. Return the microseconds until it wants to be called again. */
int64_t index_writer_idle(IndexWriter *writer);

/* Return trouble with the index that a person should know of; NULL: none. */
const char *index_writer_trouble(const IndexWriter *writer);
