/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Check the directory of one queue, file by file, for `listrunner spool check`. Nothing is changed. */
#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

#include "cli/backup/spool_findings.h"
#include "switchboard/name.h"
#include "switchboard/spool.h"

typedef struct SpoolCheck {
    Spool *spool;
    Findings findings;
    uid_t owner;         /* of the spool */
    bool master, command; /* a master runs; a command of an operator changes entries */
    int64_t tmp_lifetime; /* us; a file that is being written for longer was abandoned */
    GHashTable *runners; /* queues that have a configured runner */
    GArray *damaged;     /* of Damaged: entries that are ready and damaged, but for those of the queue corrupt */
    char **missing;      /* queues that were there and have no directory */
    uint64_t entries;    /* entries that were read and are sound */
} SpoolCheck;

typedef struct Damaged {
    Queue *queue;
    EntryName name;
} Damaged;

/* Check all files of the queue, and add to check->findings, damaged and entries. False: the queue cannot be read. */
bool spool_queue_check(SpoolCheck *check, Queue *queue, GError **error);
