/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/rule.h"
#include "store/lists/list_setting.h"
#include "store/people/password.h"

/* A person let it pass: the mark is in the entry's metadata, never in the message, so nobody can put it there by mail.
 * Or whoever wrote it knows the list's moderator password. */
static bool check(Post *post, bool *hit, GError **error)
{
    *hit = post->moderated || (post->password && *post->password &&
                               password_matches(post->list->settings->moderator_password, post->password));
    return true;
}

const Rule rule_approved = {.name = "approved", .check = check};
