/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/authenticity.h"
#include "posting/handler.h"

/* The last of all: seals what leaves (RFC 8617), with what validate-authenticity found out. */
static bool process(Post *post, GError **error)
{
    PostSend *send = post_send_find(post, POST_OUT);
    ArcSeal seal;
    if (send && authenticity_seal(post, &seal))
        post_send_sign(post, send, &(Signing){.domain = post->list->mail_host, .seal = &seal});
    return true;
}

const Handler handler_arc_sign = {.name = "arc-sign", .process = process};
