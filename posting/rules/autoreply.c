/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/answer.h"
#include "posting/rule.h"

/* Somebody's program answers a post, to all who read the list: "I am on holiday". Distributed, it may be answered in
 * its turn. */
static bool check(Post *post, bool *hit, GError **error)
{
    *hit = answer_is_automatic(post->message);
    if (*hit)
        post_add_reason(post, "The message is an automatic reply.");
    return true;
}

const Rule rule_autoreply = {.name = "autoreply", .check = check};
