/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The in runner: runs each post through its chain and does what the verdict says. An accepted post leaves in the same
 * hop, through its handlers (post_hop.h); a held one goes into the store; whoever must be told is told through virgin.
 *
 * An entry takes three steps. decide() runs the rules, which only read the store. settle() writes, in one short
 * transaction for the whole batch, what the verdict leaves there: the Message-ID, the number of the post or the held
 * row, the count of answers, and under the entry's name that this was done. finish() makes the entries. When the
 * process dies after the second step, the entry comes again and finds its number recorded.
 */
#include "base/fail.h"
#include "base/log.h"
#include "lists/autorespond.h"
#include "lists/event.h"
#include "lists/held_notice.h"
#include "lists/letter.h"
#include "mail/answer.h"
#include "mail/approved.h"
#include "mail/header.h"
#include "posting/order.h"
#include "runners/keys.h"
#include "runners/post_hop.h"
#include "runners/post_names.h"

static const char *asked_for(Entry *entry)
{
    return meta_string(entry_meta(entry), KEY_TO, TO_POSTING);
}

static bool store_held(Entry *entry, Post *post, int64_t *number, GError **error)
{
    g_autoptr(json_t) meta = json_deep_copy(entry_meta(entry));
    post_hop_findings(meta, post);
    g_autofree char *raw = message_value(post->message, "Subject");
    g_autofree char *subject = header_decode(raw ? raw : ""), *reasons = post_reasons(post, " ");
    g_autofree char *meta_text = meta_print(meta);
    g_autoptr(GBytes) octets = message_octets(post->message);
    const GPtrArray *senders = post_senders(post);
    g_autofree char *sender = g_utf8_make_valid(senders->len > 0 ? senders->pdata[0] : "", -1);
    Held held = {.list_id = post->list->list_id,
                 .message_id = (char *)(post->message_id ? post->message_id : post->trace),
                 .subject = subject, .sender = sender, .reason = reasons, .meta = meta_text, .held_at = post->now,
                 .message = octets};
    if (!held_add(post->store, &held, error))
        return false;
    *number = held.number;
    return true;
}

/* *held is NULL when somebody has decided about it since: then there is nothing left to tell. */
static bool find_held(const Post *post, int64_t number, Held **held, GError **error)
{
    g_autoptr(GError) fault = NULL;
    *held = held_find(post->store, number, &fault);
    if (*held || g_error_matches(fault, FAIL, FAIL_MISSING))
        return true;
    g_propagate_error(error, g_steal_pointer(&fault));
    return false;
}

/* What was held at an earlier try has its reasons from there. */
static bool recall_held(ListRunnerPost *own, GError **error)
{
    Held *found;
    if (!find_held(&own->post, own->number, &found, error))
        return false;
    g_autoptr(Held) held = found;
    if (held)
        post_add_reason(&own->post, "%s", held->reason);
    return true;
}

/* The number under which an entry's effect is recorded is that of the held post, or minus that of the accepted one. 0:
 * neither got a number, but an entry from the outbox is noted. */
static void recall(ListRunnerPost *own)
{
    own->verdict = own->number > 0 ? VERDICT_HOLD : VERDICT_ACCEPT;
    own->post.post_id = own->number < 0 ? -own->number : 0;
}

/* What was accepted or held at an earlier try stays so, even if the list would now do something else with it. */
static bool decide(ListRunnerPost *own, GError **error)
{
    Post *post = &own->post;
    const char *name = g_str_equal(asked_for(own->entry), TO_OWNER) ? post->list->owner_chain
                                                                   : post->list->posting_chain;
    const Chain *chain = order_chain(post->site->orders, name);
    if (!chain) {
        log_error("list %s: there is no chain %s; its posts are held", post->list->list_id, name);
        post_add_reason(post, "The configuration has no chain %s.", name);
        chain = &chain_hold;
    }
    bool numbered = own->before && own->number != 0;
    if (numbered)
        recall(own);
    if (numbered && own->verdict == VERDICT_HOLD)
        return recall_held(own, error);
    Verdict verdict;
    if (!chain_run(chain, post, &verdict, error)) /* again where it is known: it finds the member and the hits */
        return false;
    if (!numbered)
        own->verdict = verdict;
    return true;
}

