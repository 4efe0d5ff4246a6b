/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/frame.h"

#include "posting/list_cache.h"
#include "store/lists/list_setting.h"

/* The setting, or the first of the templates of these names. */
static bool find_one(const Post *post, const char *setting, const char *const *names, char **text, GError **error)
{
    *text = setting && *setting ? g_strdup(setting) : NULL;
    for (; !*text && *names; names++)
        if (!list_cache_template(post->lists, post->store, post->list, *names, text, error))
            return false;
    return true;
}

bool frame_find(const Post *post, char **above, char **below, GError **error)
{
    static const char *const headers[] = {"list:member:regular:header", NULL};
    static const char *const footers[] = {"list:member:regular:footer", "list:member:generic:footer", NULL};
    *above = *below = NULL;
    if (post->digest)
        return true;
    g_autofree char *header = NULL;
    if (!find_one(post, post->list->settings->msg_header, headers, &header, error) ||
        !find_one(post, post->list->settings->msg_footer, footers, below, error))
        return false;
    *above = g_steal_pointer(&header);
    return true;
}
