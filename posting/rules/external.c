/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/external.h"
#include "posting/rule.h"

/* Asks the programs of [rules] external, in their order; the first that objects decides. */
static bool check(Post *post, bool *hit, GError **error)
{
    const GPtrArray *all = post->site ? post->site->rule_programs : NULL;
    *hit = false;
    for (guint at = 0; all && at < all->len && !*hit; at++)
        if (!external_judge(all->pdata[at], post, hit, error))
            return false;
    return true;
}

const Rule rule_external = {.name = "external", .decides = true, .check = check};
