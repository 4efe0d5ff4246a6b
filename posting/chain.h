/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A chain is a table of links, tried in order. A link whose rule hits jumps
 * to another chain, detours through one and comes back, or only notes the hit (defer), which
 * counts where rule "any" asks for it. A chain that runs to its end gives
 * its verdict, or goes on where next() says.
 */
#include <glib.h>
#include <stdbool.h>

#include "posting/rule.h"

typedef enum Verdict { VERDICT_NONE, VERDICT_ACCEPT, VERDICT_HOLD, VERDICT_REJECT, VERDICT_DISCARD } Verdict;
const char *verdict_text(Verdict verdict);

typedef struct Chain Chain;

typedef enum LinkAction { LINK_JUMP, LINK_DETOUR, LINK_DEFER } LinkAction;

typedef struct Link {
    const Rule *rule;
    LinkAction action;
    const Chain *target; /* of a jump or detour */
} Link;

struct Chain {
    const char *name;
    const Link *links; /* ended by one without rule */
    Verdict verdict;
    const Chain *(*next)(const Post *post); /* NULL: the verdict stands */
};

/* Where mail to the posting address and to -owner starts. */
extern const Chain chain_posting, chain_owner;
extern const Chain chain_accept, chain_hold, chain_reject, chain_discard, chain_moderation;

/* By its name; NULL: there is none. */
const Chain *chain_find(const char *name);

/* Runs the post through, until there is a verdict (never VERDICT_NONE). */
bool chain_run(const Chain *chain, Post *post, Verdict *verdict, GError **error);
