/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/external.h"
#include "posting/handler.h"

/* Lets the programs of [handlers] external change the post, in their order, or end it. */
static bool process(Post *post, GError **error)
{
    const GPtrArray *all = post->site ? post->site->handler_programs : NULL;
    for (guint at = 0; all && at < all->len && post->end == POST_GOES; at++)
        if (!external_change(all->pdata[at], post, error))
            return false;
    return true;
}

const Handler handler_external = {.name = "external", .process = process};
