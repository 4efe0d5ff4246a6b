/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/rule.h"

#include "store/lists/list_setting.h"

static bool check(Post *post, bool *hit, GError **error)
{
    *hit = post->list->settings->emergency && !post->moderated;
    if (*hit)
        post_add_reason(post, "Emergency moderation is in effect for this list.");
    return true;
}

const Rule rule_emergency = {.name = "emergency", .check = check};
