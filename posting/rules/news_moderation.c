/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/rule.h"

#include "store/lists/list_setting.h"

/* Whatever goes to a moderated news group goes by way of a moderator; an article that comes from there did already. */
static bool check(Post *post, bool *hit, GError **error)
{
    *hit = post->list->settings->newsgroup_moderation == NEWSGROUP_MODERATED && !post->from_news;
    if (*hit)
        post_add_reason(post, "The list is tied to a moderated news group.");
    return true;
}

const Rule rule_news_moderation = {.name = "news-moderation", .check = check};
