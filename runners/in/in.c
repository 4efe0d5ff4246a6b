/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The in runner: runs each post through its chain and does what the verdict
 * says. Accepted posts go on to pipeline, held ones into the store;
 * whoever must be told is told through virgin.
 */
#include "base/fail.h"
#include "lists/letter.h"
#include "mail/header.h"
#include "posting/chain.h"
#include "runners/in/notices.h"
#include "runners/keys.h"
#include "runners/list_runner.h"
#include "runners/post_names.h"

static void set_names(json_t *meta, const char *key, const GPtrArray *names)
{
    json_t *array = json_array();
    for (unsigned at = 0; at < names->len; at++)
        json_array_append_new(array, json_string(names->pdata[at]));
    json_object_set_new(meta, key, array);
}

/* What the rules found goes with the post, whatever becomes of it. */
static void note_findings(json_t *meta, const Post *post)
{
    set_names(meta, KEY_HITS, post->hits);
    set_names(meta, KEY_MISSES, post->misses);
    meta_set_string(meta, KEY_MEMBER, post->member);
}

static void accept_post(Entry *entry, const Post *post, Outcome *outcome)
{
    Draft *draft = list_runner_draft("pipeline", entry, post->message);
    note_findings(draft_meta(draft), post);
    outcome_add(outcome, draft);
}

static bool store_held(Runner *runner, Entry *entry, Post *post, int64_t *number, GError **error)
{
    g_autoptr(json_t) meta = json_deep_copy(entry_meta(entry));
    note_findings(meta, post);
    g_autofree char *raw = message_value(post->message, "Subject");
    g_autofree char *subject = header_decode(raw ? raw : ""), *reasons = post_reasons(post, " ");
    g_autofree char *meta_text = meta_print(meta);
    g_autoptr(GBytes) octets = entry_message(entry);
    const GPtrArray *senders = post_senders(post);
    g_autofree char *sender = g_utf8_make_valid(senders->len > 0 ? senders->pdata[0] : "", -1);
    Held held = {.list_id = post->list->list_id,
                 .message_id = (char *)(post->message_id ? post->message_id : post->trace),
                 .subject = subject, .sender = sender, .reason = reasons, .meta = meta_text, .held_at = post->now,
                 .message = octets};
    if (!held_add(post->store, &held, error))
        return false;
    *number = held.number;
    return list_runner_record_effect(runner, entry, held.number, error);
}

/* May the sender be told, and was not told too often today? */
static bool may_answer(Runner *runner, Entry *entry, Post *post, bool *allowed, GError **error)
{
    *allowed = post_may_answer(post);
    if (!*allowed)
        return true;
    g_autoptr(Work) work = list_runner_work(runner_data(runner), entry);
    return letter_allowed(work, post->list, post->sender, allowed, error);
}

/* Held at an earlier try. *number becomes 0 when somebody has decided about it since: then
 * there is nothing left to tell. */
static bool find_held(Post *post, int64_t *number, GError **error)
{
    g_autoptr(GError) fault = NULL;
    g_autoptr(Held) held = held_find(post->store, *number, &fault);
    if (held) {
        post_add_reason(post, "%s", held->reason);
        return true;
    }
    *number = 0;
    if (g_error_matches(fault, FAIL, FAIL_MISSING))
        return true;
    g_propagate_error(error, g_steal_pointer(&fault));
    return false;
}

/* number: under which an earlier try held it, 0 for none. */
static bool hold_post(Runner *runner, Entry *entry, Post *post, int64_t number, Outcome *outcome, GError **error)
{
    ListRunner *own = runner_data(runner);
    if (!(number > 0 ? find_held(post, &number, error) : store_held(runner, entry, post, &number, error)))
        return false;
    if (number == 0)
        return true;
    Notices notices = {.entry = entry, .post = post, .runner = own, .outcome = outcome};
    bool tell = false;
    if (post->list->respond_to_post_requests && !may_answer(runner, entry, post, &tell, error))
        return false;
    if (tell && !notices_held_poster(&notices, error))
        return false;
    return !post->list->admin_immed_notify || notices_held_moderators(&notices, number, error);
}

static bool act(Runner *runner, Entry *entry, Post *post, Verdict verdict, Outcome *outcome, GError **error)
{
    ListRunner *own = runner_data(runner);
    Notices notices = {.entry = entry, .post = post, .runner = own, .outcome = outcome};
    switch (verdict) {
    case VERDICT_ACCEPT:
        accept_post(entry, post, outcome);
        return true;
    case VERDICT_HOLD:
        return hold_post(runner, entry, post, 0, outcome, error);
    case VERDICT_REJECT: {
        bool tell;
        if (!may_answer(runner, entry, post, &tell, error))
            return false;
        return !tell || notices_rejected(&notices, error);
    }
    default:
        return true; /* discarded: the log line is all that is left */
    }
}

static bool decide(Runner *runner, Entry *entry, Post *post, Outcome *outcome, GError **error)
{
    const char *to = meta_string(entry_meta(entry), KEY_TO, TO_POSTING);
    const Chain *chain = g_str_equal(to, TO_OWNER) ? &chain_owner : &chain_posting;
    Verdict verdict = VERDICT_HOLD;
    int64_t number;
    bool held;
    if (!post_names_ready(runner, entry, post, outcome))
        return true;
    if (!list_runner_find_effect(runner, entry, &held, &number, error))
        return false;
    /* What was held stays so, even if the list would now do something else with it. */
    if (!(held ? hold_post(runner, entry, post, number, outcome, error)
               : chain_run(chain, post, &verdict, error) && act(runner, entry, post, verdict, outcome, error)))
        return false;
    g_autofree char *reasons = post_reasons(post, " ");
    list_runner_log(entry, "to=%s from=%s message-id=%s result=%s%s%s%s", to, post->sender,
                    post->message_id ? post->message_id : "-", verdict_text(verdict), *reasons ? " (" : "", reasons,
                    *reasons ? ")" : "");
    return true;
}

static bool handle(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    return list_runner_handle(runner, entry, outcome, decide, error);
}

static const RunnerSpec spec = {
    .name = "in",
    .start = list_runner_start,
    .begin_batch = list_runner_begin,
    .handle = handle,
    .end_batch = list_runner_end,
    .stop = list_runner_stop,
};

int main(int argc, char **argv)
{
    return runner_main(&spec, argc, argv);
}
