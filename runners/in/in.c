/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The in runner: runs each post through its chain and does what the verdict says. An accepted post leaves in the same
 * hop, through its handlers (post_hop.h); a held one goes into the store; whoever must be told is told through virgin.
 *
 * An entry takes three steps. decide() runs the rules, which only read the store. settle() writes, in one short
 * transaction for the whole batch, what the verdict leaves there: the accounts of the rules, the number of the post or
 * the held row, the count of answers, and under the entry's name that this was done. finish() makes the entries. When
 * the process dies after the second step, the entry comes again and finds its number recorded.
 *
 * An accepted post that is to be sent at a time makes no entries: it goes into the store, as a held one does, and its
 * author is told (lists/posts/scheduled_post.h). One whose time is over goes at once, and its author is told, too.
 */
#include <inttypes.h>

#include "base/fail.h"
#include "base/ip.h"
#include "base/log.h"
#include "lists/event.h"
#include "lists/keys.h"
#include "lists/letters/autorespond.h"
#include "lists/letters/held_notice.h"
#include "lists/letters/letter.h"
#include "lists/posts/refused.h"
#include "lists/posts/scheduled_post.h"
#include "mail/answer.h"
#include "mail/date.h"
#include "mail/header.h"
#include "mail/text/approved.h"
#include "posting/chain.h"
#include "runners/posts/post_hop.h"
#include "runners/posts/post_names.h"
#include "store/lists/list_post.h"
#include "store/lists/list_setting.h"
#include "store/people/account.h"
#include "store/people/stranger.h"

/* The metadata of the entry with what the rules found, for a row of the store; g_free(). */
static char *describe(const ListRunnerPost *own)
{
    g_autoptr(json_t) meta = json_deep_copy(entry_meta(own->entry));
    post_hop_findings(meta, &own->post);
    if (own->schedule.due > 0)
        meta_set_integer(meta, KEY_SEND_AT, own->schedule.due);
    return meta_print(meta);
}

static char *subject_of(const Post *post)
{
    g_autofree char *raw = message_value(post->message, "Subject");
    return header_decode(raw ? raw : "");
}

static bool store_held(ListRunnerPost *own, GError **error)
{
    Post *post = &own->post;
    g_autofree char *subject = subject_of(post), *reasons = post_reasons(post, " ");
    g_autofree char *meta_text = describe(own);
    g_autoptr(GBytes) octets = message_octets(post->message);
    const char *first = post_first_sender(post);
    g_autofree char *sender = g_utf8_make_valid(first ? first : "", -1);
    Held held = {.list_id = post->list->list_id,
                 .message_id = (char *)(post->message_id ? post->message_id : post->trace),
                 .subject = subject,
                 .sender = sender,
                 .reason = reasons,
                 .meta = meta_text,
                 .held_at = post->now,
                 .message = octets,
                 .stranger = own->stranger,
                 .spool = (char *)post->spool};
    if (!held_add(post->store, &held, error))
        return false;
    own->number = held.number;
    return true;
}

/* *held is NULL when somebody has decided about it since: then there is nothing left to tell. */
static bool find_held(const Post *post, int64_t number, Held **held, GError **error)
{
    g_autoptr(GError) fault = NULL;
    *held = held_find(post->store, number, &fault);
    return *held || fail_unless(error, FAIL_MISSING, &fault);
}

/* From here on, a number under which an effect is recorded is that of a post that waits for its time. */
#define SCHEDULED_FROM (INT64_C(1) << 62)

/* Decide on the post. A post that was accepted or held at an earlier try stays so, even if the list would now do
 * something else with it. The number under which the entry's effect is recorded is that of the held post, or minus that
 * of the accepted one. */
