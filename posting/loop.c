/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/loop.h"

#include <string.h>

#include "posting/rule.h"

/* Mail to a list and to its owners may be the same, and goes to different people. No Message-ID begins so. */
#define FOR_OWNERS "owner: "

struct PostLoop {
    const LoopKeys *keys;
    LoopMark mark;
    char *origin;      /* Message-ID of the first mail; NULL: it has none, or loop_begin() was not called yet */
    char *value, *value_id; /* the mark that was made last, and the Message-ID that it is for */
};

void loop_set(Post *post, const LoopKeys *keys, LoopMark *mark)
{
    g_clear_pointer(&post->loop, loop_free);
    post->loop = g_new0(PostLoop, 1);
    post->loop->keys = keys;
    post->loop->mark = *mark;
    *mark = (LoopMark){0};
}

void loop_free(PostLoop *loop)
{
    loop_mark_clear(&loop->mark);
    g_free(loop->origin);
    g_free(loop->value);
    g_free(loop->value_id);
    g_free(loop);
}

static char *origin_of(const Post *post)
{
    return post->loop && post->loop->mark.origin ? g_strdup(post->loop->mark.origin) : loop_mark_key(post->message);
}

char *loop_message_key(const Post *post)
{
    g_autofree char *origin = origin_of(post);
    return origin && post->for_owners ? g_strconcat(FOR_OWNERS, origin, NULL) : g_steal_pointer(&origin);
}

/* Has the mail been at the place that it comes to now? A list does not take its own letters as posts; its owners may
 * get them. */
static bool has_been_here(const Post *post)
{
    const LoopMark *mark = &post->loop->mark;
    const char *id = post->list->id;
    return post->for_owners ? loop_mark_has(mark, LOOP_OWNER, id)
                            : loop_mark_has(mark, LOOP_POSTING, id) || loop_mark_has(mark, LOOP_LETTER, id);
}

bool loop_stops(Post *post)
{
    bool here = post->loop && has_been_here(post);
    if (!here && (!post->loop || post->loop->mark.depth < LOOP_DEPTH_MAX))
        return false;
    g_ptr_array_add(post->hits, (gpointer)rule_loop.name);
    if (here)
        post_add_reason(post, "The message has passed this list before.");
    else
        post_add_reason(post, "The message has passed %u lists of this site.", post->loop->mark.depth);
    return true;
}

void loop_begin(Post *post)
{
    if (post->loop && !post->loop->origin)
        post->loop->origin = origin_of(post);
}

/* The value holds for one Message-ID, which handlers may change. */
static void mark_one(const Post *post, Message *message)
{
    PostLoop *loop = post->loop;
    g_autofree char *id = message_id(message);
    if (!loop->value || g_strcmp0(id, loop->value_id) != 0) {
        g_free(loop->value);
        g_free(loop->value_id);
        LoopPlace place = post->for_owners ? LOOP_OWNER : LOOP_POSTING;
        loop->value = loop_mark_make(loop->keys, &loop->mark, place, post->list->id, id, loop->origin);
        loop->value_id = g_steal_pointer(&id);
    }
    loop_mark_put(message, loop->value);
}

void loop_mark_all(Post *post)
{
    if (!post->loop || post->ours || post->digest) /* which were marked when they were written */
        return;
    mark_one(post, post->message);
    for (guint at = 0; at < post->sends->len; at++) {
        const PostSend *send = post->sends->pdata[at];
        if (send->message)
            mark_one(post, send->message);
    }
}
