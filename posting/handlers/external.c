/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/external.h"
#include "posting/handler.h"

/* Lets the programs of [handlers] external change the post, in their order, or end it. One that writes nothing leaves
 * it as it is. To hold is for rules; here the post is kept for the people who run the site. */
static bool process(Post *post, GError **error)
{
    const GPtrArray *all = post->site ? post->site->handler_programs : NULL;
    for (guint at = 0; all && at < all->len && post->end == POST_GOES; at++) {
        const External *external = all->pdata[at];
        g_autoptr(GBytes) output = NULL;
        int code;
        if (!external_run(external, post, &code, &output, error))
            return false;
        if (code == EXTERNAL_PASS) {
            if (g_bytes_get_size(output) > 0)
                message_replace(post->message, output);
            continue;
        }
        post->end = code == EXTERNAL_HOLD     ? POST_PRESERVED
                    : code == EXTERNAL_REJECT ? POST_REJECTED
                                              : POST_DISCARDED;
        g_autofree char *reason = external_reason(output, "A program of the site objects to the message.");
        post_add_reason(post, "%s", reason);
    }
    return true;
}

const Handler handler_external = {.name = "external", .process = process};
