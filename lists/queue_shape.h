/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * How old what waits in queues is, as a table of destinations, senders or lists by age, as qshape(1) of Postfix shows
 * it. The shell, the pages and REST show what is made here.
 *
 * The names of the files say how many there are; domains, lists and times are in the files. With a bound only that many
 * are read, chosen by their hashes, and what they have is multiplied: a sample by chance, the same as long as the queue
 * is the same.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "switchboard/spool.h"

#define QUEUE_SHAPE_BUCKETS_MAX 30

typedef enum QueueShapeBy {
    QUEUE_SHAPE_BY_DOMAIN, /* recipients that are still to do, by their domains */
    QUEUE_SHAPE_BY_SENDER, /* entries, by the domain of the envelope sender */
    QUEUE_SHAPE_BY_LIST,   /* entries, by queue and list */
} QueueShapeBy;

typedef struct QueueShapeSpec {
    QueueShapeBy by;
    unsigned buckets; /* columns, from 2 on; the last one has no upper bound */
    int tick;         /* minutes: the upper bound of the first column; each further one is twice that before */
    bool linear;      /* columns are of equal width instead */
    size_t most;      /* entries that are read; 0: all. After QUEUE_SHAPE_RECIPIENTS of them no further one is */
    int top;          /* rows; what has fewer is "others"; < 0: all */
} QueueShapeSpec;

#define QUEUE_SHAPE_RECIPIENTS 200000

/* Return the picture of these queues, a new reference:
 *
 *   {minutes: [5, 10, ...], entries: 1210, read: 1210, total: {total, counts},
 *    rows: [{name, queue, total, counts: [...]}], others: {names, total, counts} or null, faults: [...]}
 *
 * minutes are the upper bounds, one fewer than there are counts. entries is how many there are; where read is less, all
 * counts are estimates. queue is in rows by list. Rows have the largest first; names are UTF-8. faults says which
 * entries are damaged, at most QUEUE_SHAPE_FAULTS of them. What is being written, or is finished, is not counted; what
 * was set aside is counted by list alone. FAIL_LATER: a queue cannot be read. */
#define QUEUE_SHAPE_FAULTS 100
json_t *queue_shape_of(Spool *spool, char **queues, const QueueShapeSpec *spec, GError **error);

/* The queues from which mail goes out: those of their names that the spool has, or all others; g_strfreev(). */
char **queue_shape_queues(Spool *spool, bool out, GError **error);
