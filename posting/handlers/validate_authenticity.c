/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/auth/auth_results.h"
#include "posting/authenticity.h"
#include "posting/handler.h"

#define NAME "Authentication-Results"

/* Does the field claim to be ours, or may it? Then somebody forged it. */
static bool is_forged(const Field *field, void *data)
{
    return auth_results_forged(field, data);
}

/* Before all that changes the post: says in Authentication-Results what is known about its signatures. */
static bool process(Post *post, GError **error)
{
    if (!post->site || !post->site->authserv_id)
        return true;
    bool known = authenticity_find(post);
    message_remove_if(post->message, is_forged, (char *)post->site->authserv_id);
    if (known)
        message_prepend(post->message, NAME, post->authenticity->results);
    return true;
}

const Handler handler_validate_authenticity = {.name = "validate-authenticity", .process = process};
