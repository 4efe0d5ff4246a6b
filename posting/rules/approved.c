/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/rule.h"

/* A person let it pass: the mark is in the entry's metadata, never in the
 * message, so nobody can put it there by mail. */
static bool check(Post *post, bool *hit, GError **error)
{
    *hit = post->moderated;
    return true;
}

const Rule rule_approved = {.name = "approved", .check = check};
