/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/mitigation.h"
#include "posting/rule.h"

static const char notice[] =
    "The domain of the address in From publishes a DMARC policy that forbids a mailing list to send mail in its name. "
    "Post from an address of another domain.";

/* Hits only where the list refuses such posts; a changed From is the work of handler dmarc. */
static bool check(Post *post, bool *hit, GError **error)
{
    Mitigation mitigation;
    mitigation_find(post, &mitigation);
    *hit = mitigation == MITIGATION_REJECT || mitigation == MITIGATION_DISCARD;
    if (!*hit)
        return true;
    const char *own = post->list->dmarc_moderation_notice;
    post->action = mitigation == MITIGATION_REJECT ? ACTION_REJECT : ACTION_DISCARD;
    post_add_reason(post, "%s", own && *own ? own : notice);
    return true;
}

const Rule rule_dmarc_mitigation = {.name = "dmarc-mitigation", .decides = true, .check = check};
