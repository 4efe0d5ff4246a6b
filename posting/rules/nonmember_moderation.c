/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/pattern.h"
#include "posting/rule.h"

static const struct {
    Action action;
    size_t patterns; /* in List */
} tables[] = {
    {ACTION_ACCEPT, offsetof(List, accept_these_nonmembers)},
    {ACTION_HOLD, offsetof(List, hold_these_nonmembers)},
    {ACTION_REJECT, offsetof(List, reject_these_nonmembers)},
    {ACTION_DISCARD, offsetof(List, discard_these_nonmembers)},
};

/* What the list's tables of patterns say about sender; ACTION_UNSET: nothing. */
static Action by_patterns(const Post *post, const char *sender)
{
    const List *list = post->list;
    for (size_t at = 0; at < G_N_ELEMENTS(tables); at++) {
        char **patterns = *(char ***)((const char *)list + tables[at].patterns);
        if (pattern_match_any(patterns, sender, post->patterns))
            return tables[at].action;
    }
    return ACTION_UNSET;
}

/* A nonmember's own action if one was set for that address, else that of the patterns; ACTION_UNSET: neither. */
static bool find_action(Post *post, const char *sender, Action *action, GError **error)
{
    Member *found;
    if (!post_find_member(post, ROLE_NONMEMBER, sender, &found, error))
        return false;
    g_autoptr(Member) known = found;
    *action = known ? known->moderation_action : ACTION_UNSET;
    if (*action == ACTION_UNSET)
        *action = by_patterns(post, sender);
    return true;
}

/* Is the stranger in From to confirm the address, instead of what the list does with posts of strangers? Who else is
 * named as a sender is not asked. */
static bool is_to_confirm(Post *post, unsigned at)
{
    Action action = (Action)post->list->default_nonmember_action;
    if (!post->list->sender_confirmation || action == ACTION_REJECT || action == ACTION_DISCARD)
        return false;
    post->unproved = post->unproved || at == 0;
    return true;
}

/* Runs after member-moderation, which has found out whether a sender is a
 * member. */
static bool check(Post *post, bool *hit, GError **error)
{
    *hit = false;
    if (post->member)
        return true;
    const GPtrArray *senders = post_senders(post);
    for (unsigned at = 0; at < senders->len && !*hit; at++) {
        Action action;
        if (!find_action(post, senders->pdata[at], &action, error))
            return false;
        if (action == ACTION_UNSET && is_to_confirm(post, at))
            continue;
        if (action == ACTION_UNSET)
            action = (Action)post->list->default_nonmember_action;
        if (action == ACTION_DEFER || action == ACTION_UNSET)
            continue;
        *hit = true;
        post->action = action;
        post_add_reason(post, "The sender %s is not a member of the list.", (const char *)senders->pdata[at]);
    }
    return true;
}

const Rule rule_nonmember_moderation = {.name = "nonmember-moderation", .decides = true, .check = check};
