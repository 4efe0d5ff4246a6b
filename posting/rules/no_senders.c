/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/rule.h"

static bool check(Post *post, bool *hit, GError **error)
{
    *hit = post_senders(post)->len == 0;
    if (*hit)
        post_add_reason(post, "The message has no sender.");
    return true;
}

const Rule rule_no_senders = {.name = "no-senders", .check = check};
