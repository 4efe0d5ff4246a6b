/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Open the spool, a directory that holds the queue directories on one file system. A process opens it once. Its queues
 * are opened at their first use and live as long as the Spool. It is not thread-safe.
 *
 * The directory of a queue is made when the queue is first used, and recorded in SPOOL/.queues. When a recorded
 * directory is missing, spool_queue() fails and does not make it again. Its mail may still be somewhere, as on a file
 * system that is not mounted. Only spool_queue_again() makes it.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "switchboard/name.h"

typedef struct Spool Spool;
typedef struct Queue Queue; /* one queue directory */

#define QUEUE_NAME_MAX 32
/* Is this a name for a queue? It has 1 to QUEUE_NAME_MAX of a-z 0-9 and '-', begins with a letter, and does not end in
 * '-'. */
bool queue_name_valid(const char *name);

/* The queues whose entries wait for a person: set aside by a runner, damaged, held back by the operator. */
#define SHUNT_QUEUE "shunt"
#define CORRUPT_QUEUE "corrupt"
#define HOLD_QUEUE "hold"

/* A directory with a file for each queue whose directory was made or seen in the spool. */
#define SPOOL_RECORDS ".queues"

/* A directory with second names of the spool's files, while a backup copies them; no queue. */
#define SPOOL_BACKUP ".backup"
/* A file: the spool or its database is being restored, or that was interrupted. No master starts (master/slices.c). */
#define SPOOL_RESTORING ".restoring"

/* Open the spool at an absolute path. FAIL_CONFIG: there is no such directory, or we may not enter it. */
Spool *spool_open(const char *path, GError **error);
void spool_free(Spool *spool);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Spool, spool_free)

const char *spool_path(const Spool *spool);
int spool_fd(const Spool *spool);
/* Return the name of the spool itself, 32 hex digits that no other spool has; borrowed. By it rows of a database that
 * several hosts share say to which spool they belong. It is made when it is first asked for, and stays with the spool
 * wherever that is mounted. NULL with FAIL_CONFIG: the file that holds it, SPOOL_ID_FILE, was damaged. */
#define SPOOL_ID_FILE ".id"
#define SPOOL_ID_SIZE 33
const char *spool_id(Spool *spool, GError **error);
/* Open a file of the spool that serves as a lock, for reading and writing; it is made when it is not there. -1 with the
 * error. */
int spool_open_lock(const Spool *spool, const char *file, GError **error);

/* Return the queue of this name, borrowed from the spool. Its directory is looked for at each call: when another one
 * has taken its place since, another Queue is returned, and the former stays valid. FAIL_LATER: the directory was there
 * and is gone. FAIL_CONFIG: it is on another file system, or is no directory, or name is no queue name. */
Queue *spool_queue(Spool *spool, const char *name, GError **error);
/* Return the queue as spool_queue() does, for a process at work that wants to write into it. Every fault of the
 * directory is FAIL_LATER, so that the work is kept and tried again. */
Queue *spool_target(Spool *spool, const char *name, GError **error);
/* Return the queue as spool_queue() does, and make a directory that was there and is gone. Only for an operator who
 * wants that. */
Queue *spool_queue_again(Spool *spool, const char *name, GError **error);

/* Say whether the directory that this queue has open is the one that now bears its name. QUEUE_GONE: nothing, or no
 * directory, has the name, or it cannot be told; error says which. QUEUE_REPLACED: another directory has it. */
typedef enum QueuePlace { QUEUE_HERE, QUEUE_GONE, QUEUE_REPLACED } QueuePlace;
QueuePlace queue_place(const Queue *queue, GError **error);

/* Return the names of all queue directories that are there, sorted; g_strfreev(). */
char **spool_queue_names(Spool *spool, GError **error);

/* Return the names as spool_queue_names() does, for recovery, which must not take a part of the queues for all of them.
 * FAIL_LATER, with *missing (may be NULL) set: the directory of a recorded queue is gone. */
char **spool_every_queue(Spool *spool, bool *missing, GError **error);
/* Return the names of the queues that were there and have no directory now, sorted; g_strfreev(). */
char **spool_missing_queues(Spool *spool, GError **error);

/* Sync the directories of all queues. */
bool spool_sync_queues(Spool *spool, GError **error);

/* Call visit for every file of the queue with a name that begins like an entry's (name.h), in any order; rest is the
 * suffix with its point. Files that come or go meanwhile may be seen or not. */
typedef void QueueVisit(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest);
bool queue_visit(Queue *queue, QueueVisit *visit, void *data, GError **error);
/* Set *empty to whether the queue has no file whose name begins like an entry's. The listing ends at the first one. */
bool queue_is_empty(Queue *queue, bool *empty, GError **error);

/* Visit the files of each queue with these names (ended by NULL), one queue after the other, as queue_visit() does. */
bool spool_visit(Spool *spool, char **names, QueueVisit *visit, void *data, GError **error);

/* Set *held to whether the queue held an entry with that hash, in any state but being written, when its directory was
 * last listed. It is listed at the first question, which finds what an earlier process stored, and at the first one
 * after each queue_look_again(). A hash that was seen once stays known. */
bool queue_held(Queue *queue, const uint8_t hash[HASH_SIZE], bool *held, GError **error);
void queue_look_again(Queue *queue);

/* Return true when the master starts a runner for this queue: entries in it will be worked on. */
bool queue_is_worked(const Config *config, const char *queue);

const char *queue_name(const Queue *queue);
int queue_fd(const Queue *queue); /* directory descriptor, borrowed */
Spool *queue_spool(const Queue *queue);
