/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/queues/queue_part.h"

#include <string.h>

#include "base/fail.h"
#include "store/posts/fragment.h"
#include "switchboard/operate.h"

#define DEFRAGMENT_QUEUE "defragment"

static bool says_defragment(Entry *entry, const char *key)
{
    const json_t *object = json_object_get(entry_meta(entry), key);
    return g_strcmp0(meta_string(object, "queue", NULL), DEFRAGMENT_QUEUE) == 0;
}

void queue_part_set(QueuePart *part, const QueueTarget *target, Entry *entry)
{
    const char *queue = queue_name(target->queue);
    EntryName name = target->file.name;
    bool is_part = strcmp(queue, DEFRAGMENT_QUEUE) == 0;
    if (strcmp(queue, HOLD_QUEUE) == 0) /* under its own hash */
        is_part = !entry || says_defragment(entry, META_ORIGIN);
    else if (strcmp(queue, SHUNT_QUEUE) == 0 && entry && says_defragment(entry, META_FAULT))
        is_part = name_parse(meta_string(json_object_get(entry_meta(entry), META_FAULT), "name", ""), &name, NULL);
    part->digits[0] = '\0';
    if (is_part)
        name_hash_format(name.hash, part->digits);
}

bool queue_part_leaves(QueuePart *part, const char *to, GError **error)
{
    if (!part->digits[0] || g_strcmp0(to, DEFRAGMENT_QUEUE) == 0)
        return true;
    g_autoptr(GError) fault = NULL;
    Store *store = site_store(part->site, false, &fault);
    bool reopened;
    if (store && fragment_withdraw(store, part->digits, g_strcmp0(to, HOLD_QUEUE) != 0, &reopened, &fault))
        return true;
    if (!store && g_error_matches(fault, FAIL, FAIL_MISSING)) /* no index either */
        return true;
    g_propagate_prefixed_error(error, g_steal_pointer(&fault), "the index of parts: ");
    return false;
}
