/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/handler.h"

/* Hands out the post's number and notes its time. At a repeat after a crash the number was
 * handed out already; the last one is the nearest that can be known. */
static bool process(Post *post, GError **error)
{
    if (!post->counted)
        return list_count_post(post->store, post->list->list_id, post->now, &post->post_id, error);
    post->post_id = MAX(post->list->post_id - 1, 1);
    return true;
}

const Handler handler_after_delivery = {.name = "after-delivery", .process = process};
