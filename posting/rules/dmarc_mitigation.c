/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/authors.h"
#include "posting/mitigation.h"
#include "posting/rule.h"
#include "store/lists/list_setting.h"

static const char notice[] =
    "The domain of the address in From publishes a DMARC policy that forbids a mailing list to send mail in its name. "
    "Post from an address of another domain.";

static const char unreadable[] =
    "The address in From cannot be read with certainty, so the list cannot know whether its domain allows a mailing "
    "list to send mail in its name. Post again with one plain address in From.";

static const char *reason_for(const Post *post)
{
    const char *own = post->list->settings->dmarc_moderation_notice;
    bool readable;
    g_autoptr(GPtrArray) authors = authors_read(post, &readable);
    return own && *own ? own : readable ? notice : unreadable;
}

/* Hits only where the list refuses such posts; a changed From is the work of handler dmarc. */
static bool check(Post *post, bool *hit, GError **error)
{
    Mitigation mitigation;
    mitigation_find(post, &mitigation);
    *hit = mitigation == MITIGATION_REJECT || mitigation == MITIGATION_DISCARD;
    if (!*hit)
        return true;
    post->action = mitigation == MITIGATION_REJECT ? ACTION_REJECT : ACTION_DISCARD;
    post_add_reason(post, "%s", reason_for(post));
    return true;
}

const Rule rule_dmarc_mitigation = {.name = "dmarc-mitigation", .decides = true, .check = check};
