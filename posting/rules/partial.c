/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/mime/partial.h"
#include "posting/rule.h"
#include "store/lists/list.h"
#include "store/lists/list_setting.h"

/* A part of a message is held, for nobody can see what it is a part of. It comes here when parts are not put
 * together, or when these could not be (post->left). */
static bool passes(const Post *post)
{
    if (!post->left)
        return post->list->settings->partial_action == PARTIAL_PASS;
    if (g_str_equal(post->left, "expired"))
        return post->list->settings->fragment_expiry == FRAGMENT_EXPIRY_PASS;
    return g_str_equal(post->left, "released");
}

static bool check(Post *post, bool *hit, GError **error)
{
    g_auto(Partial) partial = {0};
    *hit = !passes(post) && partial_read(post->message, &partial);
    if (*hit && post->left_reason)
        post_add_reason(post, "%s", post->left_reason);
    else if (*hit)
        post_add_reason(post, "The message is only a part of one (message/partial), which this list does not take.");
    return true;
}

const Rule rule_partial = {.name = "partial", .check = check};
