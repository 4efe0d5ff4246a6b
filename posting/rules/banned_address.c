/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/rule.h"
#include "store/people/ban.h"

/* Is anybody who may have sent it banned, on this list or everywhere? */
static bool check(Post *post, bool *hit, GError **error)
{
    const GPtrArray *senders = post_senders(post);
    *hit = false;
    for (unsigned at = 0; at < senders->len && !*hit; at++) {
        g_autofree char *by = NULL;
        if (!ban_check(post->store, post->list->list_id, senders->pdata[at], post->patterns, &by, error))
            return false;
        *hit = by != NULL;
        if (by)
            post_add_reason(post, "The sender %s is banned.", (const char *)senders->pdata[at]);
    }
    return true;
}

const Rule rule_banned_address = {.name = "banned-address", .check = check};
