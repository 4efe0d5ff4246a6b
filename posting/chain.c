/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/chain.h"

#include "base/log.h"
#include "posting/loop.h"
#include "posting/order.h"

/* The same Message-ID twice is no second post, whatever way it took here. */
static const Link links_once[] = {{&rule_duplicate, NULL, &chain_discard}, {0}};
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

/* By the name that a rule left in the post. One that is not known was removed from the configuration, or never was in
 * it: a person decides. */
static const Chain *by_target(const Post *post)
{
    const Chain *chain = order_chain(post->site ? post->site->orders : NULL, post->target);
    if (!chain)
        log_warn("there is no chain %s; a post of %s is held", post->target, post->list->list_id);
    return chain ? chain : &chain_hold;
}

static const Chain *as_decided(const Post *post)
{
    return post->target ? by_target(post) : by_action(post);
}

const Chain chain_moderation = {.name = "moderation", .links = links_none, .next = as_decided};

static const Link links_posting[] = {
    {&rule_no_senders, NULL, &chain_discard},
    {&rule_external, NULL, &chain_moderation}, /* a scanner sees what a password lets pass, too */
    {&rule_approved, NULL, &chain_accept},
    {&rule_dmarc_mitigation, NULL, &chain_moderation},
    {&rule_loop, NULL, &chain_discard},
    {&rule_banned_address, NULL, &chain_discard},
    {&rule_autoreply, NULL, &chain_discard},
    {&rule_partial, NULL, &chain_hold},
    {&rule_broken_header, NULL, &chain_hold},
    {&rule_header_match, NULL, &chain_moderation},
    {&rule_emergency, NULL, &chain_hold}, /* nobody need look at what is thrown away anyway */
    {&rule_member_moderation, NULL, &chain_moderation},
    {&rule_nonmember_moderation, NULL, &chain_moderation},
    {&rule_automatic, NULL, &chain_hold}, /* unless the list takes all mail of that sender */
    {&rule_administrivia, NULL, NULL},
    {&rule_implicit_dest, NULL, NULL},
    {&rule_max_recipients, NULL, NULL},
    {&rule_max_size, NULL, NULL},
    {&rule_news_moderation, NULL, NULL},
    {&rule_no_subject, NULL, NULL},
    {&rule_digests, NULL, NULL},
    {&rule_suspicious_header, NULL, NULL},
    {&rule_burst, NULL, NULL},
    {&rule_any, NULL, &chain_hold},
    {&rule_sender_confirmation, NULL, &chain_hold}, /* last: an answer lets the post pass without anybody else */
    {&rule_truth, NULL, &chain_accept},
    {0},
};
const Chain chain_posting = {.name = "default-posting-chain", .links = links_posting, .verdict = VERDICT_HOLD};

const Chain chain_owner = {.name = "default-owner-chain", .links = links_once, .verdict = VERDICT_ACCEPT};

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

/* Deeper than any table that a person writes on purpose. */
#define JUMPS_MAX 100

static bool check(const Link *link, Post *post, bool *hit, GError **error)
{
    const char *name = link->program ? link->program->name : link->rule->name;
    *hit = false;
    /* An earlier rule may have sent the post to a chain that led back here: what it decided is done with. */
    g_clear_pointer(&post->target, g_free);
    post->action = ACTION_UNSET;
    bool done = link->program ? external_judge(link->program, post, hit, error) : link->rule->check(post, hit, error);
    if (!done)
        g_prefix_error(error, "rule %s: ", name);
    else if (link->program || !link->rule->silent)
        g_ptr_array_add(*hit ? post->hits : post->misses, (gpointer)name);
    return done;
}

static bool run(const Chain *chain, Post *post, unsigned *jumps, Verdict *verdict, GError **error)
{
    if (++*jumps > JUMPS_MAX) {
        post_add_reason(post, "The chains of the site lead to each other without an end.");
        *verdict = VERDICT_HOLD;
        return true;
    }
    for (const Link *link = chain->links; link->rule || link->program; link++) {
        bool hit;
        if (!check(link, post, &hit, error))
            return false;
        if (hit && !link->target)
            post->deferred++;
        if (hit && link->target && !run(link->target, post, jumps, verdict, error))
            return false;
        if (*verdict != VERDICT_NONE)
            return true;
    }
    const Chain *next = chain->next ? chain->next(post) : NULL;
    if (next)
        return run(next, post, jumps, verdict, error);
    *verdict = chain->verdict;
    return true;
}

/* Hold a post that would be accepted though its sender is still to be asked: nonmember-moderation leaves strangers to
 * sender-confirmation, and a chain of the site's own may have the first of these rules alone. */
static bool hold_unproved(Post *post, Verdict *verdict, GError **error)
{
    static const Link link = {&rule_sender_confirmation, NULL, NULL};
    bool hit;
    if (*verdict != VERDICT_ACCEPT || !post->unproved ||
        g_ptr_array_find_with_equal_func(post->hits, rule_sender_confirmation.name, g_str_equal, NULL))
        return true;
    if (!check(&link, post, &hit, error))
        return false;
    if (hit)
        *verdict = VERDICT_HOLD;
    return true;
}

bool chain_run(const Chain *chain, Post *post, Verdict *verdict, GError **error)
{
    unsigned jumps = 0;
    *verdict = loop_stops(post) ? VERDICT_DISCARD : VERDICT_NONE;
    if (*verdict != VERDICT_NONE)
        return true;
    if (!run(chain, post, &jumps, verdict, error) || !hold_unproved(post, verdict, error))
        return false;
    if (*verdict == VERDICT_NONE)
        *verdict = VERDICT_HOLD;
    return true;
}
