/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/pattern.h"
#include "posting/rule.h"

static const struct {
    Action action;
    size_t patterns; /* in List */
} tables[] = {
    {ACTION_DEFER, offsetof(List, accept_these_nonmembers)}, /* as members: the other rules still count */
    {ACTION_HOLD, offsetof(List, hold_these_nonmembers)},
    {ACTION_REJECT, offsetof(List, reject_these_nonmembers)},
    {ACTION_DISCARD, offsetof(List, discard_these_nonmembers)},
};

/* Return the action that the list's tables of patterns have for the sender; ACTION_UNSET: none. */
static Action by_patterns(const Post *post, const char *sender)
{
    const List *list = post->list;
    for (size_t at = 0; at < G_N_ELEMENTS(tables); at++) {
        char **patterns = *(char ***)((const char *)list + tables[at].patterns);
        if (pattern_match_any(patterns, sender, post->patterns))
            return tables[at].action;
        if (pattern_gave_up_any(patterns, post->patterns)) /* it may be one of these */
            return ACTION_HOLD;
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

/* Is a stranger to confirm the address in From, instead of what the list does with posts of strangers? */
static bool is_to_confirm(const List *list)
{
    Action action = (Action)list->default_nonmember_action;
    return list->sender_confirmation && action != ACTION_REJECT && action != ACTION_DISCARD;
}

/* Runs after member-moderation, which has found out whether a sender is a member. The first sender of whom the list
 * says something decides, be it the one of the envelope or in Reply-To; only where there is none all are strangers. Who
 * is named besides From is not asked to confirm anything. */
static bool check(Post *post, bool *hit, GError **error)
{
    const GPtrArray *senders = post_senders(post);
    Action action = ACTION_UNSET;
    const char *who = NULL;
    *hit = false;
    if (post->member || senders->len == 0)
        return true;
    for (unsigned at = 0; at < senders->len && action == ACTION_UNSET; at++) {
        who = senders->pdata[at];
        if (!find_action(post, who, &action, error))
            return false;
        if (at == 0 && action == ACTION_UNSET && is_to_confirm(post->list))
            post->unproved = true;
    }
    if (action == ACTION_UNSET) {
        who = senders->pdata[0];
        action = post->unproved ? ACTION_DEFER : (Action)post->list->default_nonmember_action;
    }
    if (action == ACTION_DEFER || action == ACTION_UNSET)
        return true;
    *hit = true;
    post->action = action;
    post_add_reason(post, "The sender %s is not a member of the list.", who);
    return true;
}

const Rule rule_nonmember_moderation = {.name = "nonmember-moderation", .decides = true, .check = check};
