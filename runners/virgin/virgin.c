/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The virgin runner: mail that the system wrote itself (notices, rejections)
 * gets its last header fields and goes to out, to the recipients of its entry: by
 * the queue notice when somebody waits for it.
 */
#include "base/fail.h"
#include "lists/keys.h"
#include "posting/pipeline.h"
#include "runners/posts/list_posts.h"

/* pieces: of GBytes, in place of the message; NULL: the message itself. */
static bool add_out(Entry *entry, const Message *message, const GPtrArray *pieces, Outcome *outcome, GError **error)
{
    if (entry_recipients_length(entry) == 0)
        return fail(error, FAIL_NEVER, "it has no recipients");
    bool urgent = meta_string(entry_meta(entry), KEY_PRIORITY, NULL) != NULL;
    const char *queue = urgent ? NOTICE_QUEUE : "out";
    Draft *draft = pieces ? list_runner_draft_pieces(queue, entry, pieces) : list_runner_draft(queue, entry, message);
    draft_copy_recipients(draft, entry);
    outcome_add(outcome, draft);
    list_runner_log(entry, "message-id=%s result=done", meta_string(entry_meta(entry), KEY_MESSAGE_ID, "-"));
    return true;
}

/* The site writes, or nobody knows for which list. Last letters of a list that is removed (a post is rejected, a member
 * leaves) go as they were written, too. */
static bool is_of_no_list(Runner *runner, Entry *entry)
{
    g_autoptr(GError) fault = NULL;
    const ListRunner *own = runner_data(runner);
    return meta_bool(entry_meta(entry), KEY_OF_SITE) || !*entry_list(entry) ||
           (!list_cache_get(own->lists, entry_list(entry), &fault) && g_error_matches(fault, FAIL, FAIL_MISSING));
}

/* Mail for the people who run the site goes on as it came, with a mark by which it is known when their address leads
 * back here. */
static bool pass_on(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    g_autoptr(GBytes) octets = entry_message(entry);
    g_autoptr(Message) message = message_new(octets);
    g_auto(LoopMark) mark = {0};
    if (!g_str_equal(meta_string(entry_meta(entry), KEY_TO, ""), TO_SITE))
        return add_out(entry, message, NULL, outcome, error);
    const LoopKeys *keys = list_runner_loop_keys(runner_data(runner), error);
    if (!keys || !list_runner_loop_mark(runner_data(runner), entry, message, &mark, error))
        return false;
    if (loop_mark_has(&mark, LOOP_SITE, "") || mark.depth >= LOOP_DEPTH_MAX) {
        list_runner_log(entry, "message-id=%s result=discarded (it has been here before: [site] site_owner leads back "
                        "to this site)", meta_string(entry_meta(entry), KEY_MESSAGE_ID, "-"));
        return true;
    }
    g_autofree char *id = message_id(message), *value = loop_mark_make(keys, &mark, LOOP_SITE, "", id, mark.origin);
    loop_mark_put(message, value);
    return add_out(entry, message, NULL, outcome, error);
}

static bool handle(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    if (is_of_no_list(runner, entry))
        return pass_on(runner, entry, outcome, error);
    g_autoptr(ListRunnerPost) own = list_runner_post_new(runner, entry, NULL, outcome, error);
    if (!own)
        return false;
    own->post.ours = true;
    if (!pipeline_run(&pipeline_virgin, &own->post, error))
        return false;
    const PostSend *send = post_send_find(&own->post, POST_OUT);
    return add_out(entry, own->message, send ? send->pieces : NULL, outcome, error);
}

static const RunnerSpec spec = {
    .name = "virgin",
    .longest_wait = RUNNER_WAIT_MAX,
    .start = list_posts_start,
    .begin_batch = list_runner_refresh,
    .handle = handle,
    .stop = list_posts_stop,
};

int main(int argc, char **argv)
{
    return runner_main(&spec, argc, argv);
}
