/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Describe a rule, which looks at a post and says hit or miss. The chain that runs it (chain.h) decides what a hit
 * means. check() changes nothing but what the Post keeps for rules, such as reasons, action and member. A rule that
 * judges by earlier posts keeps accounts of them in the store, and writes those in settle(), when the verdict is known.
 * Each rule has a file in rules/, a const struct there, and a line in words.h.
 */
#include <glib.h>
#include <stdbool.h>

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
