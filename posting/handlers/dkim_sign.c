/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/handler.h"

/* Behind all that changes the post: signs what leaves (RFC 6376). */
static bool process(Post *post, GError **error)
{
    PostSend *send = post_send_find(post, POST_OUT);
    if (send)
        post_send_sign(post, send, &(Signing){.domain = post->list->mail_host, .dkim = true});
    return true;
}

const Handler handler_dkim_sign = {.name = "dkim-sign", .process = process};
