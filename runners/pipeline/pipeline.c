/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The pipeline runner: makes entries of accepted posts, as post_hop.h says. */
#include "lists/keys.h"
#include "posting/post.h"
#include "runners/posts/post_hop.h"
#include "runners/posts/post_names.h"
#include "store/lists/list_post.h"

/* Only what belongs to a list's posts has a number. */
static bool is_post(Entry *entry)
{
    return g_str_equal(list_runner_asked(entry), TO_POSTING);
}

static bool handle(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    g_autoptr(ListRunnerPost) own = list_runner_post_new(runner, entry, NULL, outcome, error);
    if (!own)
        return false;
    if (own->gone) {
        list_runner_keep(runner, g_steal_pointer(&own));
        return true;
    }
    bool digest = g_str_equal(list_runner_asked(entry), TO_DIGEST); /* of ourselves */
    if (!digest && !post_names_ready(runner, entry, &own->post, outcome))
        return true;
    own->post.post_id = own->number;
    own->settles = !own->before && is_post(entry);
    list_runner_keep(runner, g_steal_pointer(&own));
    return true;
}

/* A post that was held may have come to another host than this one. */
static bool count(Post *post, GError **error)
{
    g_autofree char *key = loop_message_key(post);
    const SeenMail seen = {key, post->trace, post->spool, post->now, NULL};
    return list_count_post(post->store, post->list->list_id, post->now, &post->post_id, error) &&
           (!key || list_move_message_id(post->store, post->list->list_id, &seen, error));
}

static bool settle(Runner *runner, ListRunnerPost *own, GError **error)
{
    Post *post = &own->post;
    return (!is_post(own->entry) || count(post, error)) &&
           list_runner_record_effect(runner, own->entry, post->post_id, error);
}

static bool end_batch(Runner *runner, GError **error)
{
    return list_runner_settle(runner, settle, error);
}

static bool finish(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    g_autoptr(ListRunnerPost) own = list_runner_take(runner, outcome);
    Post *post = &own->post;
    if (own->gone) {
        list_runner_log(entry, "to=" TO_DIGEST " result=dropped (the list was removed)");
        return true;
    }
    if (!post_hop(runner, entry, post, outcome, error))
        return false;
    post_hop_log(entry, post, outcome, post_end_text(post->end));
    return true;
}

static const RunnerSpec spec = {
    .name = "pipeline",
    .longest_wait = RUNNER_WAIT_MAX,
    .start = list_posts_start,
    .begin_batch = list_runner_refresh,
    .handle = handle,
    .end_batch = end_batch,
    .finish = finish,
    .stop = list_posts_stop,
};

int main(int argc, char **argv)
{
    return runner_main(&spec, argc, argv);
}
