/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/judge.h"

#include <inttypes.h>

#include "base/log.h"
#include "posting/loop.h"
#include "posting/order.h"
#include "store/lists/list_post.h"
#include "store/lists/list_setting.h"
#include "store/people/ban.h"
#include "store/posts/held.h"

void judge_soon(Post *post, const char *list_id)
{
    const GPtrArray *senders = post_senders(post);
    g_autofree char *key = loop_message_key(post);
    for (unsigned at = 0; !post->for_owners && at < senders->len; at++)
        ban_check_soon(post->store, list_id, senders->pdata[at]);
    if (!post->for_owners && senders->len > 0) /* a further one is only looked for where this is no member */
        member_find_soon(post->store, list_id, ROLE_MEMBER, senders->pdata[0]);
    if (key)
        list_knows_message_id_soon(post->store, list_id, key, post->trace);
}

bool judge_run(Post *post, Verdict *verdict, GError **error)
{
    const char *name = post->for_owners ? post->list->settings->owner_chain : post->list->settings->posting_chain;
    const Chain *chain = order_chain(post->site ? post->site->orders : NULL, name);
    if (!chain) {
        log_error("list %s: there is no chain %s; its posts are held", post->list->list_id, name);
        post_add_reason(post, "The configuration has no chain %s.", name);
        chain = &chain_hold;
    }
    return chain_run(chain, post, verdict, error);
}

/* Is none of the senders on the list? The rules may have ended before they looked. */
static bool find_stranger(Post *post, bool *stranger, GError **error)
{
    const GPtrArray *senders = post_senders(post);
    *stranger = !post->member;
    for (unsigned at = 0; *stranger && at < senders->len; at++) {
        Member *found;
        if (!post_find_member(post, ROLE_MEMBER, senders->pdata[at], &found, error))
            return false;
        *stranger = !found;
        member_free(found);
    }
    return true;
}

/* A post that is to be held, but for which there is no room, is rejected. */
static bool find_room(Post *post, Verdict *verdict, bool *stranger, GError **error)
{
    HeldRoom taken;
    uint64_t most = list_refused_size(post->list);
    int64_t room = MIN(post->list->settings->max_held_size, INT32_MAX) * 1024 * 1024,
            size = (int64_t)post->size + HELD_ROW_BYTES;
    if (most > 0 && post->size > most) { /* it came by another door than lmtp, or in parts */
        *verdict = VERDICT_REJECT;
        post_add_reason(post, "The message has %zu octets; the list allows %" PRIu64 " KiB.", post->size, most / 1024);
        return true;
    }
    if (!find_stranger(post, stranger, error))
        return false;
    if (room == 0)
        return true;
    if (!held_room(post->store, post->list->list_id, &taken, error))
        return false;
    if (taken.all + size <= room && (!*stranger || taken.strangers + size <= room / 2))
        return true;
    *verdict = VERDICT_REJECT;
    post_add_reason(post, "There is no room for more posts that wait for the moderators. Post again later.");
    return true;
}

bool judge_enter(Post *post, Verdict *verdict, bool *stranger, GError **error)
{
    if (*verdict == VERDICT_ACCEPT && !rules_settle(post, verdict, error))
        return false;
    return *verdict != VERDICT_HOLD ||
           (find_room(post, verdict, stranger, error) && rules_settle(post, verdict, error));
}
