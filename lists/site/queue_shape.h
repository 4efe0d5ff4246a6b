/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Count what waits in queues, in a table of destinations, senders or lists by age, as qshape(1) of Postfix does. The
 * shell, the pages and REST show that table.
 *
 * The names of files tell how many entries there are. Domains, lists and times are inside the files. With a bound
 * (QueueShapeSpec.most) only so many files are read, chosen by their hashes, and the counts are scaled up. Such a
 * sample is one by chance, and the same as long as the queue is the same.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "switchboard/spool.h"

#define QUEUE_SHAPE_BUCKETS_MAX 30

typedef enum QueueShapeBy {
    QUEUE_SHAPE_BY_DOMAIN, /* recipients that wait for delivery, by their domains */
    QUEUE_SHAPE_BY_SENDER, /* entries, by the domain of the envelope sender */
    QUEUE_SHAPE_BY_LIST,   /* entries, by queue and list */
} QueueShapeBy;

typedef struct QueueShapeSpec {
    QueueShapeBy by;
    unsigned buckets; /* columns, from 2 on; the last one has no upper bound */
    int tick;         /* minutes: the upper bound of the first column; each further one is twice that before */
    bool linear;      /* columns are of equal width instead */
    size_t most;      /* entries that are read, and fewer where they have QUEUE_SHAPE_RECIPIENTS recipients; 0: all */
    int top;          /* rows; the counts of smaller ones are summed as "others"; < 0: all rows */
} QueueShapeSpec;

#define QUEUE_SHAPE_RECIPIENTS 200000

/* Return the table of these queues as an object, a new reference:
 *
 *   {minutes: [5, 10, ...], entries: 1210, read: 1210, total: {total, counts},
 *    rows: [{name, queue, total, counts: [...]}], others: {names, total, counts} or null, faults: [...]}
 *
 * minutes are the upper bounds, one fewer than there are counts. entries is how many there are; where read is less, all
 * counts are estimates. queue is in rows by list. Rows have the largest first; names are UTF-8. faults says which
 * entries are damaged, at most QUEUE_SHAPE_FAULTS of them. Entries that are being written, or are finished, are not
 * counted; entries that were set aside are counted by list alone. FAIL_LATER: a queue cannot be read. */
#define QUEUE_SHAPE_FAULTS 100
json_t *queue_shape_of(Spool *spool, char **queues, const QueueShapeSpec *spec, GError **error);

/* Return the names of the spool's queues from which mail goes out (out), or of all others (not out); g_strfreev(). */
char **queue_shape_queues(Spool *spool, bool out, GError **error);
