/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */

#include "posting/chain.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "mail/address.h"
#include "mail/date.h"
#include "posting/authenticity.h"
#include "posting/post.h"
#include "posting/setup.h"
#include "store/lists/list_post.h"
#include "store/lists/list_setting.h"
#include "store/people/ban.h"
#include "store/posts/held.h"

/* --- rules ----------------------------------------------------------------- */

#define ADDRESS(symbol, word) &rule_##symbol,
const Rule *const rules[] = {POSTING_RULES(ADDRESS) NULL};

const Rule *rule_find(const char *name)
{
    for (const Rule *const *rule = rules; *rule; rule++)
        if (strcmp((*rule)->name, name) == 0)
            return *rule;
    return NULL;
}

bool rules_settle(Post *post, Verdict *verdict, GError **error)
{
    const Verdict before = *verdict;
    for (const Rule *const *rule = rules; *rule && *verdict == before; rule++)
        if ((*rule)->settle && !(*rule)->settle(post, verdict, error))
            return false;
    return true;
}

/* --- chains ---------------------------------------------------------------- */

/* The same Message-ID twice is no second post, whatever way it took here. */
static const Link links_once[] = {{&rule_duplicate, NULL, &chain_discard}, {0}};
static const Link links_none[] = {{0}};

const Chain chain_accept = {.name = "accept", .links = links_once, .verdict = VERDICT_ACCEPT};
const Chain chain_hold = {.name = "hold", .links = links_once, .verdict = VERDICT_HOLD};
const Chain chain_reject = {.name = "reject", .links = links_none, .verdict = VERDICT_REJECT};
const Chain chain_discard = {.name = "discard", .links = links_none, .verdict = VERDICT_DISCARD};

