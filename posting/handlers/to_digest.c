/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/handler.h"
#include "store/lists/list_setting.h"
#include "store/posts/digest.h"

/* Sends the post to the list's digest, if somebody wants one. All of a list meet in one process. */
static bool process(Post *post, GError **error)
{
    bool wanted = false;
    if (!post->list->settings->digests_enabled)
        return true;
    digest_wanted_soon(post->store, post->list->list_id); /* together with member-recipients' */
    if (!digest_wanted(post->store, post->list->list_id, &wanted, error))
        return false;
    if (wanted)
        post_send(post, POST_DIGEST)->shard = g_strdup(post->list->list_id);
    return true;
}

const Handler handler_to_digest = {.name = "to-digest", .process = process};
