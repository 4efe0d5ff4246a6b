/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/authenticity.h"
#include "posting/handler.h"

/* The last of all: seals what leaves (RFC 8617), with what validate-authenticity found out. A post without an author
 * has no seal, which would tell of him. */
static bool process(Post *post, GError **error)
{
    PostSend *send = post_send_find(post, POST_OUT);
    if (!send || !post->authenticity || post->list->anonymous_list || !arc_may_seal(&post->authenticity->chain))
        return true;
    const ArcSeal seal = {post->authenticity->chain, post->authenticity->results, post->now};
    post_send_sign(post, send, &(Signing){.domain = post->list->mail_host, .seal = &seal});
    return true;
}

const Handler handler_arc_sign = {.name = "arc-sign", .process = process};
