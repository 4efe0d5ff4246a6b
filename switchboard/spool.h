/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The spool: one directory on one file system that holds the queue
 * directories. A Spool is opened once in a process; its queues are opened
 * (and made) on first use and live as long as it does. Not thread-safe.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "switchboard/name.h"

typedef struct Spool Spool;
typedef struct Queue Queue; /* one queue directory */

/* A queue's name: 1 .. QUEUE_NAME_MAX of a-z 0-9 and '-', beginning with a
 * letter, not ending in '-' . */
#define QUEUE_NAME_MAX 32
bool queue_name_valid(const char *name);

/* FAIL_CONFIG when there is no such directory, or none that we may enter. path is absolute. */
Spool *spool_open(const char *path, GError **error);
void spool_free(Spool *spool);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Spool, spool_free)

const char *spool_path(const Spool *spool);
int spool_fd(const Spool *spool);

/* Borrowed from the spool. Refuses (FAIL_CONFIG) a directory that is on
 * another file system than the spool, and what is no directory but a link to one. */
Queue *spool_queue(Spool *spool, const char *name, GError **error);

/* Names of all queue directories present, sorted; g_strfreev(). */
char **spool_queue_names(Spool *spool, GError **error);

/* Syncs the directories of all queues. */
bool spool_sync_queues(Spool *spool, GError **error);

/* Calls visit for every file of the queue whose name begins like an entry's
 * (name.h), in no order; rest is the suffix from the point on. Nothing is kept in
 * memory. Files that come and go meanwhile may be seen or not. */
typedef void QueueVisit(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest);
bool queue_visit(Queue *queue, QueueVisit *visit, void *data, GError **error);

/* Whether the queue held an entry of that hash, in any state but being written, when its directory was listed: for the
 * first question, so that what a process before this one stored is known, and for the next one after each
 * queue_look_again(). What was seen once stays known. */
bool queue_held(Queue *queue, const uint8_t hash[HASH_SIZE], bool *held, GError **error);
void queue_look_again(Queue *queue);

/* Return true when the master starts a runner for this queue: entries in it will be worked on. */
bool queue_is_worked(const Config *config, const char *queue);

const char *queue_name(const Queue *queue);
int queue_fd(const Queue *queue); /* directory descriptor, borrowed */
Spool *queue_spool(const Queue *queue);
