/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/answer.h"
#include "posting/rule.h"

/* A member's mail system or holiday program writes to the list, without the mark that the rule autoreply knows. */
static bool check(Post *post, bool *hit, GError **error)
{
    *hit = answer_is_report(post->sender, post->message);
    if (*hit)
        post_add_reason(post, "A program wrote the message, such as a notice of absence or a report about delivery.");
    return true;
}

const Rule rule_automatic = {.name = "automatic", .check = check};
