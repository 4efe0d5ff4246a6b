/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Rules about whoever has sent a post. */
#include "base/fail.h"
#include "base/pattern.h"
#include "posting/authenticity.h"
#include "posting/chain.h"
#include "store/lists/list_setting.h"
#include "store/people/ban.h"
#include "store/people/password.h"

/* --- no-senders ------------------------------------------------------------ */

static bool check_no_senders(Post *post, bool *hit, GError **error)
{
    *hit = post_senders(post)->len == 0;
    if (*hit)
        post_add_reason(post, "The message has no sender.");
    return true;
}

const Rule rule_no_senders = {.name = "no-senders", .check = check_no_senders};

/* --- approved -------------------------------------------------------------- */

/* A person let it pass: the mark is in the entry's metadata, never in the message, so nobody can put it there by mail.
 * Or whoever wrote it knows the list's moderator password. */
static bool check_approved(Post *post, bool *hit, GError **error)
{
    *hit = post->moderated || (post->password && *post->password &&
                               password_matches(post->list->settings->moderator_password, post->password));
    return true;
}

const Rule rule_approved = {.name = "approved", .check = check_approved};

/* --- banned-address -------------------------------------------------------- */

/* Is anybody who may have sent it banned, on this list or everywhere? */
static bool check_banned_address(Post *post, bool *hit, GError **error)
{
    const GPtrArray *senders = post_senders(post);
    *hit = false;
    for (unsigned at = 0; at < senders->len && !*hit; at++) {
        g_autofree char *by = NULL;
        if (!ban_check(post->store, post->list->list_id, senders->pdata[at], post->patterns, &by, error))
            return false;
        *hit = by != NULL;
        if (by)
            post_add_reason(post, "The sender %s is banned.", ((const Mailbox *)senders->pdata[at])->text);
    }
    return true;
}

const Rule rule_banned_address = {.name = "banned-address", .check = check_banned_address};

/* --- dmarc-mitigation ------------------------------------------------------ */

static const char dmarc_notice[] =
    "The domain of the address in From publishes a DMARC policy that forbids a mailing list to send mail in its name. "
    "Post from an address of another domain.";

static const char dmarc_unreadable[] =
    "The address in From cannot be read with certainty, so the list cannot know whether its domain allows a mailing "
    "list to send mail in its name. Post again with one plain address in From.";

/* Hits only where the list refuses such posts; a changed From is the work of handler dmarc. */
static bool check_dmarc_mitigation(Post *post, bool *hit, GError **error)
{
    Mitigation mitigation;
    mitigation_find(post, &mitigation);
    *hit = mitigation == MITIGATION_REJECT || mitigation == MITIGATION_DISCARD;
    if (!*hit)
        return true;
    post->action = mitigation == MITIGATION_REJECT ? ACTION_REJECT : ACTION_DISCARD;
    const char *own = post->list->settings->dmarc_moderation_notice;
    bool readable;
    g_autoptr(GPtrArray) authors = authors_read(post, &readable);
    post_add_reason(post, "%s", own && *own ? own : readable ? dmarc_notice : dmarc_unreadable);
    return true;
}

const Rule rule_dmarc_mitigation = {.name = "dmarc-mitigation", .decides = true, .check = check_dmarc_mitigation};

/* --- member-moderation ----------------------------------------------------- */

/* The first sender that is a member decides; "defer" (go on with the other
 * rules) is a miss. */
static bool check_member_moderation(Post *post, bool *hit, GError **error)
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

const Rule rule_member_moderation = {.name = "member-moderation", .decides = true, .check = check_member_moderation};

/* --- nonmember-moderation -------------------------------------------------- */

static const struct {
    Action action;
    size_t patterns; /* in List */
} nonmember_tables[] = {
    {ACTION_DEFER, offsetof(ListSettings, accept_these_nonmembers)}, /* as members: the other rules still count */
    {ACTION_HOLD, offsetof(ListSettings, hold_these_nonmembers)},
    {ACTION_REJECT, offsetof(ListSettings, reject_these_nonmembers)},
    {ACTION_DISCARD, offsetof(ListSettings, discard_these_nonmembers)},
};

/* Set *is: is the sender a member of a list that a word "@LIST" names? A list that is not there has no members. */
static bool is_member_of_any(const Post *post, char *const *words, const Mailbox *sender, bool *is, GError **error)
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

/* Set the action that the list's nonmember_tables of addresses, patterns and lists have for the sender; ACTION_UNSET:
 * none. */
static bool by_patterns(const Post *post, const Mailbox *sender, Action *action, GError **error)
{
    const List *list = post->list;
    for (size_t at = 0; at < G_N_ELEMENTS(nonmember_tables) && *action == ACTION_UNSET; at++) {
        char **patterns = *(char ***)((const char *)list->settings + nonmember_tables[at].patterns);
        bool is = pattern_match_any(patterns, sender->text, post->patterns);
        if (!is && pattern_gave_up_any(patterns, post->patterns)) /* it may be one of these */
            *action = ACTION_HOLD;
        else if (!is && !is_member_of_any(post, patterns, sender, &is, error))
            return false;
        if (is)
            *action = nonmember_tables[at].action;
    }
    return true;
}

/* Runs after member-moderation, which has found out whether a sender is a member. The first sender of whom the list
 * says something decides, be it the one of the envelope or in Reply-To; only where there is none all are strangers. Who
 * is named besides From is not asked to confirm anything. */
static bool check_nonmember_moderation(Post *post, bool *hit, GError **error)
{
    const GPtrArray *senders = post_senders(post);
    Action action = ACTION_UNSET, strangers = (Action)post->list->settings->default_nonmember_action;
    const Mailbox *who = NULL;
    *hit = false;
    if (post->member || senders->len == 0)
        return true;
    for (unsigned at = 0; at < senders->len && action == ACTION_UNSET; at++) {
        Member *found;
        who = senders->pdata[at];
        /* A nonmember's own action counts, if one was set for that address, else that of the patterns. */
        if (!post_find_member(post, ROLE_NONMEMBER, who, &found, error))
            return false;
        g_autoptr(Member) known = found;
        action = known ? known->moderation_action : ACTION_UNSET;
        if (action == ACTION_UNSET && !by_patterns(post, who, &action, error))
            return false;
        /* A stranger may be to confirm the address in From, instead of what the list does with posts of strangers. */
        if (at == 0 && action == ACTION_UNSET && post->list->settings->sender_confirmation &&
            strangers != ACTION_REJECT && strangers != ACTION_DISCARD)
            post->unproved = true;
    }
    if (action == ACTION_UNSET) {
        who = senders->pdata[0];
        action = post->unproved ? ACTION_DEFER : strangers;
    }
    if (action == ACTION_DEFER || action == ACTION_UNSET)
        return true;
    *hit = true;
    post->action = action;
    post_add_reason(post, "The sender %s is not a member of the list.", who->text);
    return true;
}

const Rule rule_nonmember_moderation = {
    .name = "nonmember-moderation", .decides = true, .check = check_nonmember_moderation};

/* --- sender-confirmation --------------------------------------------------- */

/* Has a stranger posted, who is to confirm the address in From first? Runs after nonmember-moderation, which has found
 * that out. */
static bool check_sender_confirmation(Post *post, bool *hit, GError **error)
{
    const char *sender = post_first_sender(post);
    *hit = post->unproved && !post->moderated && sender;
    if (*hit)
        post_add_reason(post, "The sender %s has not confirmed the address yet.", sender);
    return true;
}

const Rule rule_sender_confirmation = {.name = "sender-confirmation", .check = check_sender_confirmation};