static bool decide(ListRunnerPost *own, GError **error)
{
    Post *post = &own->post;
    bool numbered = own->before && own->number != 0;
    if (numbered) {
        own->scheduled = own->number > SCHEDULED_FROM ? own->number - SCHEDULED_FROM : 0;
        own->verdict = own->number > 0 && !own->scheduled ? VERDICT_HOLD : VERDICT_ACCEPT;
        post->post_id = own->number < 0 ? -own->number : 0;
    }
    if (numbered && own->verdict == VERDICT_HOLD) { /* its reasons are in the row */
        Held *found;
        if (!find_held(post, own->number, &found, error))
            return false;
        g_autoptr(Held) held = found;
        if (held)
            post_add_reason(post, "%s", held->reason);
        return true;
    }
    Verdict verdict;
    if (!judge_run(post, &verdict, error)) /* again where it is known: it finds the member and the hits */
        return false;
    if (!numbered)
        own->verdict = verdict;
    return true;
}

/* ---- posts that are to be sent at a time ---- */

/* The time that the post itself says counts, else the one with which the shell or REST handed it in. text may be
 * NULL. */
static bool decide_time(ListRunnerPost *own, const char *text, GError **error)
{
    if (own->before && own->number != 0) { /* decided at an earlier try */
        if (own->number < 0)
            schedule_recall(&own->post, text, &own->schedule);
        return true;
    }
    if (text)
        return schedule_judge(&own->post, text, &own->verdict, &own->schedule, error);
    int64_t due = meta_integer(entry_meta(own->entry), KEY_SEND_AT, 0);
    own->schedule.due = due > own->post.now ? due : 0;
    return true;
}

static Scheduled *describe_scheduled(ListRunnerPost *own, int64_t due)
{
    Post *post = &own->post;
    const char *sender = post_first_sender(post);
    Scheduled *scheduled = g_new(Scheduled, 1);
    *scheduled = (Scheduled){.list_id = g_strdup(post->list->list_id),
                             .message_id = g_strdup(post->message_id ? post->message_id : post->trace),
                             .subject = subject_of(post),
                             .sender = g_utf8_make_valid(sender ? sender : "", -1),
                             .author = g_strdup(own->schedule.author),
                             .meta = describe(own),
                             .made_at = post->now,
                             .due_at = due,
                             .message = message_octets(post->message)};
    return scheduled;
}

static bool tell_author(Work *work, Post *post, const Scheduled *scheduled, GError **error)
{
    bool allowed;
    if (!post_may_answer(post))
        return true;
    return letter_allowed(work, post->list, post->sender, &allowed, error) &&
           (!allowed || scheduled_post_tell(work, post->list, scheduled, post->sender, error));
}

/* Keep it, and tell the author of a mail. What was kept at an earlier try may be gone since. */
static bool schedule_post(Work *work, ListRunnerPost *own, GError **error)
{
    Post *post = &own->post;
    if (!own->before) {
        g_autoptr(Scheduled) new = describe_scheduled(own, own->schedule.due);
        if (!scheduled_post_keep(work, new, error))
            return false;
        own->scheduled = new->number;
        own->number = SCHEDULED_FROM + new->number;
    }
    if (meta_integer(entry_meta(own->entry), KEY_SEND_AT, 0) > 0)
        return true;
    g_autoptr(GError) missing = NULL;
    g_autoptr(Scheduled) kept = scheduled_find(post->store, own->scheduled, &missing);
    if (!kept && !g_error_matches(missing, FAIL, FAIL_MISSING))
        return fail_with(error, &missing);
    return !kept || tell_author(work, post, kept, error);
}

/* The post goes at once, since its time was over when it came. */
static bool tell_over(Work *work, ListRunnerPost *own, GError **error)
{
    g_autoptr(Scheduled) over = describe_scheduled(own, own->schedule.over);
    return (own->before || scheduled_post_note_over(work, over, error)) && tell_author(work, &own->post, over, error);
}

/* ---- passwords of moderators ---- */

/* Wrong passwords that mail of one network may bring to a list within an hour: looking at one takes some 20 ms. */
#define PASSWORDS_MOST 10
/* The same where the host is not known: it is the mail of everybody, so more must be needed to lock moderators out. */
#define PASSWORDS_MOST_UNKNOWN 1000

