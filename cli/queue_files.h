/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * List the files of a queue, each with the state of its entry, for the verbs that look at queues. The state is in the
 * file's name (switchboard/INTERNALS.md). To list files opens, locks and changes none of them, so it is safe beside
 * running runners; a file that was seen may be gone a moment later.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "switchboard/entry.h"
#include "switchboard/name.h"
#include "switchboard/spool.h"

typedef enum QueueState {
    QUEUE_READY,     /* .msg, due */
    QUEUE_WAITING,   /* .msg, due later */
    QUEUE_CLAIMED,   /* .bak */
    QUEUE_DECIDED,   /* .done */
    QUEUE_PRESERVED, /* .psv */
    QUEUE_WRITING,   /* .tmp */
    QUEUE_TAKEN,     /* .opc, .opd: a command moves it, or was killed while it did */
    QUEUE_FOREIGN,   /* no file of ours */
    QUEUE_STATES,
} QueueState;

#define QUEUE_STATE_CHOICES "ready|waiting|claimed|decided|preserved|writing|taken"

const char *queue_state_text(QueueState state);
bool queue_state_parse(const char *text, QueueState *state); /* all but foreign */

typedef struct QueueFile {
    EntryName name; /* zero for foreign files */
    QueueState state;
} QueueFile;

/* Called with a file and its name on disk. Returns false to stop, which is no failure. */
typedef bool QueueFileEach(const QueueFile *found, const char *file, void *data);
/* Call each() for every file of the queue, in the directory's order. FAIL_LATER: the directory cannot be read. */
bool queue_files_each(Queue *queue, QueueFileEach *each, void *data, GError **error);

/* Return the names of the queues that were asked for, or of all queues when count is 0; g_strfreev(). FAIL_MISSING:
 * there is no queue of such a name. */
char **queue_files_choose(Spool *spool, int count, char **names, GError **error);

/* Open an entry for reading only. Its state may have changed since it was `found`: each state is tried, and *state is
 * the one in which it was met, also when it could not be read. FAIL_MISSING: it has left the queue. */
Entry *queue_files_open(Queue *queue, const QueueFile *found, QueueState *state, GError **error);
