/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Rules about the list and what it has had, and about other rules: they do not look into the post. */
#include <inttypes.h>

#include "base/clock.h"
#include "posting/chain.h"
#include "posting/external.h"
#include "posting/post.h"
#include "store/lists/list_post.h"
#include "store/lists/list_setting.h"
#include "store/posts/pace.h"

/* --- any ------------------------------------------------------------------- */

/* Did any rule hit whose hit only counts now? */
static bool check_any(Post *post, bool *hit, GError **error)
{
    *hit = post->deferred > 0;
    return true;
}

const Rule rule_any = {.name = "any", .silent = true, .check = check_any};

/* --- burst ----------------------------------------------------------------- */

#define LEARN_US (7 * 86400 * CLOCK_SECOND) /* before that nothing is known of how much a list takes */

/* Would one post more be too many? */
static bool is_too_many(const List *list, const Pace *pace)
{
    int64_t usual = MIN(pace->past, LIST_INTEGER_MAX) * list->settings->burst_factor;
    return pace->posts + 1 > MAX(list->settings->burst_least, usual);
}

/* Has the poster, or the list, had far more posts within an hour than in the busiest hour before? */
static bool check_burst(Post *post, bool *hit, GError **error)
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
static bool settle_burst(Post *post, Verdict *verdict, GError **error)
{
    const char *list_id = post->list->list_id, *poster = post_poster(post);
    unsigned place;
    bool hit;
    if (post->list->settings->burst_factor == 0 || *verdict != VERDICT_ACCEPT ||
        !g_ptr_array_find_with_equal_func(post->misses, rule_burst.name, g_str_equal, &place))
        return true;
    if (!check_burst(post, &hit, error))
        return false;
    if (hit) {
        *verdict = VERDICT_HOLD;
        g_ptr_array_add(post->hits, g_ptr_array_steal_index(post->misses, place));
        return true;
    }
    return (!poster || pace_count(post->store, list_id, poster, post->now, error)) &&
           pace_count(post->store, list_id, NULL, post->now, error);
}

const Rule rule_burst = {.name = "burst", .check = check_burst, .settle = settle_burst};

/* --- duplicate ------------------------------------------------------------- */

static void note_duplicate(Post *post)
{
    post_add_reason(post, "A message with the same Message-ID was posted before.");
}

/* Was another mail with this Message-ID posted here before, or one that was made of the same first mail? Asked last
 * of all: only what is accepted or held counts as posted, so that a rejected mail can be sent again. Mail without a
 * Message-ID of its own is never a duplicate. */
static bool check_duplicate(Post *post, bool *hit, GError **error)
{
    *hit = false;
    g_free(post->message_key);
    post->message_key = loop_message_key(post);
    if (!post->message_key)
        return true;
    if (!list_knows_message_id(post->store, post->list->list_id, post->message_key, post->trace, hit, error))
        return false;
    if (*hit)
        note_duplicate(post);
    return true;
}

/* Record the Message-ID of a post that stays. Of two that are the same, here or in another process, the second is
 * discarded. */
static bool settle_duplicate(Post *post, Verdict *verdict, GError **error)
{
    bool known;
    if (!post->message_key || (*verdict != VERDICT_ACCEPT && *verdict != VERDICT_HOLD))
        return true;
    const SeenMail seen = {post->message_key, post->trace, post->spool ? post->spool : "", post->now, &post->next_id};
    if (!list_record_message_id(post->store, post->list->list_id, &seen, &known, error))
        return false;
    if (known) {
        *verdict = VERDICT_DISCARD;
        note_duplicate(post);
    }
    return true;
}

const Rule rule_duplicate = {.name = "duplicate", .check = check_duplicate, .settle = settle_duplicate};

/* --- emergency ------------------------------------------------------------- */

static bool check_emergency(Post *post, bool *hit, GError **error)
{
    *hit = post->list->settings->emergency && !post->moderated;
    if (*hit)
        post_add_reason(post, "Emergency moderation is in effect for this list.");
    return true;
}

const Rule rule_emergency = {.name = "emergency", .check = check_emergency};

/* --- external -------------------------------------------------------------- */

/* Asks the programs of [rules] external, in their order; the first that objects decides. */
static bool check_external(Post *post, bool *hit, GError **error)
{
    const GPtrArray *all = post->site ? post->site->rule_programs : NULL;
    *hit = false;
    for (guint at = 0; all && at < all->len && !*hit; at++)
        if (!external_judge(all->pdata[at], post, hit, error))
            return false;
    return true;
}

const Rule rule_external = {.name = "external", .decides = true, .check = check_external};

/* --- news-moderation ------------------------------------------------------- */

/* Whatever goes to a moderated news group goes by way of a moderator; an article that comes from there did already. */
static bool check_news_moderation(Post *post, bool *hit, GError **error)
{
    *hit = post->list->settings->newsgroup_moderation == NEWSGROUP_MODERATED && !post->from_news;
    if (*hit)
        post_add_reason(post, "The list is tied to a moderated news group.");
    return true;
}

const Rule rule_news_moderation = {.name = "news-moderation", .check = check_news_moderation};

/* --- truth ----------------------------------------------------------------- */

static bool check_truth(Post *post, bool *hit, GError **error)
{
    *hit = true;
    return true;
}

const Rule rule_truth = {.name = "truth", .silent = true, .check = check_truth};
