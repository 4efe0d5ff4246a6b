/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Entries that are parts of a message (message/partial) are in an index (store/fragment.h), which has to know when an
 * operator takes one of them out of its queue: else the runner would think of one that was to join a set, and is not
 * there any more, that it did.
 */
#include "cli/queue_select.h"
#include "cli/site.h"

typedef struct QueuePart {
    Site *site;
    char digits[HASH_DIGITS + 1]; /* of the entry in the queue defragment; "": it is none */
} QueuePart;

/* Whether the target is a part: of defragment, or set aside from there. entry may be NULL: it cannot be read. */
void queue_part_set(QueuePart *part, const QueueTarget *target, Entry *entry);
/* It is claimed, and goes to the queue `to`, or (NULL) will be no more. */
bool queue_part_leaves(QueuePart *part, const char *to, GError **error);
