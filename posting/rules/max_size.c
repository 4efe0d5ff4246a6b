/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <inttypes.h>

#include "posting/rule.h"
#include "store/lists/list_setting.h"

static bool check(Post *post, bool *hit, GError **error)
{
    int64_t limit = post->list->settings->max_message_size;
    *hit = limit > 0 && post->size / 1024 >= (uint64_t)limit && post->size > (uint64_t)limit * 1024;
    if (*hit)
        post_add_reason(post, "The message has %zu octets; the list allows %" PRId64 " KiB.", post->size, limit);
    return true;
}

const Rule rule_max_size = {.name = "max-size", .check = check};
