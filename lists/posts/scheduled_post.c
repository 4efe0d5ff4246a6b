/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/posts/scheduled_post.h"

#include <string.h>

#include "base/clock.h"
#include "lists/change.h"
#include "lists/event.h"
#include "lists/keys.h"
#include "lists/letters/held_notice.h"
#include "lists/letters/letter.h"
#include "mail/answer.h"
#include "mail/message.h"
#include "store/lists/list_setting.h"
#include "store/people/member.h"
#include "switchboard/meta.h"

/* ---- what became of it ---- */

static bool tell_list(Work *work, const Scheduled *post, const char *result, GError **error)
{
    g_autofree char *sender = g_utf8_strdown(post->sender ? post->sender : "", -1);
    g_autofree char *subject = template_brief(post->subject ? post->subject : "");
    return change_log(work, post->list_id, &(Change){LOG_SCHEDULED, sender, subject, result}, error);
}

/* Write it into the log and into that of the list. */
static bool tell(Work *work, const Scheduled *post, const char *result, GError **error)
{
    work_log(work, post->list_id, "scheduled=%" G_GINT64_FORMAT " message-id=%s by=<%s> result=%s", post->number,
             post->message_id ? post->message_id : "-", work_by(work), result);
    return tell_list(work, post, result, error);
}

static bool tell_time(Work *work, const Scheduled *post, int64_t due, GError **error)
{
    g_autofree char *time = clock_text(due), *result = g_strdup_printf("schedule %s", time);
    return tell(work, post, result, error);
}

bool scheduled_post_keep(Work *work, Scheduled *post, GError **error)
{
    return scheduled_add(work_store(work), post, error) && tell_time(work, post, post->due_at, error);
}

bool scheduled_post_note_over(Work *work, const Scheduled *post, GError **error)
{
    g_autofree char *time = clock_text(post->due_at), *result = g_strdup_printf("send, as %s is over", time);
    return tell_list(work, post, result, error);
}

static bool write_letter(Work *work, const List *list, const Scheduled *post, const char *key, const char *to,
                         GError **error)
{
    g_autofree char *subject = template_brief(post->subject ? post->subject : "");
    g_autoptr(Mailbox) reader = mailbox_new(to);
    g_autofree char *time = clock_rfc5322(post->due_at), *language = letter_language(work, list, reader);
    g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT, post->number);
    const TemplateValue numbered[] = {{"number", number}, {0}};
    g_autofree char *what = letter_sentence(work, list, language, key, numbered);
    const TemplateValue values[] = {{"subject", subject}, {"time", time}, {"number", number}, {"what", what}, {0}};
    g_autoptr(json_t) meta = post->meta ? meta_parse(post->meta, strlen(post->meta), NULL) : NULL;
    ListLetter letter = {.template = "post_scheduled",
                         .values = values,
                         .language = language,
                         .to = to,
                         .in_reply_to = post->message_id ? post->message_id : "",
                         .trace = meta_string(meta, META_TRACE, NULL)};
    return work_letter(work, list, &letter, error);
}

bool scheduled_post_tell(Work *work, const List *list, const Scheduled *post, const char *to, GError **error)
{
    return write_letter(work, list, post, post->number > 0 ? "scheduled_waits" : "scheduled_over", to, error);
}

/* ---- to the list ---- */

/* The post's metadata, as they were when it came. */
static json_t *read_meta(const Scheduled *post, GError **error)
{
    json_t *meta = post->meta ? meta_parse(post->meta, strlen(post->meta), error) : json_object();
    if (!meta)
        g_prefix_error(error, "its metadata cannot be read: ");
    return meta;
}

char *scheduled_post_fault(const Scheduled *post, int64_t now)
{
    g_autoptr(GError) unreadable = NULL;
    g_autoptr(json_t) meta = read_meta(post, &unreadable);
    if (!meta)
        return g_strdup(unreadable->message);
    return now - post->due_at > SCHEDULED_LATE ? g_strdup("it should have been sent; listrunner task ls shows why not")
                                               : NULL;
}

/* Leave an entry for the queue pipeline. Takes meta. */
static void enter(Work *work, const char *list_id, json_t *meta, GBytes *message)
{
    meta_set_string(meta, META_LIST, list_id);
    json_object_del(meta, META_ORDINAL); /* that of its row in the outbox takes the place */
    json_object_del(meta, META_SHARD);
    json_object_del(meta, META_ARRIVAL); /* its time begins anew: it may have waited for longer than mail lives */
    json_object_del(meta, KEY_SEND_AT);
    GPtrArray *pieces = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    g_ptr_array_add(pieces, g_bytes_ref(message));
    work_entry(work, "pipeline", meta, pieces, NULL);
}

