/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/handler.h"

/* A member who asked for it (acknowledge_posts) is told that the post was taken. */
static bool process(Post *post, GError **error)
{
    const char *poster = post_poster(post); /* known from the rules, or a moderator let it pass */
    if (!poster || !post_may_answer(post))
        return true;
    if (!post->found && !post_find_member(post, ROLE_MEMBER, poster, &post->found, error))
        return false;
    const Member *member = post->found;
    if (member && member->effective.acknowledge_posts)
        post_send_letter(post, "post_acknowledged", member->address, false);
    return true;
}

const Handler handler_acknowledge = {.name = "acknowledge", .process = process};
