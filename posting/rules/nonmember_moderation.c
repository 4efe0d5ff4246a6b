/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/fail.h"
#include "base/pattern.h"
#include "posting/rule.h"
#include "store/lists/list_setting.h"

static const struct {
    Action action;
    size_t patterns; /* in List */
} tables[] = {
    {ACTION_DEFER, offsetof(ListSettings, accept_these_nonmembers)}, /* as members: the other rules still count */
    {ACTION_HOLD, offsetof(ListSettings, hold_these_nonmembers)},
    {ACTION_REJECT, offsetof(ListSettings, reject_these_nonmembers)},
    {ACTION_DISCARD, offsetof(ListSettings, discard_these_nonmembers)},
};

/* Set *is: is the sender a member of a list that a word "@LIST" names? A list that is not there has no members. */
static bool is_member_of_any(const Post *post, char *const *words, const char *sender, bool *is, GError **error)
{
    *is = false;
    for (char *const *word = words; *word && !*is; word++) {
        g_autoptr(GError) fault = NULL;
        g_autoptr(List) named = **word == '@' ? list_find(post->store, *word + 1, &fault) : NULL;
        g_autoptr(Member) member = named ? member_find(post->store, named->list_id, ROLE_MEMBER, sender, &fault) : NULL;
        *is = member != NULL;
        if (fault && !g_error_matches(fault, FAIL, FAIL_MISSING) && !g_error_matches(fault, FAIL, FAIL_NEVER))
            return fail_with(error, &fault);
    }
    return true;
}

/* Set the action that the list's tables of addresses, patterns and lists have for the sender; ACTION_UNSET: none. */
static bool by_patterns(const Post *post, const char *sender, Action *action, GError **error)
{
    const List *list = post->list;
    for (size_t at = 0; at < G_N_ELEMENTS(tables) && *action == ACTION_UNSET; at++) {
        char **patterns = *(char ***)((const char *)list->settings + tables[at].patterns);
        bool is = pattern_match_any(patterns, sender, post->patterns);
        if (!is && pattern_gave_up_any(patterns, post->patterns)) /* it may be one of these */
            *action = ACTION_HOLD;
        else if (!is && !is_member_of_any(post, patterns, sender, &is, error))
            return false;
        if (is)
            *action = tables[at].action;
    }
    return true;
}

/* A nonmember's own action if one was set for that address, else that of the patterns; ACTION_UNSET: neither. */
static bool find_action(Post *post, const char *sender, Action *action, GError **error)
{
    Member *found;
    if (!post_find_member(post, ROLE_NONMEMBER, sender, &found, error))
        return false;
    g_autoptr(Member) known = found;
    *action = known ? known->moderation_action : ACTION_UNSET;
    return *action != ACTION_UNSET || by_patterns(post, sender, action, error);
}

/* Is a stranger to confirm the address in From, instead of what the list does with posts of strangers? */
static bool is_to_confirm(const List *list)
{
    Action action = (Action)list->settings->default_nonmember_action;
    return list->settings->sender_confirmation && action != ACTION_REJECT && action != ACTION_DISCARD;
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
        action = post->unproved ? ACTION_DEFER : (Action)post->list->settings->default_nonmember_action;
    }
    if (action == ACTION_DEFER || action == ACTION_UNSET)
        return true;
    *hit = true;
    post->action = action;
    post_add_reason(post, "The sender %s is not a member of the list.", who);
    return true;
}

const Rule rule_nonmember_moderation = {.name = "nonmember-moderation", .decides = true, .check = check};
