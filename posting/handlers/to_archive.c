/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/handler.h"

#include "store/lists/list_setting.h"

/* Sends the post to those of the site's archivers that the list uses. Its sender may ask not to be archived:
 * X-No-Archive (any value but "no"), X-Archive: no. */
static bool process(Post *post, GError **error)
{
    g_autofree char *refused = message_value(post->message, "X-No-Archive");
    g_autofree char *asked = message_value(post->message, "X-Archive");
    if (post->list->settings->archive_policy == ARCHIVE_NEVER || (refused && g_ascii_strcasecmp(refused, "no") != 0) ||
        (asked && g_ascii_strcasecmp(asked, "no") == 0))
        return true;
    g_autoptr(GStrvBuilder) names = g_strv_builder_new();
    for (const PostArchiver *archiver = post->archivers; archiver && archiver->name; archiver++)
        if (post_archiver_chosen(post->list, archiver))
            g_strv_builder_add(names, archiver->name);
    g_auto(GStrv) chosen = g_strv_builder_end(names);
    if (*chosen)
        post_send(post, POST_ARCHIVE)->archivers = g_steal_pointer(&chosen);
    return true;
}

const Handler handler_to_archive = {.name = "to-archive", .process = process};
