/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Decide what becomes of a post, by a chain. A chain is a table of links, tried in order. A link whose rule hits goes
 * on with another chain. Without one it only notes the hit, which counts where the rule "any" asks for it. A chain that
 * runs to its end gives its verdict, or goes on where next() says. With neither, it goes back to the link behind the
 * one that led to it. Chains of the site's own are in order.h.
 */
#include <glib.h>
#include <stdbool.h>

#include "posting/external.h"
#include "posting/rule.h"

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
 * post that goes round (loop.h) is discarded before any rule. It is held where the chains end without a verdict, or
 * lead to each other without an end. False: a rule failed, and *verdict does not count. */
bool chain_run(const Chain *chain, Post *post, Verdict *verdict, GError **error);
