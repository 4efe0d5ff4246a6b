/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The files of a queue as their names tell them (switchboard/INTERNALS.md),
 * for the verbs that look at queues. Nothing is opened, locked or changed, so it
 * is safe beside running runners; what is seen may be gone a moment later.
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

/* Call each for every file, in the directory's order; file is its name on
 * disk; each returns false to stop. */
typedef bool QueueFileEach(const QueueFile *found, const char *file, void *data);
bool queue_files_each(Queue *queue, QueueFileEach *each, void *data, GError **error);

/* The names asked for, or all when count is 0; g_strfreev(). */
char **queue_files_choose(Spool *spool, int count, char **names, GError **error);

/* Open, to read alone, what is or was found as `found`, following it from state to state.
 * FAIL_MISSING when it has left the queue; *state is where it was met. */
Entry *queue_files_open(Queue *queue, const QueueFile *found, QueueState *state, GError **error);