bool scheduled_post_accept(Work *work, const Held *held, json_t *meta, GError **error)
{
    int64_t due = meta_integer(meta, KEY_SEND_AT, 0);
    meta_set_bool(meta, KEY_MODERATED, true);
    if (due <= work_now(work)) {
        enter(work, held->list_id, meta, held->message);
        return true;
    }
    g_autofree char *text = meta_print(meta);
    json_decref(meta);
    Scheduled post = {.list_id = held->list_id,
                      .message_id = held->message_id,
                      .subject = held->subject,
                      .sender = held->sender,
                      .meta = text,
                      .made_at = work_now(work),
                      .due_at = due,
                      .message = held->message};
    if (!scheduled_post_keep(work, &post, error))
        return false;
    g_autoptr(Message) message = message_new(held->message);
    if (!held->sender || !answer_allowed(held->sender, message))
        return true;
    g_autoptr(List) list = list_by_id(work_store(work), held->list_id, error);
    return list && scheduled_post_tell(work, list, &post, held->sender, error);
}

/* The row goes first: of two that send it, one alone goes on. */
static bool send(Work *work, const Scheduled *post, GError **error)
{
    json_t *meta = read_meta(post, error);
    if (!meta)
        return false;
    meta_set_bool(meta, KEY_SCHEDULED, true);
    if (!scheduled_remove(work_store(work), post->number, error) || !tell(work, post, "send", error)) {
        json_decref(meta);
        return false;
    }
    enter(work, post->list_id, meta, post->message);
    g_autoptr(List) list = list_by_id(work_store(work), post->list_id, error);
    if (!list)
        return false;
    event_tell(work, EVENT_POST_ACCEPTED, post->list_id,
               json_pack("{ss* ss* ss*}", "sender",
                         list->settings->anonymous_list ? list->posting_address : post->sender, "subject",
                         post->subject, "message_id", post->message_id));
    return true;
}

bool scheduled_post_send(Work *work, int64_t number, GError **error)
{
    g_autoptr(Scheduled) post = scheduled_find(work_store(work), number, error);
    return post && send(work, post, error);
}

bool scheduled_post_move(Work *work, int64_t number, int64_t due, GError **error)
{
    g_autoptr(Scheduled) post = scheduled_find(work_store(work), number, error);
    if (!post)
        return false;
    if (due <= work_now(work))
        return send(work, post, error);
    return scheduled_set_due(work_store(work), number, due, error) && tell_time(work, post, due, error);
}

bool scheduled_post_drop(Work *work, int64_t number, GError **error)
{
    g_autoptr(Scheduled) post = scheduled_find(work_store(work), number, error);
    return post && scheduled_remove(work_store(work), number, error) && tell(work, post, "drop", error);
}

/* ---- when it is due ---- */

bool scheduled_post_due(Work *work, int64_t number, GError **error)
{
    Store *store = work_store(work);
    g_autoptr(Scheduled) post = scheduled_find(store, number, error);
    g_autoptr(List) list = post ? list_by_id(store, post->list_id, error) : NULL;
    g_autofree char *why = NULL;
    if (!list)
        return false;
    /* The moderators are to look at it before it goes, where moderation was tightened meanwhile. */
    g_autoptr(Mailbox) author = mailbox_new(post->author);
    bool runs = !author;
    for (int at = 0; at < 2 && !runs && !list->settings->emergency; at++) {
        Member *found;
        if (!member_look_up(store, list->list_id, at == 0 ? ROLE_OWNER : ROLE_MODERATOR, author, &found, error))
            return false;
        runs = found;
        member_free(found);
    }
    if (list->settings->emergency)
        why = g_strdup("Emergency moderation is in effect for this list.");
    else if (!runs)
        why = g_strdup_printf("The sender %s does not run the list any more, and had the post sent at a time.",
                              post->author);
    if (!why)
        return send(work, post, error);

    /* Held, it is told of as any other, and accepted it goes at once. */
    Held held = {.list_id = post->list_id,
                 .message_id = post->message_id,
                 .subject = post->subject,
                 .sender = post->sender,
                 .reason = why,
                 .meta = post->meta,
                 .held_at = work_now(work),
                 .size = post->size,
                 .message = post->message};
    return scheduled_remove(store, post->number, error) && held_add(store, &held, error) &&
           tell(work, post, "hold", error) && held_tell_moderators(work, list, &held, error);
}

/* ---- the list goes ---- */

static bool note_all(const Scheduled *post, void *data)
{
    g_array_append_val((GArray *)data, post->number);
    return true;
}

bool scheduled_post_list_goes(Work *work, const List *list, GError **error)
{
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(int64_t));
    bool fine = scheduled_each(work_store(work), list->list_id, note_all, numbers, error);
    for (unsigned at = 0; fine && at < numbers->len; at++) {
        g_autoptr(Scheduled) post = scheduled_find(work_store(work), g_array_index(numbers, int64_t, at), error);
        const char *to = post && post->author ? post->author : post ? post->sender : NULL;
        g_autoptr(Message) message = post ? message_new(post->message) : NULL;
        fine = post &&
               (!to || !answer_allowed(to, message) || write_letter(work, list, post, "scheduled_gone", to, error));
    }
    return fine;
}
