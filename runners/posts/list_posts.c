/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/posts/list_posts.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/archive/post_archivers.h"
#include "lists/keys.h"
#include "posting/post.h"
#include "posting/setup.h"

/* ListPosts holds the values that the posts of a process share. */
struct ListPosts {
    GArray *archivers; /* of PostArchiver, zero-terminated: those that are enabled */
    char *unsubscribe_url; /* of copies; NULL: none */
    PostCopies copies;
    PostSetup setup;
};

bool list_posts_start(Runner *runner, GError **error)
{
    if (!list_runner_start(runner, error))
        return false;
    const Config *config = runner_config(runner);
    ListRunner *own = runner_data(runner);
    ListPosts *posts = own->posts = g_new0(ListPosts, 1);
    own->kept = g_ptr_array_new_with_free_func((GDestroyNotify)list_runner_post_free);
    posts->archivers = post_archivers_read(config, &own->site);
    const char *url = config_string(config, "pipeline", "unsubscribe_url");
    posts->unsubscribe_url = url ? g_strdup(url) : work_site_page(&own->site, "/u/$token");
    posts->copies = (PostCopies){
        .verp_interval = config_integer(config, "pipeline", "verp_delivery_interval"),
        .verp_personalized = config_bool(config, "pipeline", "verp_personalized_deliveries"),
        .unsubscribe_url = posts->unsubscribe_url,
    };
    post_setup_init(&posts->setup, config, true);
    posts->setup.site.alive = runner_alive; /* a program of the site may take long */
    posts->setup.site.data = runner;
    posts->setup.site.news = config_string(config, "nntp", "host") && queue_is_worked(config, POST_NEWS);
    return true;
}

void list_posts_stop(Runner *runner)
{
    ListRunner *own = runner_data(runner);
    if (own && own->posts) {
        ListPosts *posts = own->posts;
        g_ptr_array_unref(own->kept);
        g_array_unref(posts->archivers);
        g_free(posts->unsubscribe_url);
        post_setup_clear(&posts->setup);
        g_free(posts);
    }
    list_runner_stop(runner);
}

/* All of the post that does not hang on its list. */
static bool describe(ListRunnerPost *own, ListRunner *shared, GError **error)
{
    Entry *entry = own->entry;
    json_t *meta = entry_meta(entry);
    g_autoptr(GBytes) octets = entry_message(entry);
    own->message = message_new(octets);
    Post *post = &own->post;
    post->store = shared->store;
    post->lists = shared->lists;
    post->site = &shared->posts->setup.site;
    post->message = own->message;
    post->sender = meta_string(meta, KEY_SENDER, "");
    post->recipient = meta_string(meta, KEY_RECIPIENT, NULL);
    post->message_id = meta_string(meta, KEY_MESSAGE_ID, NULL);
    post->trace = entry_trace(entry);
    post->spool = spool_id(queue_spool(entry_queue(entry)), error);
    post->site_owner = shared->site.site_owner;
    post->no_requests = shared->no_requests;
    post->archivers = (const PostArchiver *)shared->posts->archivers->data;
    post->copies = &shared->posts->copies;
    post->now = clock_now();
    post->size = g_bytes_get_size(octets);
    post->left = meta_string(meta, KEY_LEFT, NULL);
    post->left_reason = meta_string(meta, KEY_LEFT_REASON, NULL);
    post->moderated = meta_bool(meta, KEY_MODERATED);
    post->scheduled = meta_bool(meta, KEY_SCHEDULED);
    post->from_news = meta_string(meta, KEY_FROM_NEWS, NULL) != NULL;
    post->member = g_strdup(meta_string(meta, KEY_MEMBER, NULL));
    post->for_owners = g_str_equal(list_runner_asked(entry), TO_OWNER);
    g_auto(LoopMark) mark = {0};
    const LoopKeys *keys = post->spool ? list_runner_loop_keys(shared, error) : NULL;
    if (!keys || !list_runner_loop_mark(shared, entry, own->message, &mark, error))
        return false;
    loop_set(post, keys, &mark);
    return true;
}

static bool find_list(ListRunnerPost *own, ListRunner *shared, GError **error)
{
    Entry *entry = own->entry;
    g_autoptr(GError) fault = NULL;
    own->post.list = list_cache_get(shared->lists, entry_list(entry), &fault);
    own->gone = g_error_matches(fault, FAIL, FAIL_MISSING);
    if (own->post.list || (own->gone && g_str_equal(meta_string(entry_meta(entry), KEY_TO, ""), TO_DIGEST)))
        return true;
    if (own->gone)
        return fail(error, FAIL_NEVER,
                    "there is no list %s; if it was removed for good, \"listrunner shunt delete\" drops the post, and "
                    "if it is made again, \"listrunner shunt retry\" sends it",
                    entry_list(entry));
    return fail_with(error, &fault);
}

ListRunnerPost *list_runner_post_new(Runner *runner, Entry *entry, PostSoon *soon, Outcome *outcome, GError **error)
{
    ListRunner *shared = runner_data(runner);
    g_autoptr(ListRunnerPost) own = g_new0(ListRunnerPost, 1);
    post_init(&own->post);
    own->entry = entry;
    own->outcome = outcome;
    g_autofree char *effect = list_runner_effect(entry);
    store_find_effect_soon(shared->store, effect);
    if (!describe(own, shared, error))
        return NULL;
    if (soon)
        soon(&own->post, entry_list(entry));
    if (!find_list(own, shared, error) || !list_runner_find_effect(runner, entry, &own->before, &own->number, error))
        return NULL;
    return g_steal_pointer(&own);
}

void list_runner_post_free(ListRunnerPost *own)
{
    if (!own)
        return;
    post_clear(&own->post);
    message_free(own->message);
    work_free(own->letters);
    schedule_clear(&own->schedule);
    g_free(own->wrong_password);
    g_free(own);
}

void list_runner_keep(Runner *runner, ListRunnerPost *own)
{
    ListRunner *shared = runner_data(runner);
    g_ptr_array_add(shared->kept, own);
}

/* The entries come in the order in which they were kept, less those that failed meanwhile. */
ListRunnerPost *list_runner_take(Runner *runner, const Outcome *outcome)
{
    ListRunner *shared = runner_data(runner);
    while (shared->taken < shared->kept->len) {
        ListRunnerPost *own = g_steal_pointer(&shared->kept->pdata[shared->taken++]);
        if (own->outcome == outcome)
            return own;
        list_runner_post_free(own);
    }
    log_panic("an entry is finished that was not kept");
}

bool list_runner_settle(Runner *runner, ListRunnerSettle *settle, GError **error)
{
    ListRunner *shared = runner_data(runner);
    g_autoptr(GPtrArray) posts = g_ptr_array_new(), lists = g_ptr_array_new();
    for (guint at = 0; at < shared->kept->len; at++) {
        ListRunnerPost *own = shared->kept->pdata[at];
        if (!own->settles || own->outcome->error)
            continue;
        g_ptr_array_add(posts, own);
        g_ptr_array_add(lists, (gpointer)entry_list(own->entry));
    }
    if (posts->len == 0)
        return true;
    if (!store_begin_lists(shared->store, lists, error))
        return false;
    for (guint at = 0; at < posts->len; at++) {
        ListRunnerPost *own = posts->pdata[at];
        if (!store_savepoint(shared->store, error)) {
            store_rollback(shared->store);
            return false;
        }
        bool done = settle(runner, own, &own->outcome->error);
        store_savepoint_end(shared->store, done);
        if (!done)
            g_ptr_array_set_size(own->outcome->drafts, 0);
    }
    return store_commit(shared->store, error);
}
