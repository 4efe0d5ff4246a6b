/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/handler.h"

/* Hands out the post's number and notes its time, unless an earlier try did. */
static bool process(Post *post, GError **error)
{
    return post->post_id > 0 || list_count_post(post->store, post->list->list_id, post->now, &post->post_id, error);
}

const Handler handler_after_delivery = {.name = "after-delivery", .process = process};
