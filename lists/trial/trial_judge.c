/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/trial/trial_judge.h"

#include "lists/archive/post_archivers.h"
#include "lists/keys.h"
#include "lists/letters/autorespond.h"
#include "lists/work.h"
#include "mail/text/approved.h"
#include "posting/chain.h"
#include "posting/external.h"
#include "posting/setup.h"
#include "store/lists/list_setting.h"
#include "switchboard/meta.h"
#include "switchboard/spool.h"

/* ---- the site ---- */

static bool answer_pass(const External *external, const Post *post, int *code, GBytes **output, GError **error)
{
    (void)external, (void)post, (void)error;
    *code = EXTERNAL_PASS;
    *output = g_bytes_new(NULL, 0);
    return true;
}

void trial_rules_init(TrialRules *shared, const Config *config, const Names *names)
{
    WorkSite work;
    post_setup_init(&shared->setup, config, false);
    PostSite *site = &shared->setup.site;
    site->ask = answer_pass;
    site->authserv_id = NULL;
    g_clear_pointer(&site->html_to_text, g_strfreev);
    site->news = config_string(config, "nntp", "host") && queue_is_worked(config, POST_NEWS);
    shared->no_requests = !queue_is_worked(config, "command");
    work_site_init(&work, config);
    shared->archivers = post_archivers_read(config, &work);
    shared->names = names;
}

void trial_rules_clear(TrialRules *shared)
{
    post_setup_clear(&shared->setup);
    g_clear_pointer(&shared->archivers, g_array_unref);
}

/* ---- the list ---- */

void trial_side_clear(TrialSide *side)
{
    list_cache_free(side->lists);
    store_free(side->store);
}

bool trial_side_open(TrialSide *side, const char *list_id, GError **error)
{
    side->lists = list_cache_new(side->store);
    side->list = list_cache_get(side->lists, list_id, error);
    return side->list != NULL;
}

/* ---- one post ---- */

void trial_begin(const TrialRules *shared, const TrialSide *side, const TrialMail *mail, Message *message, Post *post)
{
    const json_t *meta = mail->meta;
    g_autofree char *password = approved_take(message);
    post_init(post);
    post->store = side->store;
    post->lists = side->lists;
    post->list = side->list;
    post->message = message;
    post->site = &shared->setup.site;
    post->archivers = (const PostArchiver *)(const void *)shared->archivers->data;
    post->no_requests = shared->no_requests;
    post->names = shared->names;
    post->sender = meta_string(meta, KEY_SENDER, "");
    post->recipient = meta_string(meta, KEY_RECIPIENT, NULL);
    post->message_id = meta_string(meta, KEY_MESSAGE_ID, NULL);
    post->left = meta_string(meta, KEY_LEFT, NULL);
    post->left_reason = meta_string(meta, KEY_LEFT_REASON, NULL);
    post->from_news = meta_string(meta, KEY_FROM_NEWS, NULL) != NULL;
    post->now = post->arrival = mail->arrival;
    post->size = g_bytes_get_size(mail->octets);
}

/* By the verdict of the rules, and by post->end of the handlers. */
static TrialFate fate_of(const Post *post, Verdict verdict)
{
    static const TrialFate verdicts[] = {[VERDICT_NONE] = TRIAL_HELD,
                                         [VERDICT_ACCEPT] = TRIAL_ACCEPTED,
                                         [VERDICT_HOLD] = TRIAL_HELD,
                                         [VERDICT_REJECT] = TRIAL_REJECTED,
                                         [VERDICT_DISCARD] = TRIAL_DISCARDED};
    static const TrialFate ends[] = {[POST_DISCARDED] = TRIAL_DISCARDED,
                                     [POST_REJECTED] = TRIAL_REJECTED,
                                     [POST_FORWARDED] = TRIAL_FORWARDED,
                                     [POST_PRESERVED] = TRIAL_PRESERVED};
    return post->end == POST_GOES ? verdicts[verdict] : ends[post->end];
}

bool trial_judge(Post *post, TrialFate *fate, char **reasons, GError **error)
{
    /* The rules, and what the list does by itself; in a transaction of the scratch store, for the sake of speed. */
    Verdict verdict;
    bool stranger;
    if (!store_begin(post->store, error))
        return false;
    if (!judge_run(post, &verdict, error) || !judge_enter(post, &verdict, &stranger, error)) {
        store_rollback(post->store);
        return false;
    }
    if ((verdict == VERDICT_ACCEPT || verdict == VERDICT_HOLD) &&
        autorespond_action(post->list, AUTORESPOND_TO_POSTINGS) == AUTORESPOND_AND_DISCARD) {
        verdict = VERDICT_DISCARD;
        post_add_reason(post, AUTORESPOND_KEEPS_NONE);
    }
    if (!store_commit(post->store, error))
        return false;

    const char *name = post->list->settings->posting_pipeline;
    const Pipeline *pipeline = verdict == VERDICT_ACCEPT ? order_pipeline(post->site->orders, name) : NULL;
    if (pipeline && !pipeline_run(pipeline, post, error))
        return false;
    if (verdict == VERDICT_ACCEPT && !pipeline) {
        post->end = POST_PRESERVED;
        post_add_reason(post, "The configuration has no pipeline %s.", name);
    }
    *fate = fate_of(post, verdict);
    *reasons = *fate == TRIAL_ACCEPTED ? g_strdup("") : post_reasons(post, " ");
    return true;
}

GBytes *trial_leaves(const Post *post, const PostSend *send)
{
    if (!send->pieces)
        return message_octets(send->message ? send->message : post->message);
    g_autoptr(GByteArray) joined = g_byte_array_new();
    for (guint at = 0; at < send->pieces->len; at++) {
        gsize length;
        const guint8 *data = g_bytes_get_data(send->pieces->pdata[at], &length);
        if (length > 0)
            g_byte_array_append(joined, data, (guint)length);
    }
    return g_byte_array_free_to_bytes(g_steal_pointer(&joined));
}
