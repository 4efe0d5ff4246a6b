/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/handler.h"
#include "store/people/member.h"

/* All regular members; the store leaves out the sender where that is wished. */
static bool process(Post *post, GError **error)
{
    const GPtrArray *senders = post_senders(post);
    post->recipients = POST_TO_MEMBERS;
    g_free(post->skip_sender);
    post->skip_sender = g_strdup(post->member ? post->member : senders->len > 0 ? senders->pdata[0] : NULL);
    recipient_soon(post->store, post->list->list_id, post->skip_sender);
    return true;
}

const Handler handler_member_recipients = {.name = "member-recipients", .process = process};
