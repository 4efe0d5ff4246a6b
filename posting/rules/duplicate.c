/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/rule.h"

/* Was another mail with this Message-ID posted here before? Asked last of
 * all, because asking also records it: only what is accepted or held counts as posted, so
 * that a rejected mail can be sent again. Mail without a Message-ID of its
 * own is never a duplicate. */
static bool check(Post *post, bool *hit, GError **error)
{
    *hit = false;
    g_autofree char *id = message_id(post->message);
    if (!id)
        return true;
    if (!list_record_message_id(post->store, post->list->list_id, id, post->trace, post->now, hit, error))
        return false;
    if (*hit)
        post_add_reason(post, "A message with the same Message-ID was posted before.");
    return true;
}

const Rule rule_duplicate = {.name = "duplicate", .check = check};
