/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/address.h"
#include "posting/handler.h"

/* An owner's address that leads back here would be a loop. */
static bool leads_back(const Post *post, const char *mailbox)
{
    g_autofree char *owner = post_list_address(post->list, "owner");
    return address_same(mailbox, owner) || address_same(mailbox, post->list->posting_address) ||
           (post->recipient && address_same(mailbox, post->recipient));
}

/* Owners and moderators; the site's owner where there are none. */
static bool process(Post *post, GError **error)
{
    g_auto(GStrv) all = list_administrators(post->store, post->list->list_id, error);
    if (!all)
        return false;
    GPtrArray *kept = g_ptr_array_new();
    for (char **mailbox = all; *mailbox; mailbox++)
        if (!leads_back(post, *mailbox))
            g_ptr_array_add(kept, g_strdup(*mailbox));
    if (kept->len == 0 && post->site_owner && !leads_back(post, post->site_owner))
        g_ptr_array_add(kept, g_strdup(post->site_owner));
    g_ptr_array_add(kept, NULL);
    g_strfreev(post->given);
    post->given = (char **)g_ptr_array_free(kept, false);
    post->recipients = POST_TO_GIVEN;
    return true;
}

const Handler handler_owner_recipients = {.name = "owner-recipients", .process = process};