/* Does what a moderation rule left in the post: a target, or an action. */
static const Chain *as_decided(const Post *post)
{
    static const Chain *const targets[] = {
        [ACTION_HOLD] = &chain_hold,
        [ACTION_REJECT] = &chain_reject,
        [ACTION_DISCARD] = &chain_discard,
        [ACTION_ACCEPT] = &chain_accept,
    };
    if (!post->target)
        return post->action < G_N_ELEMENTS(targets) ? targets[post->action] : &chain_hold;
    /* A name that is not known was removed from the configuration, or never was in it: a person decides. */
    const Chain *chain = order_chain(post->site ? post->site->orders : NULL, post->target);
    if (!chain)
        log_warn("there is no chain %s; a post of %s is held", post->target, post->list->list_id);
    return chain ? chain : &chain_hold;
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

bool chain_run(const Chain *chain, Post *post, Verdict *verdict, GError **error)
{
    static const Link unproved = {&rule_sender_confirmation, NULL, NULL};
    unsigned jumps = 0;
    bool hit;
    if (loop_stops(post)) {
        g_ptr_array_add(post->hits, (gpointer)rule_loop.name);
        *verdict = VERDICT_DISCARD;
        return true;
    }
    *verdict = VERDICT_NONE;
    if (!run(chain, post, &jumps, verdict, error))
        return false;
    if (*verdict == VERDICT_NONE)
        *verdict = VERDICT_HOLD;
    /* A post that would be accepted though its sender is still to be asked is held: nonmember-moderation leaves
     * strangers to sender-confirmation, and a chain of the site's own may have the first of these rules alone. */
    if (*verdict != VERDICT_ACCEPT || !post->unproved ||
        g_ptr_array_find_with_equal_func(post->hits, rule_sender_confirmation.name, g_str_equal, NULL))
        return true;
    if (!check(&unproved, post, &hit, error))
        return false;
    if (hit)
        *verdict = VERDICT_HOLD;
    return true;
}

/* --- a post before its handlers -------------------------------------------- */

void judge_soon(Post *post, const char *list_id)
{
    const GPtrArray *senders = post_senders(post);
    g_autofree char *key = loop_message_key(post);
    for (unsigned at = 0; !post->for_owners && at < senders->len; at++)
        ban_check_soon(post->store, list_id, senders->pdata[at]);
    if (!post->for_owners && senders->len > 0) /* a further one is only looked for where this is no member */
        member_find_soon(post->store, list_id, ROLE_MEMBER, senders->pdata[0]);
    if (key)
        list_knows_message_id_soon(post->store, list_id, key, post->trace);
}

bool judge_run(Post *post, Verdict *verdict, GError **error)
{
    const char *name = post->for_owners ? post->list->settings->owner_chain : post->list->settings->posting_chain;
    const Chain *chain = order_chain(post->site ? post->site->orders : NULL, name);
    if (!chain) {
        log_error("list %s: there is no chain %s; its posts are held", post->list->list_id, name);
        post_add_reason(post, "The configuration has no chain %s.", name);
        chain = &chain_hold;
    }
    return chain_run(chain, post, verdict, error);
}

/* Is none of the senders on the list? The rules may have ended before they looked. */
static bool find_stranger(Post *post, bool *stranger, GError **error)
{
    const GPtrArray *senders = post_senders(post);
    *stranger = !post->member;
    for (unsigned at = 0; *stranger && at < senders->len; at++) {
        Member *found;
        if (!post_find_member(post, ROLE_MEMBER, senders->pdata[at], &found, error))
            return false;
        *stranger = !found;
        member_free(found);
    }
    return true;
}

/* A post that is to be held, but for which there is no room, is rejected. */
static bool find_room(Post *post, Verdict *verdict, bool *stranger, GError **error)
{
    HeldRoom taken;
    uint64_t most = list_refused_size(post->list);
    int64_t room = MIN(post->list->settings->max_held_size, INT32_MAX) * 1024 * 1024,
            size = (int64_t)post->size + HELD_ROW_BYTES;
    if (most > 0 && post->size > most) { /* it came by another door than lmtp, or in parts */
        *verdict = VERDICT_REJECT;
        post_add_reason(post, "The message has %zu octets; the list allows %" PRIu64 " KiB.", post->size, most / 1024);
        return true;
    }
    if (!find_stranger(post, stranger, error))
        return false;
    if (room == 0)
        return true;
    if (!held_room(post->store, post->list->list_id, &taken, error))
        return false;
    if (taken.all + size <= room && (!*stranger || taken.strangers + size <= room / 2))
        return true;
    *verdict = VERDICT_REJECT;
    post_add_reason(post, "There is no room for more posts that wait for the moderators. Post again later.");
    return true;
}

bool judge_enter(Post *post, Verdict *verdict, bool *stranger, GError **error)
{
    if (*verdict == VERDICT_ACCEPT && !rules_settle(post, verdict, error))
        return false;
    return *verdict != VERDICT_HOLD ||
           (find_room(post, verdict, stranger, error) && rules_settle(post, verdict, error));
}

/* --- posts for a later time ------------------------------------------------ */

void schedule_clear(Schedule *schedule)
{
    g_clear_pointer(&schedule->author, g_free);
}

/* *author stays NULL where From names nobody who runs the list, or names several, or is not to be relied on. */
static bool find_author(const Post *post, char **author, GError **error)
{
    bool readable;
    g_autoptr(GPtrArray) authors = authors_read(post, &readable);
    bool failed = post->authenticity && post->authenticity->results &&
                  strstr(post->authenticity->results, "dmarc=fail");
    if (!readable || authors->len != 1 || failed)
        return true;
    g_autoptr(Mailbox) from = mailbox_new(((const Address *)authors->pdata[0])->mailbox);
    for (int at = 0; at < 2 && !*author; at++) {
        Member *found;
        if (!post_find_member(post, at == 0 ? ROLE_OWNER : ROLE_MODERATOR, from, &found, error))
            return false;
        g_autoptr(Member) member = found;
        if (member)
            *author = g_strdup(member->address);
    }
    return true;
}

void schedule_recall(const Post *post, const char *time, Schedule *schedule)
{
    int64_t due;
    schedule->over = time && send_at_read(time, post->now, &due, NULL) && due <= post->now ? due : 0;
}

bool schedule_judge(Post *post, const char *time, Verdict *verdict, Schedule *schedule, GError **error)
{
    g_autoptr(GError) wrong = NULL;
    if (*verdict != VERDICT_ACCEPT && *verdict != VERDICT_HOLD)
        return true;
    if (!send_at_read(time, post->now, &schedule->due, &wrong)) {
        *verdict = VERDICT_REJECT;
        g_ptr_array_set_size(post->reasons, 0); /* why a moderator was to look at it */
        post_add_reason(post, "%s", wrong->message);
        return true;
    }
    if (schedule->due > 0 && schedule->due <= post->now) {
        g_autofree char *text = clock_text(schedule->due);
        schedule->over = schedule->due;
        schedule->due = 0;
        post_add_reason(post, "The time %s, at which the post was to be sent, was over when it came.", text);
    }
    bool approved = g_ptr_array_find_with_equal_func(post->hits, rule_approved.name, g_str_equal, NULL);
    if (schedule->due == 0 || approved)
        return true;
    if (!find_author(post, &schedule->author, error))
        return false;
    if (!schedule->author) {
        g_autofree char *text = clock_text(schedule->due);
        if (*verdict == VERDICT_ACCEPT)
            g_ptr_array_set_size(post->reasons, 0); /* of rules that came to nothing */
        *verdict = VERDICT_HOLD;
        post_add_reason(post, "The post is to be sent at %s, for which only owners and moderators of the list may ask.",
                        text);
    }
    return true;
}
