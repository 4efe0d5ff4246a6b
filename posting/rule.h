/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A rule looks at a post and says hit or miss. It changes nothing but what the Post keeps for rules: reasons, action,
 * member. A rule that judges by what was posted before keeps accounts of that in the store, and writes them by
 * settle(). One rule, one file in rules/, one const struct, one line in words.h.
 */
#include <glib.h>
#include <stdbool.h>

#include "posting/post.h"
#include "posting/words.h"

typedef struct Rule {
    const char *name;
    bool silent;  /* its hits and misses are not written down */
    bool decides; /* a hit leaves in the post what is to become of it (action, target) */
    bool (*check)(Post *post, bool *hit, GError **error);
    /* Enter a post of this verdict into the rule's accounts, or give it another verdict, since many posts may have been
     * checked at the same time before one of them was entered. NULL: the rule keeps no accounts. */
    bool (*settle)(Post *post, Verdict *verdict, GError **error);
} Rule;

#define DECLARE_RULE(symbol, word) extern const Rule rule_##symbol;
POSTING_RULES(DECLARE_RULE)
#undef DECLARE_RULE

/* All of them, by name, ended by NULL. */
extern const Rule *const rules[];
const Rule *rule_find(const char *name);

/* Call settle() of each rule that has one, in the order of names, up to the first that changes the verdict. The caller
 * has begun the transaction of the post.
 *
 * A rule that may hold an accepted post must come before `duplicate`, as `burst` does. `duplicate` records the
 * Message-ID; where there is no room to hold the post it is rejected, and it may come again only if that was not
 * recorded. */
bool rules_settle(Post *post, Verdict *verdict, GError **error);
