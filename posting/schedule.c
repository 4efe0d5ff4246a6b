/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/schedule.h"

#include <string.h>

#include "base/clock.h"
#include "mail/address.h"
#include "mail/send_at.h"
#include "posting/authenticity.h"
#include "posting/authors.h"
#include "posting/rule.h"

void schedule_clear(Schedule *schedule)
{
    g_clear_pointer(&schedule->author, g_free);
}

static bool has_failed_dmarc(const Post *post)
{
    return post->authenticity && post->authenticity->results && strstr(post->authenticity->results, "dmarc=fail");
}

/* *author stays NULL where From names nobody who runs the list, or names several, or is not to be relied on. */
static bool find_author(const Post *post, char **author, GError **error)
{
    bool readable;
    g_autoptr(GPtrArray) authors = authors_read(post, &readable);
    if (!readable || authors->len != 1 || has_failed_dmarc(post))
        return true;
    const Address *from = authors->pdata[0];
    for (int at = 0; at < 2 && !*author; at++) {
        Member *found;
        if (!post_find_member(post, at == 0 ? ROLE_OWNER : ROLE_MODERATOR, from->mailbox, &found, error))
            return false;
        g_autoptr(Member) member = found;
        if (member)
            *author = g_strdup(member->address);
    }
    return true;
}

void schedule_recall(const Post *post, const char *time, Schedule *schedule)
{
    int64_t due;
    schedule->over = time && send_at_read(time, post->now, &due, NULL) && due <= post->now ? due : 0;
}

bool schedule_judge(Post *post, const char *time, Verdict *verdict, Schedule *schedule, GError **error)
{
    g_autoptr(GError) wrong = NULL;
    if (*verdict != VERDICT_ACCEPT && *verdict != VERDICT_HOLD)
        return true;
    if (!send_at_read(time, post->now, &schedule->due, &wrong)) {
        *verdict = VERDICT_REJECT;
        g_ptr_array_set_size(post->reasons, 0); /* why a moderator was to look at it */
        post_add_reason(post, "%s", wrong->message);
        return true;
    }
    if (schedule->due > 0 && schedule->due <= post->now) {
        g_autofree char *text = clock_text(schedule->due);
        schedule->over = schedule->due;
        schedule->due = 0;
        post_add_reason(post, "The time %s, at which the post was to be sent, was over when it came.", text);
    }
    bool approved = g_ptr_array_find_with_equal_func(post->hits, rule_approved.name, g_str_equal, NULL);
    if (schedule->due == 0 || approved)
        return true;
    if (!find_author(post, &schedule->author, error))
        return false;
    if (!schedule->author) {
        g_autofree char *text = clock_text(schedule->due);
        if (*verdict == VERDICT_ACCEPT)
            g_ptr_array_set_size(post->reasons, 0); /* of rules that came to nothing */
        *verdict = VERDICT_HOLD;
        post_add_reason(post, "The post is to be sent at %s, for which only owners and moderators of the list may ask.",
                        text);
    }
    return true;
}
