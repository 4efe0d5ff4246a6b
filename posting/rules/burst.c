/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <inttypes.h>

#include "base/clock.h"
#include "posting/rule.h"
#include "store/lists/list_setting.h"
#include "store/posts/pace.h"

#define LEARN_US (7 * 86400 * CLOCK_SECOND) /* before that nothing is known of how much a list takes */

/* Would one post more be too many? */
static bool is_too_many(const List *list, const Pace *pace)
{
    int64_t usual = MIN(pace->past, LIST_INTEGER_MAX) * list->settings->burst_factor;
    return pace->posts + 1 > MAX(list->settings->burst_least, usual);
}

/* Has the poster, or the list, had far more posts within an hour than in the busiest hour before? */
static bool check(Post *post, bool *hit, GError **error)
{
    const List *list = post->list;
    const char *poster = post_poster(post);
    Pace pace;
    *hit = false;
    if (list->settings->burst_factor == 0)
        return true;
    if (poster && !pace_find(post->store, list->list_id, poster, post->now, &pace, error))
        return false;
    *hit = poster && is_too_many(list, &pace);
    if (*hit) {
        post_add_reason(post, "The sender %s has posted %" PRId64 " messages within an hour, far more than usual.",
                        poster, pace.posts);
        return true;
    }
    if (!pace_find(post->store, list->list_id, NULL, post->now, &pace, error))
        return false;
    *hit = pace.first_at != 0 && post->now - pace.first_at >= LEARN_US && is_too_many(list, &pace);
    if (*hit)
        post_add_reason(post, "The list has taken %" PRId64 " posts within an hour, far more than usual.", pace.posts);
    return true;
}

/* Count an accepted post that came through this rule, or hold it. */
static bool settle(Post *post, Verdict *verdict, GError **error)
{
    const char *list_id = post->list->list_id, *poster = post_poster(post);
    unsigned place;
    bool hit;
    if (post->list->settings->burst_factor == 0 || *verdict != VERDICT_ACCEPT ||
        !g_ptr_array_find_with_equal_func(post->misses, rule_burst.name, g_str_equal, &place))
        return true;
    if (!check(post, &hit, error))
        return false;
    if (hit) {
        *verdict = VERDICT_HOLD;
        g_ptr_array_add(post->hits, g_ptr_array_steal_index(post->misses, place));
        return true;
    }
    return (!poster || pace_count(post->store, list_id, poster, post->now, error)) &&
           pace_count(post->store, list_id, NULL, post->now, error);
}

const Rule rule_burst = {.name = "burst", .check = check, .settle = settle};
