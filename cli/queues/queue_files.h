/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * List the files of a queue, each with the state of its entry, for the verbs that look at queues. The state follows
 * from the file's name (switchboard/INTERNALS.md). No file is opened, locked or changed for the list, so it is safe
 * beside running runners. A file that was seen may be gone a moment later.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "switchboard/entry.h"
#include "switchboard/name.h"
#include "switchboard/spool.h"

typedef enum QueueState {
    QUEUE_READY,     /* .msg: a runner may take it now */
    QUEUE_WAITING,   /* .msg: it is due later */
    QUEUE_CLAIMED,   /* .bak: a runner works on it */
    QUEUE_DECIDED,   /* .done: all that follows from it is on the disk; it only has to be removed */
    QUEUE_PRESERVED, /* .psv: it was set aside for people */
    QUEUE_WRITING,   /* .tmp: it is being written */
    QUEUE_TAKEN,     /* .opc, .opd: a command moves it, or was killed while it did */
    QUEUE_FOREIGN,   /* no file of ours */
    QUEUE_STATES,
} QueueState;

#define QUEUE_STATE_CHOICES "ready|waiting|claimed|decided|preserved|writing|taken"

/* Return the word for a state, and read such a word ("foreign" is not read). False: there is no such state. */
const char *queue_state_text(QueueState state);
bool queue_state_parse(const char *text, QueueState *state);

typedef struct QueueFile {
    EntryName name; /* zero for foreign files */
    QueueState state;
} QueueFile;

/* Take a file; `file` is its name on disk. Return false to stop, which is no failure. */
typedef bool QueueFileEach(const QueueFile *found, const char *file, void *data);
/* Call each() for every file of the queue, in the directory's order. FAIL_LATER: the directory cannot be read. */
bool queue_files_each(Queue *queue, QueueFileEach *each, void *data, GError **error);

/* Return the names of the queues that were asked for, or of all queues when count is 0; g_strfreev(). FAIL_MISSING:
 * there is no queue of such a name. */
char **queue_files_choose(Spool *spool, int count, char **names, GError **error);

/* Open an entry for reading only; entry_free(). Its state may have changed since it was `found`, so all states are
 * tried. *state is the one in which it was met, also when it could not be read. FAIL_MISSING: it has left the queue,
 * and *state is as before. */
Entry *queue_files_open(Queue *queue, const QueueFile *found, QueueState *state, GError **error);
