/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/chain.h"

#include "base/log.h"

/* The same Message-ID twice is no second post, whatever way it took here. */
static const Link links_once[] = {{&rule_duplicate, LINK_JUMP, &chain_discard}, {0}};
static const Link links_none[] = {{0}};

const Chain chain_accept = {.name = "accept", .links = links_once, .verdict = VERDICT_ACCEPT};
const Chain chain_hold = {.name = "hold", .links = links_once, .verdict = VERDICT_HOLD};
const Chain chain_reject = {.name = "reject", .links = links_none, .verdict = VERDICT_REJECT};
const Chain chain_discard = {.name = "discard", .links = links_none, .verdict = VERDICT_DISCARD};

/* Does what a moderation rule left in the post. */
static const Chain *by_action(const Post *post)
{
    static const Chain *const targets[] = {
        [ACTION_HOLD] = &chain_hold,
        [ACTION_REJECT] = &chain_reject,
        [ACTION_DISCARD] = &chain_discard,
        [ACTION_ACCEPT] = &chain_accept,
    };
    return post->action < G_N_ELEMENTS(targets) ? targets[post->action] : &chain_hold;
}

const Chain chain_moderation = {.name = "moderation", .links = links_none, .next = by_action};

/* By the name that a rule left in the post. One that is not known was removed from the configuration, or never was in
 * it: a person decides. */
static const Chain *by_target(const Post *post)
{
    const Chain *chain = chain_find(post->target ? post->target : "hold");
    if (!chain)
        log_warn("there is no chain %s; a post of %s is held", post->target, post->list->list_id);
    return chain ? chain : &chain_hold;
}

static const Chain chain_target = {.name = "target", .links = links_none, .next = by_target};

static const Link links_posting[] = {
    {&rule_no_senders, LINK_JUMP, &chain_discard},
    {&rule_external, LINK_JUMP, &chain_moderation}, /* a scanner sees what a password lets pass, too */
    {&rule_approved, LINK_JUMP, &chain_accept},
    {&rule_dmarc_mitigation, LINK_JUMP, &chain_moderation},
    {&rule_emergency, LINK_JUMP, &chain_hold},
    {&rule_loop, LINK_JUMP, &chain_discard},
    {&rule_banned_address, LINK_JUMP, &chain_discard},
    {&rule_autoreply, LINK_JUMP, &chain_discard},
    {&rule_partial, LINK_JUMP, &chain_hold},
    {&rule_broken_header, LINK_JUMP, &chain_hold},
    {&rule_member_moderation, LINK_JUMP, &chain_moderation},
    {&rule_header_match, LINK_JUMP, &chain_target},
    {&rule_nonmember_moderation, LINK_JUMP, &chain_moderation},
    {&rule_administrivia, LINK_DEFER, NULL},
    {&rule_implicit_dest, LINK_DEFER, NULL},
    {&rule_max_recipients, LINK_DEFER, NULL},
    {&rule_max_size, LINK_DEFER, NULL},
    {&rule_news_moderation, LINK_DEFER, NULL},
    {&rule_no_subject, LINK_DEFER, NULL},
    {&rule_digests, LINK_DEFER, NULL},
    {&rule_suspicious_header, LINK_DEFER, NULL},
    {&rule_any, LINK_JUMP, &chain_hold},
    {&rule_truth, LINK_JUMP, &chain_accept},
    {0},
};
const Chain chain_posting = {.name = "default-posting-chain", .links = links_posting, .verdict = VERDICT_HOLD};

static const Link links_owner[] = {{0}};
const Chain chain_owner = {.name = "default-owner-chain", .links = links_owner, .verdict = VERDICT_ACCEPT};

const Chain *chain_find(const char *name)
{
    static const Chain *const all[] = {&chain_accept, &chain_hold, &chain_reject, &chain_discard, &chain_moderation,
                                       &chain_posting, &chain_owner};
    for (size_t at = 0; at < G_N_ELEMENTS(all); at++)
        if (g_str_equal(all[at]->name, name))
            return all[at];
    return NULL;
}

const char *verdict_text(Verdict verdict)
{
    static const char *const texts[] = {"none", "accept", "hold", "reject", "discard"};
    return texts[verdict];
}

/* Deeper than any table of ours: two chains that jump to each other are a bug. */
#define JUMPS_MAX 100

static bool run(const Chain *chain, Post *post, unsigned *jumps, Verdict *verdict, GError **error);

/* One link; *chain becomes the chain that was jumped to. */
static bool follow(const Link *link, Post *post, const Chain **chain, unsigned *jumps, Verdict *verdict, GError **error)
{
    bool hit = false;
    if (!link->rule->check(post, &hit, error)) {
        g_prefix_error(error, "rule %s: ", link->rule->name);
        return false;
    }
    if (!link->rule->silent)
        g_ptr_array_add(hit ? post->hits : post->misses, (gpointer)link->rule->name);
    if (!hit)
        return true;
    if (link->action == LINK_DETOUR)
        return run(link->target, post, jumps, verdict, error);
    if (link->action == LINK_JUMP)
        *chain = link->target;
    else
        post->deferred++;
    return true;
}

static bool run(const Chain *chain, Post *post, unsigned *jumps, Verdict *verdict, GError **error)
{
    while (chain) {
        if (++*jumps > JUMPS_MAX)
            log_panic("chain %s never ends", chain->name);
        const Chain *now = chain;
        for (const Link *link = now->links; link->rule; link++) {
            if (!follow(link, post, &chain, jumps, verdict, error))
                return false;
            if (*verdict != VERDICT_NONE)
                return true;
            if (chain != now)
                break;
        }
        if (chain != now)
            continue;
        *verdict = now->verdict;
        chain = now->next ? now->next(post) : NULL;
    }
    return true;
}

bool chain_run(const Chain *chain, Post *post, Verdict *verdict, GError **error)
{
    unsigned jumps = 0;
    *verdict = VERDICT_NONE;
    if (!run(chain, post, &jumps, verdict, error))
        return false;
    if (*verdict == VERDICT_NONE)
        log_panic("chain %s gave no verdict", chain->name);
    return true;
}
