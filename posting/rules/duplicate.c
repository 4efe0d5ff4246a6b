/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/loop.h"
#include "posting/rule.h"

/* Was another mail with this Message-ID posted here before, or one that was made of the same first mail? Asked last
 * of all: only what is accepted or held counts as posted, so that a rejected mail can be sent again. Whoever accepts
 * or holds it records message_key, and asks the store once more then, since two that are the same may come at the
 * same time. Mail without a Message-ID of its own is never a duplicate. */
static bool check(Post *post, bool *hit, GError **error)
{
    *hit = false;
    g_free(post->message_key);
    post->message_key = loop_message_key(post);
    if (!post->message_key)
        return true;
    if (!list_knows_message_id(post->store, post->list->list_id, post->message_key, post->trace, hit, error))
        return false;
    if (*hit)
        post_note_duplicate(post);
    return true;
}

const Rule rule_duplicate = {.name = "duplicate", .check = check};
