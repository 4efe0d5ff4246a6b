/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/address.h"
#include "posting/handler.h"

/* Enough for any real mail; more would only cost memory. */
#define COPIED_MAX 1000

/* Who is named in To and Cc has the mail already; the store leaves those out
 * who want no second copy. */
static bool process(Post *post, GError **error)
{
    const GPtrArray *all = post_destinations(post);
    GPtrArray *copied = g_ptr_array_new();
    for (unsigned at = 0; at < all->len && at < COPIED_MAX; at++)
        g_ptr_array_add(copied, g_strdup(((Address *)all->pdata[at])->mailbox));
    g_ptr_array_add(copied, NULL);
    g_strfreev(post->copied);
    post->copied = (char **)g_ptr_array_free(copied, false);
    return true;
}

const Handler handler_avoid_duplicates = {.name = "avoid-duplicates", .process = process};