static bool handle(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    g_autoptr(ListRunnerPost) own = list_runner_post_new(runner, entry, outcome, error);
    if (!own)
        return false;
    if (!post_names_ready(runner, entry, &own->post, outcome))
        return true;
    /* Nobody is to see it, whatever becomes of the post. */
    g_autofree char *password =
        g_str_equal(asked_for(entry), TO_POSTING) ? approved_take(own->post.message) : NULL;
    own->post.password = password;
    if (!decide(own, error))
        return false;
    own->post.password = NULL;
    own->settles = true;
    list_runner_keep(runner, g_steal_pointer(&own));
    return true;
}

/* Two posts with one Message-ID may be decided at the same time, here and in another process: the first to be recorded
 * stays. */
static bool record_message_id(ListRunnerPost *own, GError **error)
{
    Post *post = &own->post;
    bool known = false;
    if (!post->message_key || (own->verdict != VERDICT_ACCEPT && own->verdict != VERDICT_HOLD))
        return true;
    if (!list_record_message_id(post->store, post->list->list_id, post->message_key, post->trace, post->now, &known,
                                error))
        return false;
    if (known) {
        own->verdict = VERDICT_DISCARD;
        post_note_duplicate(post);
    }
    return true;
}

/* The same for posts that came through the rule burst: many may be decided at the same time, and each is counted before
 * the next one is asked for. */
static bool count_for_burst(ListRunnerPost *own, GError **error)
{
    Post *post = &own->post;
    unsigned place;
    bool hit;
    if (post->list->burst_factor == 0 || own->verdict != VERDICT_ACCEPT ||
        !g_ptr_array_find_with_equal_func(post->misses, rule_burst.name, g_str_equal, &place))
        return true;
    if (!rule_burst.check(post, &hit, error))
        return false;
    if (hit) {
        own->verdict = VERDICT_HOLD;
        g_ptr_array_remove_index(post->misses, place);
        g_ptr_array_add(post->hits, (gpointer)rule_burst.name);
        return true;
    }
    const char *poster = post_poster(post);
    return (!poster || pace_count(post->store, post->list->list_id, poster, post->now, error)) &&
           pace_count(post->store, post->list->list_id, NULL, post->now, error);
}

/* The letters that are written in the transaction, since rows go with them; finish() lets them out. */
static Work *letters_of(Runner *runner, ListRunnerPost *own)
{
    if (!own->letters)
        own->letters = list_runner_work(runner_data(runner), own->entry);
    return own->letters;
}

/* May the sender be told, and was not told too often today? */
static bool may_answer(Runner *runner, ListRunnerPost *own, bool *allowed, GError **error)
{
    *allowed = post_may_answer(&own->post);
    if (!*allowed)
        return true;
    return letter_allowed(letters_of(runner, own), own->post.list, own->post.sender, allowed, error);
}

/* number stays 0 for mail to the owners, which is not counted. */
static bool accept_post(ListRunnerPost *own, GError **error)
{
    Post *post = &own->post;
    if (g_str_equal(asked_for(own->entry), TO_OWNER))
        return true;
    if (!list_count_post(post->store, post->list->list_id, post->now, &post->post_id, error))
        return false;
    own->number = -post->post_id;
    return true;
}

/* A stranger whose post is held is a nonmember of the list from then on, as with Mailman, so that moderators can say
 * what becomes of the next one. */
