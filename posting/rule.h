/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A rule looks at a post and says hit or miss. It changes nothing but what
 * the Post keeps for rules: reasons, action, member. One rule, one file in
 * rules/, one const struct, one line in rules[] (rule.c).
 */
#include <glib.h>
#include <stdbool.h>

#include "posting/post.h"

typedef struct Rule {
    const char *name;
    bool silent; /* its hits and misses are not written down */
    bool (*check)(Post *post, bool *hit, GError **error);
} Rule;

extern const Rule rule_administrivia, rule_any, rule_approved, rule_autoreply, rule_banned_address,
    rule_broken_header, rule_digests, rule_dmarc_mitigation, rule_duplicate, rule_emergency, rule_external,
    rule_header_match, rule_implicit_dest, rule_loop, rule_max_recipients, rule_max_size, rule_member_moderation,
    rule_news_moderation, rule_no_senders, rule_no_subject, rule_nonmember_moderation, rule_partial,
    rule_suspicious_header, rule_truth;

/* All of them, by name, ended by NULL. */
extern const Rule *const rules[];
const Rule *rule_find(const char *name);
