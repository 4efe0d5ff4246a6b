/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <inttypes.h>

#include "posting/rule.h"
#include "store/lists/list_setting.h"

static bool check(Post *post, bool *hit, GError **error)
{
    static const char *const names[] = {"To", "Cc", NULL};
    *hit = false;
    int64_t limit = post->list->settings->max_num_recipients;
    if (limit <= 0)
        return true;
    g_autoptr(GPtrArray) all = post_addresses(post, names);
    *hit = all->len >= limit;
    if (*hit)
        post_add_reason(post, "The message names %u recipients; the list allows fewer than %" PRId64 ".", all->len,
                        limit);
    return true;
}

const Rule rule_max_recipients = {.name = "max-recipients", .check = check};