/* These are the wrong passwords of the batch in hand, which are not in the database yet: of char *, as
 * decide_with_password() has it. */
static GPtrArray *wrong_passwords;

/* Run the rules, with the password of a moderator that stood in the post. After too many wrong ones from the same
 * network none is looked at; then the post is judged as one without. */
static bool decide_with_password(ListRunnerPost *own, const char *password, GError **error)
{
    Post *post = &own->post;
    g_autofree char *host = list_runner_host(post->message), *network = host ? ip_network(host) : NULL;
    g_autofree char *source = g_strdup_printf("%s %s", post->list->list_id, network ? network : "-");
    int64_t wrong, most = network ? PASSWORDS_MOST : PASSWORDS_MOST_UNKNOWN;
    if (!account_count(post->store, ACCOUNT_PASSWORDS, source, post->now, &wrong, error))
        return false;
    for (unsigned at = 0; at < wrong_passwords->len; at++)
        wrong += g_str_equal(wrong_passwords->pdata[at], source);
    bool may = wrong < most;
    if (!may)
        log_warn("%s list=%s a password is not looked at: %" PRId64 " wrong ones came from there within an hour",
                 post->trace, post->list->list_id, most);
    post->password = may ? password : NULL;
    bool done = decide(own, error);
    post->password = NULL;
    /* The chain may have ended before the rule that looks at it. */
    if (done && may && !own->before &&
        g_ptr_array_find_with_equal_func(post->misses, rule_approved.name, g_str_equal, NULL)) {
        g_ptr_array_add(wrong_passwords, g_strdup(source));
        own->wrong_password = g_steal_pointer(&source);
    }
    return done;
}

static bool begin_batch(Runner *runner, GError **error)
{
    g_ptr_array_set_size(wrong_passwords, 0);
    return list_runner_refresh(runner, error);
}

static bool start(Runner *runner, GError **error)
{
    wrong_passwords = g_ptr_array_new_with_free_func(g_free);
    return list_posts_start(runner, error);
}

static void stop(Runner *runner)
{
    list_posts_stop(runner);
    g_clear_pointer(&wrong_passwords, g_ptr_array_unref);
}

static bool handle(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    g_autoptr(ListRunnerPost) own = list_runner_post_new(runner, entry, judge_soon, outcome, error);
    if (!own)
        return false;
    if (!post_names_ready(runner, entry, &own->post, outcome))
        return true;
    /* Nobody is to see it, whatever becomes of the post. */
    const bool posting = g_str_equal(list_runner_asked(entry), TO_POSTING);
    g_autofree char *password = posting ? approved_take(own->post.message) : NULL;
    g_autofree char *time = posting ? send_at_take(own->post.message) : NULL;
    bool given = password && *password && *own->post.list->settings->moderator_password;
    if (!(given ? decide_with_password(own, password, error) : decide(own, error)) ||
        (posting && !decide_time(own, time, error)))
        return false;
    own->settles = true;
    list_runner_keep(runner, g_steal_pointer(&own));
    return true;
}

