/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/handler.h"

/* The sender may ask not to be archived: X-No-Archive (any value but "no"),
 * X-Archive: no. */
static bool process(Post *post, GError **error)
{
    g_autofree char *refused = message_value(post->message, "X-No-Archive");
    g_autofree char *asked = message_value(post->message, "X-Archive");
    post->to_archive = post->list->archive_policy != ARCHIVE_NEVER &&
                       !(refused && g_ascii_strcasecmp(refused, "no") != 0) &&
                       !(asked && g_ascii_strcasecmp(asked, "no") == 0);
    return true;
}

const Handler handler_to_archive = {.name = "to-archive", .process = process};
