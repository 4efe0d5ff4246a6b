/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/external.h"
#include "posting/rule.h"

/* Asks the programs of [rules] external, in their order; the first that objects decides. */
static bool check(Post *post, bool *hit, GError **error)
{
    const GPtrArray *all = post->site ? post->site->rule_programs : NULL;
    *hit = false;
    for (guint at = 0; all && at < all->len && !*hit; at++) {
        const External *external = all->pdata[at];
        g_autoptr(GBytes) output = NULL;
        int code;
        if (!external_run(external, post, &code, &output, error))
            return false;
        if (code == EXTERNAL_PASS)
            continue;
        *hit = true;
        post->action = code == EXTERNAL_HOLD     ? ACTION_HOLD
                       : code == EXTERNAL_REJECT ? ACTION_REJECT
                                                 : ACTION_DISCARD;
        g_autofree char *reason = external_reason(output, "A program of the site objects to the message.");
        post_add_reason(post, "%s", reason);
    }
    return true;
}

const Rule rule_external = {.name = "external", .check = check};
