/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* One queue directory, looked at file by file: a part of `listrunner spool check`. Only reads. */
#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

#include "cli/spool_findings.h"
#include "switchboard/name.h"
#include "switchboard/spool.h"

typedef struct SpoolCheck {
    Spool *spool;
    Findings findings;
    uid_t owner;         /* of the spool */
    bool master, command; /* one is at work */
    int64_t tmp_lifetime; /* us */
    GHashTable *runners; /* queues that have a configured runner */
    GArray *damaged;     /* of Damaged: ready, and not in corrupt */
    char **missing;      /* queues that were there and have no directory */
    uint64_t entries;    /* that were verified and sound */
} SpoolCheck;

typedef struct Damaged {
    Queue *queue;
    EntryName name;
} Damaged;

bool spool_queue_check(SpoolCheck *check, Queue *queue, GError **error);
