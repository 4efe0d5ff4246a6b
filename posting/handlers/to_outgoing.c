/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/handler.h"

/* Copies go out in the list's name: what cannot be delivered comes back to
 * -bounces. Mail of our own keeps the sender it was given. The return path of the way to us, which
 * some hosts write down when they deliver, does not go on (RFC 5321, 4.4). */
static bool process(Post *post, GError **error)
{
    PostSend *send = post_send(post, POST_OUT);
    message_remove(post->message, "Return-Path");
    if (!post->ours)
        send->envelope_sender = post_list_address(post->list, "bounces");
    return true;
}

const Handler handler_to_outgoing = {.name = "to-outgoing", .process = process};
