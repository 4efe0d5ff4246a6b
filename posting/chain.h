/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Decide what becomes of a post, by a chain. A chain is a table of links, tried in order. A link whose rule hits goes
 * on with another chain. Without one it only notes the hit, which counts where the rule "any" asks for it. A chain that
 * runs to its end gives its verdict, or goes on where next() says. With neither, it goes back to the link behind the
 * one that led to it. setup.h has those of the site's own.
 *
 * A rule looks at a post and says hit or miss. The chain that runs it decides what a hit means. check() changes nothing
 * but what the Post keeps for rules, such as reasons, action and member. A rule that judges by earlier posts keeps
 * accounts of them in the store, and writes those in settle(), when the verdict is known. Each rule has a function and
 * a const struct in a file of rules/, by its subject, and a line in words.h.
 *
 * judge_run() and judge_enter() decide about a post before its handlers run: the chain that its list has chosen first,
 * then the accounts of the rules and the room for held posts, which may change the verdict. The runner in and trials
 * (lists/trial/trial.h) call them. An account is what a rule such as burst has stored about earlier posts.
 *
 * schedule_judge() decides about a post that asks to be sent at a later time (mail/date.h). The chain of the list
 * decides about it when it comes, as about any other, so its author hears of a refusal at once. A post of an owner or
 * moderator of the list then waits for its time. The author is the one address in From that every program finds there;
 * From does not count where DMARC has failed. The list's moderator password is as good. A post of anybody else is held
 * for a moderator, and waits for its time when it is accepted. A post whose time is over when it comes is treated as
 * one without a time, whoever wrote it. Its author is told.
 */
#include <glib.h>
#include <stdbool.h>

#include "posting/external.h"
#include "posting/post.h"
#include "posting/words.h"

typedef struct Rule {
    const char *name;
    bool silent;  /* its hits and misses are not added to Post.hits and Post.misses */
    bool decides; /* a hit leaves in the post what is to become of it (action, target) */
    /* Set *hit. False: the rule failed, mostly since the store did. */
    bool (*check)(Post *post, bool *hit, GError **error);
    /* Enter a post of this verdict into the rule's accounts, or give it another verdict, as other posts may have been
     * entered since check(). NULL: the rule keeps no accounts. */
    bool (*settle)(Post *post, Verdict *verdict, GError **error);
} Rule;

#define DECLARE_RULE(symbol, word) extern const Rule rule_##symbol;
POSTING_RULES(DECLARE_RULE)
#undef DECLARE_RULE

/* All rules, ordered by name and ended by NULL. */
extern const Rule *const rules[];
/* Find a rule by its name; NULL: there is none. */
const Rule *rule_find(const char *name);

/* Call settle() of each rule that has one, in the order of names, up to the first that changes the verdict. Call it in
 * the transaction that stores what becomes of the post. False: the store failed, and the transaction is to be undone.
 *
 * A rule that may hold an accepted post must come before `duplicate`, as `burst` does. `duplicate` records the
 * Message-ID. A post that is to be held and finds no room is rejected; it can come again only if its Message-ID was not
 * recorded. */
bool rules_settle(Post *post, Verdict *verdict, GError **error);

/* Return the word for a verdict in the log. */
const char *verdict_text(Verdict verdict);

typedef struct Chain Chain;

typedef struct Link {
    const Rule *rule;         /* NULL, and no program: the end of the table */
    const External *program;  /* in place of a rule */
    const Chain *target;      /* NULL: a hit is only noted */
} Link;

struct Chain {
    const char *name;
    const Link *links;
    Verdict verdict;                        /* VERDICT_NONE, and no next(): the chain that led here goes on */
    const Chain *(*next)(const Post *post); /* the chain to go on with; NULL: none */
};

/* The built-in chains with which mail to the posting address, and mail to -owner, begins. */
extern const Chain chain_posting, chain_owner;
extern const Chain chain_accept, chain_hold, chain_reject, chain_discard, chain_moderation;

/* Find a built-in chain by its name; NULL: there is none. */
const Chain *chain_find(const char *name);

/* Run the post through the chain, and those that it leads to, until there is a verdict; it is never VERDICT_NONE. A
 * post that goes round (loop_stops()) is discarded before any rule. It is held where the chains end without a verdict,
 * or lead to each other without an end. False: a rule failed, and *verdict does not count. */
bool chain_run(const Chain *chain, Post *post, Verdict *verdict, GError **error);

/* Tell the store which questions judge_run() will most likely ask about the post, so that it may answer them in one
 * round trip (store_soon_forget() in store/store.h tells the rules). The caller has set the first part of the Post, but
 * for its list. */
void judge_soon(Post *post, const char *list_id);

/* Run the post through the chain that its list has for posts, or for mail to the owners (Post.for_owners). If the
 * configuration has no such chain, the post is held. The store is only read. */
bool judge_run(Post *post, Verdict *verdict, GError **error);

/* Enter an accepted or held post into the accounts of the rules (rules_settle()). Call it after judge_run(), in the
 * transaction that stores what becomes of the post. It may change the verdict: an accepted post may become held. A
 * held post is rejected where it is too large or there is no room for it. A rejected post is not entered, so it may
 * come again. *stranger is set for a held post: true when none of its senders is a member. */
bool judge_enter(Post *post, Verdict *verdict, bool *stranger, GError **error);

typedef struct Schedule {
    int64_t due;  /* when the post is to be sent, us since 1970, also of one that is held; 0: at once */
    int64_t over; /* the time that the post brought, us since 1970, if it was over when the post came; else 0 */
    char *author; /* the owner or moderator who wrote it. NULL: none of them did, it has the password, or due is 0 */
} Schedule;
void schedule_clear(Schedule *schedule);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Schedule, schedule_clear)

/* Change the chain's verdict about a post that brought this time, and fill *schedule, which the caller has zeroed. An
 * accepted post may become held; an accepted or held one is rejected where the time cannot be read or is too far
 * ahead. With any other verdict nothing is changed. If the time is over, a reason of the post says so. False: the store
 * failed. */
bool schedule_judge(Post *post, const char *time, Verdict *verdict, Schedule *schedule, GError **error);
/* Set schedule->over alone, for a post that was accepted at an earlier try. time may be NULL. */
void schedule_recall(const Post *post, const char *time, Schedule *schedule);
