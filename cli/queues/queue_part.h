/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Tell the index of message parts when an operator takes a part out of its queue. Mails of type message/partial wait in
 * the queue defragment, and the index (store/posts/fragment.h) knows them. Without this, the runner would take a part
 * that is gone for one that was joined to its message.
 */
#include "cli/queues/queue_select.h"
#include "cli/site.h"

typedef struct QueuePart {
    Site *site;
    char digits[HASH_DIGITS + 1]; /* hash of the part's entry in the queue defragment; "": the target is no part */
} QueuePart;

/* Fill part->digits if the target is a part: an entry of defragment, or one in hold or shunt that came from there.
 * entry is the opened target; NULL: it cannot be read. */
void queue_part_set(QueuePart *part, const QueueTarget *target, Entry *entry);
/* Tell the index that the entry goes to the queue `to`, or (NULL) is removed. Call it when the entry is claimed, before
 * it goes. Nothing happens if the entry is no part. False: the index cannot be written. */
bool queue_part_leaves(QueuePart *part, const char *to, GError **error);