/* The letters that are written in the transaction, since rows go with them; finish() lets them out. */
static Work *letters_of(Runner *runner, ListRunnerPost *own)
{
    if (!own->letters) {
        own->letters = list_runner_work(runner_data(runner), own->entry);
        list_runner_set_host(own->letters, own->post.message);
    }
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

/* A stranger's post may wait for the stranger instead of a moderator. *asked: a letter goes to the address in From. */
static bool ask_sender(Runner *runner, ListRunnerPost *own, const Held *held, bool *asked, GError **error)
{
    Post *post = &own->post;
    *asked = held->asked_until > 0; /* at an earlier try, whose letter was lost with its process */
    if (!*asked) {
        bool wanted = own->schedule.due == 0 && /* a moderator is to see it */
                      g_ptr_array_find_with_equal_func(post->hits, rule_sender_confirmation.name, g_str_equal, NULL);
        if (!wanted || post->no_requests || !post_may_answer(post) || !answer_allowed(held->sender, post->message))
            return true;
        g_autoptr(Mailbox) address = mailbox_new(held->sender);
        const LetterAsking asking = {.address = address, .kind = "post"};
        if (!letter_asking_allowed(letters_of(runner, own), post->list, &asking, asked, error))
            return false;
    }
    return !*asked || held_ask_sender(letters_of(runner, own), post->list, held, error);
}

static bool hold_post(Runner *runner, ListRunnerPost *own, GError **error)
{
    Held *found;
    Post *post = &own->post;
    const List *list = post->list;
    const GPtrArray *senders = post_senders(post);
    bool asked, poster = false;
    if (!own->before && !store_held(own, error))
        return false;
    /* A stranger whose post is held is a nonmember of the list from then on, as with Mailman, so that moderators can
     * say what becomes of the next one. */
    if (!own->before && senders->len > 0 &&
        g_ptr_array_find_with_equal_func(post->hits, "nonmember-moderation", g_str_equal, NULL)) {
        g_autoptr(GError) refusal = NULL;
        if (!stranger_note(post->store, list->list_id, senders->pdata[0], post->now, &refusal) &&
            !fail_unless(error, FAIL_NEVER, &refusal))
            return false;
    }
    if (!find_held(post, own->number, &found, error))
        return false;
    g_autoptr(Held) held = found;
    if (!held)
        return true;
    if (!ask_sender(runner, own, held, &asked, error))
        return false;
    if (asked)
        return true;
    if (list->settings->respond_to_post_requests && !may_answer(runner, own, &poster, error))
        return false;
    return (!poster || held_tell_poster(letters_of(runner, own), list, held, post->sender, error)) &&
           held_tell_moderators(letters_of(runner, own), list, held, error);
}

/* The list may answer such mail by a program, and want no more done with it. */
static bool respond(Runner *runner, ListRunnerPost *own, GError **error)
{
    Post *post = &own->post;
    bool for_owners = g_str_equal(list_runner_asked(own->entry), TO_OWNER);
    AutorespondTo to = for_owners ? AUTORESPOND_TO_OWNER : AUTORESPOND_TO_POSTINGS;
    Autorespond action = autorespond_action(post->list, to);
    if (action == AUTORESPOND_NONE || (own->verdict != VERDICT_ACCEPT && own->verdict != VERDICT_HOLD))
        return true;
    g_autofree char *raw = message_value(post->message, "Subject"), *subject = raw ? header_decode(raw) : NULL;
    g_autofree char *key = list_runner_effect(own->entry);
    const AutorespondMail mail = {.to = to, .may_answer = post_may_answer(post), .sender = post->sender,
                                  .message_id = post->message_id, .subject = subject, .entry = key};
    if (action == AUTORESPOND_AND_DISCARD && own->number == 0) { /* else an earlier try let it pass */
        own->verdict = VERDICT_DISCARD;
        post_add_reason(post, AUTORESPOND_KEEPS_NONE);
    }
    return autorespond(letters_of(runner, own), post->list, &mail, error);
}

static bool settle(Runner *runner, ListRunnerPost *own, GError **error)
{
    Post *post = &own->post;
    int64_t total;
    if ((own->wrong_password &&
         !account_add(post->store, ACCOUNT_PASSWORDS, own->wrong_password, post->now, &total, error)) ||
        (!own->before && !judge_enter(post, &own->verdict, &own->stranger, error)) || !respond(runner, own, error))
        return false;
    bool done = true;
    if (own->verdict == VERDICT_ACCEPT && (own->schedule.due > 0 || own->scheduled)) {
        done = schedule_post(letters_of(runner, own), own, error);
    } else if (own->verdict == VERDICT_ACCEPT) {
        if (!own->before && !g_str_equal(list_runner_asked(own->entry), TO_OWNER)) { /* which is not counted */
            post->post_id = post->next_id;
            if (!(post->next_id > 0
                      ? list_take_number(post->store, post->list->list_id, post->now, post->next_id, error)
                      : list_count_post(post->store, post->list->list_id, post->now, &post->post_id, error)))
                return false;
            own->number = -post->post_id;
        }
        done = own->schedule.over == 0 || tell_over(letters_of(runner, own), own, error);
    } else if (own->verdict == VERDICT_HOLD) {
        done = hold_post(runner, own, error);
    } else if (own->verdict == VERDICT_REJECT) {
        done = may_answer(runner, own, &own->tell, error);
    }
    return done && (own->before || own->number == 0 ||
                    list_runner_record_effect(runner, own->entry, own->number, error));
}

static bool end_batch(Runner *runner, GError **error)
{
    return list_runner_settle(runner, settle, error);
}

/* The site may want to try changes with what the list does not let pass, by its rules or its content filter. */
static void keep_refused(const ListRunnerPost *own, const Config *config)
{
    const Post *post = &own->post;
    const bool rejected = own->verdict == VERDICT_REJECT || post->end == POST_REJECTED;
    const bool discarded = own->verdict == VERDICT_DISCARD || post->end == POST_DISCARDED;
    if (!(rejected || discarded) || !refused_wanted(config) || !g_str_equal(list_runner_asked(own->entry), TO_POSTING))
        return;
    g_autoptr(GBytes) octets = entry_message(own->entry);
    g_autoptr(Message) message = message_new(octets); /* as it came, which handlers have changed */
    g_autofree char *password = approved_take(message), *reasons = post_reasons(post, " ");
    g_autofree char *valid = g_utf8_make_valid(reasons, -1);
    g_autoptr(GBytes) clean = message_octets(message);
    refused_keep(config, &(Refused){.list_id = post->list->list_id,
                                    .arrival = post->arrival,
                                    .trace = (char *)(uintptr_t)post->trace,
                                    .fate = (char *)(rejected ? REFUSED_REJECTED : REFUSED_DISCARDED),
                                    .reasons = valid,
                                    .meta = entry_meta(own->entry),
                                    .octets = clean});
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
    if (own->scheduled) /* it is accepted when it goes to the list */
        return;
    if (!shared->site.tells || !g_str_equal(list_runner_asked(own->entry), TO_POSTING) || own->verdict == VERDICT_NONE)
        return;
    g_autoptr(Work) work = list_runner_work(runner_data(runner), own->entry);
    g_autofree char *reasons = post_reasons(post, " ");
    json_t *data = json_object();
    add_text(data, "sender", post->list->settings->anonymous_list ? post->list->posting_address : post->sender);
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

/* Of a post that is held, or discarded, the log line is all that is left. */
static bool finish(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    g_autoptr(ListRunnerPost) own = list_runner_take(runner, outcome);
    Post *post = &own->post;
    if (own->letters)
        list_runner_work_into(own->letters, outcome);
    g_autofree char *raw = message_value(post->message, "Subject"); /* before handlers change it */
    g_autofree char *subject = raw ? header_decode(raw) : NULL;
    if (own->verdict == VERDICT_ACCEPT && !own->scheduled && !post_hop(runner, entry, post, outcome, error))
        return false;
    if (own->verdict == VERDICT_REJECT) {
        if (own->tell)
            post_send_letter(post, "rejected", post->sender, true);
        if (!post_leave(runner, entry, post, outcome, error))
            return false;
    }
    keep_refused(own, ((const ListRunner *)runner_data(runner))->site.config);
    tell_outside(runner, own, subject, outcome);
    const char *result = own->scheduled           ? "scheduled"
                         : post->end == POST_GOES ? verdict_text(own->verdict)
                                                  : post_end_text(post->end);
    post_hop_log(entry, post, outcome, result);
    return true;
}

static const RunnerSpec spec = {
    .name = "in",
    .longest_wait = RUNNER_WAIT_MAX,
    .start = start,
    .begin_batch = begin_batch,
    .handle = handle,
    .end_batch = end_batch,
    .finish = finish,
    .stop = stop,
};

int main(int argc, char **argv)
{
    return runner_main(&spec, argc, argv);
}
