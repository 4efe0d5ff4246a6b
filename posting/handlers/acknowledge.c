/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/fail.h"
#include "posting/handler.h"

/* A member who asked for it (acknowledge_posts) is told that the post was taken. */
static bool process(Post *post, GError **error)
{
    if (!post->member || !post_may_answer(post))
        return true;
    g_autoptr(GError) fault = NULL;
    g_autoptr(Member) member = member_find(post->store, post->list->list_id, ROLE_MEMBER, post->member, &fault);
    if (!member && !g_error_matches(fault, FAIL, FAIL_MISSING)) {
        g_propagate_error(error, g_steal_pointer(&fault));
        return false;
    }
    if (!member || !member->effective.acknowledge_posts)
        return true;
    PostSend *send = post_send(post, "virgin");
    send->letter = "post_acknowledged";
    send->to = g_strdup(member->address);
    return true;
}

const Handler handler_acknowledge = {.name = "acknowledge", .process = process};
