/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/rule.h"

/* Did any rule hit whose hit only counts now? */
static bool check(Post *post, bool *hit, GError **error)
{
    *hit = post->deferred > 0;
    return true;
}

const Rule rule_any = {.name = "any", .silent = true, .check = check};
