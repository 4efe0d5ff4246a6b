/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/rule.h"

/* Has a stranger posted, who is to confirm the address in From first? Runs after nonmember-moderation, which has found
 * that out. */
static bool check(Post *post, bool *hit, GError **error)
{
    const GPtrArray *senders = post_senders(post);
    *hit = post->unproved && !post->moderated && senders->len > 0;
    if (*hit)
        post_add_reason(post, "The sender %s has not confirmed the address yet.", (const char *)senders->pdata[0]);
    return true;
}

const Rule rule_sender_confirmation = {.name = "sender-confirmation", .check = check};
