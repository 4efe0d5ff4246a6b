/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/loop.h"
#include "posting/rule.h"
#include "store/lists/list_post.h"

static void note(Post *post)
{
    post_add_reason(post, "A message with the same Message-ID was posted before.");
}

/* Was another mail with this Message-ID posted here before, or one that was made of the same first mail? Asked last
 * of all: only what is accepted or held counts as posted, so that a rejected mail can be sent again. Mail without a
 * Message-ID of its own is never a duplicate. */
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
        note(post);
    return true;
}

/* Record the Message-ID of a post that stays. Of two that are the same, here or in another process, the second is
 * discarded. */
static bool settle(Post *post, Verdict *verdict, GError **error)
{
    bool known;
    if (!post->message_key || (*verdict != VERDICT_ACCEPT && *verdict != VERDICT_HOLD))
        return true;
    const SeenMail seen = {post->message_key, post->trace, post->spool ? post->spool : "", post->now, &post->next_id};
    if (!list_record_message_id(post->store, post->list->list_id, &seen, &known, error))
        return false;
    if (known) {
        *verdict = VERDICT_DISCARD;
        note(post);
    }
    return true;
}

const Rule rule_duplicate = {.name = "duplicate", .check = check, .settle = settle};
