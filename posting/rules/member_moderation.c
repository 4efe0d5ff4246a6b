/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/rule.h"

#include "store/lists/list_setting.h"

/* The first sender that is a member decides; "defer" (go on with the other
 * rules) is a miss. */
static bool check(Post *post, bool *hit, GError **error)
{
    *hit = false;
    const GPtrArray *senders = post_senders(post);
    for (unsigned at = 0; at < senders->len; at++) {
        Member *found;
        if (!post_find_member(post, ROLE_MEMBER, senders->pdata[at], &found, error))
            return false;
        g_autoptr(Member) member = found;
        if (!member)
            continue;
        g_free(post->member);
        post->member = g_strdup(member->address);
        member_free(post->found);
        post->found = g_steal_pointer(&member);
        Action action = post->found->moderation_action;
        if (action == ACTION_UNSET)
            action = (Action)post->list->settings->default_member_action;
        if (action != ACTION_DEFER && action != ACTION_UNSET) {
            *hit = true;
            post->action = action;
            if (action != ACTION_ACCEPT)
                post_add_reason(post, "The sender is a moderated member of the list.");
        }
        return true;
    }
    return true;
}

const Rule rule_member_moderation = {.name = "member-moderation", .decides = true, .check = check};
