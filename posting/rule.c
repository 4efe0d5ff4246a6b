/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/rule.h"

#include <string.h>

const Rule *const rules[] = {
    &rule_administrivia,
    &rule_any,
    &rule_approved,
    &rule_autoreply,
    &rule_banned_address,
    &rule_broken_header,
    &rule_digests,
    &rule_dmarc_mitigation,
    &rule_duplicate,
    &rule_emergency,
    &rule_external,
    &rule_header_match,
    &rule_implicit_dest,
    &rule_loop,
    &rule_max_recipients,
    &rule_max_size,
    &rule_member_moderation,
    &rule_news_moderation,
    &rule_no_senders,
    &rule_no_subject,
    &rule_nonmember_moderation,
    &rule_partial,
    &rule_suspicious_header,
    &rule_truth,
    NULL,
};

const Rule *rule_find(const char *name)
{
    for (const Rule *const *rule = rules; *rule; rule++)
        if (strcmp((*rule)->name, name) == 0)
            return *rule;
    return NULL;
}
