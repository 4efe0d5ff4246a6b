/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/header.h"
#include "posting/rule.h"

static bool check(Post *post, bool *hit, GError **error)
{
    g_autofree char *value = message_value(post->message, "Subject");
    g_autofree char *subject = value ? g_strstrip(header_decode(value)) : NULL;
    *hit = !subject || !*subject;
    if (*hit)
        post_add_reason(post, "The message has no subject.");
    return true;
}

const Rule rule_no_subject = {.name = "no-subject", .check = check};
