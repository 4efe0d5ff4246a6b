/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/handler.h"

#include "store/lists/list_setting.h"

/* Sends the post to the list's news group, unless it came from there. */
static bool process(Post *post, GError **error)
{
    const List *list = post->list;
    bool linked = list->settings->gateway_to_news && list->settings->linked_newsgroup &&
                  *list->settings->linked_newsgroup;
    if (!linked || post->from_news || !post->site || !post->site->news)
        return true;
    PostSend *send = post_send(post, POST_NEWS);
    if (post->author_subject && !list->settings->nntp_prefix_subject_too)
        message_set(post_send_message(post, send), "Subject", post->author_subject);
    return true;
}

const Handler handler_to_usenet = {.name = "to-usenet", .process = process};