static bool know_stranger(Post *post, GError **error)
{
    g_autoptr(GError) refusal = NULL;
    const GPtrArray *senders = post_senders(post);
    if (!g_ptr_array_find_with_equal_func(post->hits, "nonmember-moderation", g_str_equal, NULL) || senders->len == 0 ||
        member_add(post->store, post->list->list_id, ROLE_NONMEMBER, senders->pdata[0], NULL, NULL, &refusal) ||
        g_error_matches(refusal, FAIL, FAIL_EXISTS) || g_error_matches(refusal, FAIL, FAIL_NEVER))
        return true;
    g_propagate_error(error, g_steal_pointer(&refusal));
    return false;
}

/* A stranger's post may wait for the stranger instead of a moderator. *asked: a letter goes to the address in From. */
static bool ask_sender(Runner *runner, ListRunnerPost *own, const Held *held, bool *asked, GError **error)
{
    Post *post = &own->post;
    *asked = held->asked_until > 0; /* at an earlier try, whose letter was lost with its process */
    if (!*asked) {
        bool wanted = g_ptr_array_find_with_equal_func(post->hits, rule_sender_confirmation.name, g_str_equal, NULL);
        if (!wanted || post->no_requests || !post_may_answer(post) || !answer_allowed(held->sender, post->message))
            return true;
        if (!letter_allowed(letters_of(runner, own), post->list, held->sender, asked, error))
            return false;
    }
    return !*asked || held_ask_sender(letters_of(runner, own), post->list, held, error);
}

static bool hold_post(Runner *runner, ListRunnerPost *own, GError **error)
{
    Held *found;
    const List *list = own->post.list;
    bool asked, poster = false;
    if (!own->before &&
        (!store_held(own->entry, &own->post, &own->number, error) || !know_stranger(&own->post, error)))
        return false;
    if (!find_held(&own->post, own->number, &found, error))
        return false;
    g_autoptr(Held) held = found;
    if (!held)
        return true;
    if (!ask_sender(runner, own, held, &asked, error))
        return false;
    if (asked)
        return true;
    if (list->respond_to_post_requests && !may_answer(runner, own, &poster, error))
        return false;
    return (!poster || held_tell_poster(letters_of(runner, own), list, held, own->post.sender, error)) &&
           held_tell_moderators(letters_of(runner, own), list, held, error);
}

/* The list may answer such mail by a program, and want no more done with it. */
static bool respond(Runner *runner, ListRunnerPost *own, GError **error)
{
    Post *post = &own->post;
    AutorespondTo to = g_str_equal(asked_for(own->entry), TO_OWNER) ? AUTORESPOND_TO_OWNER : AUTORESPOND_TO_POSTINGS;
    Autorespond action = autorespond_action(post->list, to);
    if (action == AUTORESPOND_NONE || (own->verdict != VERDICT_ACCEPT && own->verdict != VERDICT_HOLD))
        return true;
    g_autofree char *raw = message_value(post->message, "Subject"), *subject = raw ? header_decode(raw) : NULL;
    g_autofree char *key = list_runner_effect(own->entry);
    const AutorespondMail mail = {.to = to, .may_answer = post_may_answer(post), .sender = post->sender,
                                  .message_id = post->message_id, .subject = subject, .entry = key};
    if (action == AUTORESPOND_AND_DISCARD && own->number == 0) { /* else an earlier try let it pass */
        own->verdict = VERDICT_DISCARD;
        post_add_reason(post, "The list answers such mail and keeps none.");
    }
    return autorespond(letters_of(runner, own), post->list, &mail, error);
}

static bool settle(Runner *runner, ListRunnerPost *own, GError **error)
{
    bool done = (own->before || (record_message_id(own, error) && count_for_burst(own, error))) &&
                respond(runner, own, error);
    if (done && own->verdict == VERDICT_ACCEPT)
        done = own->before || accept_post(own, error);
    else if (done && own->verdict == VERDICT_HOLD)
        done = hold_post(runner, own, error);
    else if (done && own->verdict == VERDICT_REJECT)
        done = may_answer(runner, own, &own->tell, error);
    bool noted = own->number != 0 || meta_bool(entry_meta(own->entry), KEY_OUTBOX, false);
    return done && (own->before || !noted || list_runner_record_effect(runner, own->entry, own->number, error));
}

static bool end_batch(Runner *runner, GError **error)
{
    return list_runner_settle(runner, settle, error);
}

static bool act(Runner *runner, ListRunnerPost *own, Outcome *outcome, GError **error)
{
    switch ((Verdict)own->verdict) {
    case VERDICT_ACCEPT:
        return post_hop(runner, own->entry, &own->post, outcome, error);
    case VERDICT_REJECT:
        if (own->tell)
            post_send_letter(&own->post, "rejected", own->post.sender, true);
        return post_leave(runner, own->entry, &own->post, outcome, error);
    default:
        return true; /* held, or discarded: the log line is all that is left */
    }
}

static void add_text(json_t *data, const char *key, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text ? text : "", -1);
    json_object_set_new(data, key, json_string(valid));
}

/* Programs outside hear of posts, not of mail to the owners. */
static void tell_outside(Runner *runner, const ListRunnerPost *own, const char *subject, Outcome *outcome)
{
    static const char *const types[] = {[VERDICT_ACCEPT] = EVENT_POST_ACCEPTED, [VERDICT_HOLD] = EVENT_POST_HELD,
                                        [VERDICT_REJECT] = EVENT_POST_REJECTED,
                                        [VERDICT_DISCARD] = EVENT_POST_DISCARDED};
    const Post *post = &own->post;
    const ListRunner *shared = runner_data(runner);
    if (!shared->site.tells || !g_str_equal(asked_for(own->entry), TO_POSTING) || own->verdict == VERDICT_NONE)
        return;
    g_autoptr(Work) work = list_runner_work(runner_data(runner), own->entry);
    g_autofree char *reasons = post_reasons(post, " ");
    json_t *data = json_object();
    add_text(data, "sender", post->list->anonymous_list ? post->list->posting_address : post->sender);
    add_text(data, "subject", subject);
    add_text(data, "message_id", post->message_id);
    if (*reasons)
        add_text(data, "reason", reasons);
    if (post->post_id > 0)
        json_object_set_new(data, "post_id", json_integer(post->post_id));
    const char *type = post->end == POST_GOES ? types[own->verdict] /* else a handler ended it */
                       : post->end == POST_REJECTED ? EVENT_POST_REJECTED
                                                    : EVENT_POST_DISCARDED;
    event_tell(work, type, post->list->list_id, data);
    list_runner_work_into(work, outcome);
}

static bool finish(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    g_autoptr(ListRunnerPost) own = list_runner_take(runner, outcome);
    const Post *post = &own->post;
    if (own->letters)
        list_runner_work_into(own->letters, outcome);
    g_autofree char *raw = message_value(post->message, "Subject"); /* before handlers change it */
    g_autofree char *subject = raw ? header_decode(raw) : NULL;
    if (!act(runner, own, outcome, error))
        return false;
    tell_outside(runner, own, subject, outcome);
    const char *result = post->end == POST_GOES ? verdict_text((Verdict)own->verdict) : post_end_text(post->end);
    g_autofree char *reasons = post_reasons(post, " ");
    g_autofree char *number = post->post_id > 0 ? g_strdup_printf(" post=%" G_GINT64_FORMAT, post->post_id) : NULL;
    list_runner_log(entry, "to=%s from=%s message-id=%s%s entries=%u result=%s%s%s%s", asked_for(entry), post->sender,
                    post->message_id ? post->message_id : "-", number ? number : "", outcome->drafts->len,
                    result, *reasons ? " (" : "", reasons, *reasons ? ")" : "");
    return true;
}

static const RunnerSpec spec = {
    .name = "in",
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
