/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/posts/held_post.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mailbox.h"
#include "lists/change.h"
#include "lists/event.h"
#include "lists/keys.h"
#include "lists/letters/letter.h"
#include "lists/people/ban.h"
#include "lists/people/people.h"
#include "lists/people/roster.h"
#include "lists/posts/refused.h"
#include "lists/posts/scheduled_post.h"
#include "mail/answer.h"
#include "mail/message.h"
#include "store/lists/list_setting.h"
#include "store/posts/held.h"
#include "switchboard/meta.h"

#define ATTACH_MAX (48 * 1024) /* bytes of the post's header */
#define EXPIRE_MAX 200         /* posts in one transaction */
#define DAY (24 * 3600 * CLOCK_SECOND)

/* The post's metadata; those of a post that a program held without any are empty. */
static json_t *read_meta(const Held *held, GError **error)
{
    return held->meta ? meta_parse(held->meta, strlen(held->meta), error) : json_object();
}

static bool accept(Work *work, const Held *held, GError **error)
{
    json_t *meta = read_meta(held, error);
    return meta && scheduled_post_accept(work, held, meta, error);
}

static bool reject(Work *work, const Held *held, const char *reason, bool *told, GError **error)
{
    *told = false;
    if (!held->message || !held->sender)
        return true;
    g_autoptr(Message) message = message_new(held->message);
    *told = answer_allowed(held->sender, message);
    if (!*told)
        return true;
    g_autoptr(List) list = list_by_id(work_store(work), held->list_id, error);
    if (!list)
        return false;
    g_autofree char *subject = template_brief(held->subject ? held->subject : "");
    g_autoptr(Mailbox) reader = mailbox_new(held->sender);
    g_autofree char *language = letter_language(work, list, reader);
    g_autofree char *none = letter_sentence(work, list, language, "no_reason", NULL);
    g_autoptr(GString) indented = g_string_new(reason && *reason ? reason : none);
    g_string_replace(indented, "\n", "\n    ", 0);
    const TemplateValue values[] = {
        {"subject", subject}, {"sender", held->sender}, {"reasons", indented->str}, {0}};
    g_autoptr(json_t) post = read_meta(held, NULL);
    ListLetter letter = {.template = "rejected", .values = values, .language = language, .to = held->sender,
                         .in_reply_to = held->message_id ? held->message_id : "", .attach = NOTICE_HEADER,
                         .about = held->message, .most = ATTACH_MAX, .trace = meta_string(post, META_TRACE, NULL)};
    return work_letter(work, list, &letter, error);
}

/* The other rules still look at what the sender writes. */
static bool allow_sender(Work *work, const Held *held, GError **error)
{
    Store *store = work_store(work);
    g_autoptr(Mailbox) address = mailbox_new(held->sender);
    if (!address || !address->valid)
        return true;
    for (int at = 0; at < 2; at++) {
        Member *found;
        if (!member_look_up(store, held->list_id, at == 0 ? ROLE_MEMBER : ROLE_NONMEMBER, address, &found, error))
            return false;
        g_autoptr(Member) member = found;
        if (member)
            return people_set_moderation(work, member, ACTION_DEFER, error);
    }
    const RosterEntry sender = {.role = ROLE_NONMEMBER, .address = address};
    return roster_add(work, held->list_id, &sender, error) &&
           member_set_moderation(store, held->list_id, ROLE_NONMEMBER, address, ACTION_DEFER, error);
}

/* The site may want to try changes with what was refused. A transaction that fails later leaves a file that stands for
 * the post itself, which waits on; the next verdict finds it there. */
static void keep_refused(const Work *work, const Held *held)
{
    const Config *config = work_site(work)->config;
    if (!refused_wanted(config))
        return;
    g_autoptr(json_t) meta = held->meta ? read_meta(held, NULL) : NULL;
    g_autofree char *trace = g_strdup_printf("held%" G_GINT64_FORMAT, held->number);
    const Refused mail = {.list_id = held->list_id,
                          .arrival = held->held_at,
                          .trace = trace,
                          .fate = (char *)REFUSED_HELD,
                          .reasons = held->reason ? held->reason : (char *)"",
                          .meta = meta,
                          .octets = held->message};
    if (g_str_equal(meta_string(meta, KEY_TO, TO_POSTING), TO_POSTING))
        refused_keep(config, &mail);
}

/* Tell programs outside, and write it into the list's log, where moderators look for earlier posts of a sender. A post
 * that nobody decided about in time has no row: strangers could fill the log with such. */
static bool tell_decided(Work *work, const Held *held, const char *verdict, const char *by, GError **error)
{
    g_autofree char *sender = g_utf8_strdown(held->sender ? held->sender : "", -1);
    g_autofree char *subject = template_brief(held->subject ? held->subject : "");
    event_tell(work, EVENT_POST_DECIDED, held->list_id,
               json_pack("{sI ss* ss* ss* ss ss}", "request_id", (json_int_t)held->list_number, "sender", held->sender,
                         "subject", held->subject, "message_id", held->message_id, "verdict", verdict, "by", by));
    return work_actor(work)->door == DOOR_TIMER ||
           change_log(work, held->list_id, &(Change){LOG_POST, sender, subject, verdict}, error);
}

bool held_post_decide(Work *work, int64_t number, HeldVerdict verdict, const char *reason, bool *told, GError **error)
{
    static const char *const results[] = {
        [HELD_ACCEPT] = "accepted", [HELD_ALLOW] = "accepted (and its sender from now on)", [HELD_REJECT] = "rejected",
        [HELD_DISCARD] = "discarded", [HELD_BAN] = "discarded (and its sender banned)", [HELD_DEFER] = "deferred",
    };
    static const char *const words[] = {[HELD_ACCEPT] = "accept", [HELD_ALLOW] = "accept", [HELD_REJECT] = "reject",
                                        [HELD_DISCARD] = "discard", [HELD_BAN] = "discard", [HELD_DEFER] = "defer"};
    *told = false;
    g_autoptr(Held) held = held_find(work_store(work), number, error);
    if (!held)
        return false;
    if ((verdict == HELD_ACCEPT || verdict == HELD_ALLOW) && !accept(work, held, error))
        return false;
    if (verdict == HELD_ALLOW && !allow_sender(work, held, error))
        return false;
    if (verdict == HELD_REJECT && !reject(work, held, reason, told, error))
        return false;
    if (verdict == HELD_BAN) {
        g_autoptr(List) list = list_by_id(work_store(work), held->list_id, error);
        if (!list || (held->sender && mailbox_valid(held->sender) && !ban_address(work, list, held->sender, error)))
            return false;
    }
    work_log(work, held->list_id, "held=%" G_GINT64_FORMAT " by=<%s> result=%s", number,
             work_by(work), results[verdict]);
    if (verdict == HELD_DEFER)
        return true;
    if (verdict == HELD_REJECT || verdict == HELD_DISCARD || verdict == HELD_BAN)
        keep_refused(work, held);
    return tell_decided(work, held, words[verdict], work_by(work), error) &&
           held_remove(work_store(work), number, error);
}

bool held_post_confirm(Work *work, const List *list, const char *token, char **list_id, GError **error)
{
    g_autoptr(GError) missing = NULL;
    g_autoptr(Held) held = held_find_token(work_store(work), token, work_now(work), &missing);
    *list_id = NULL;
    if (!held && !g_error_matches(missing, FAIL, FAIL_MISSING))
        return fail_with(error, &missing);
    if (!held || (list && strcmp(held->list_id, list->list_id) != 0))
        return true;
    work_log(work, held->list_id, "held=%" G_GINT64_FORMAT " by=<%s> result=accepted (its sender confirmed)",
             held->number, work_by(work));
    if (!tell_decided(work, held, "accept", work_by(work), error) || !accept(work, held, error) ||
        !held_remove(work_store(work), held->number, error))
        return false;
    *list_id = g_strdup(held->list_id);
    return true;
}

bool held_post_forward(Work *work, const Held *held, const char *address, GError **error)
{
    if (!mailbox_legible(address))
        return fail(error, FAIL_NEVER, "\"%s\" is no address", address);
    g_autoptr(List) list = list_by_id(work_store(work), held->list_id, error);
    if (!list)
        return false;
    g_autofree char *subject = template_brief(held->subject ? held->subject : "");
    g_autofree char *sender = template_brief(held->sender ? held->sender : "");
    g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, held->number);
    g_autofree char *size = g_strdup_printf("%" G_GINT64_FORMAT, held->size);
    const TemplateValue values[] = {{"subject", subject}, {"sender", sender}, {"reasons", held->reason},
                                    {"number", text},     {"size", size},     {0}};
    ListLetter letter = {.template = "held_forward", .values = values, .to = address, .attach = NOTICE_MESSAGE,
                         .about = held->message};
    work_log(work, held->list_id, "held=%s by=<%s> result=forwarded to=<%s>", text,
             work_by(work), address);
    return work_letter(work, list, &letter, error);
}

/* Keeps what is told of the post; its metadata may be large. */
static bool note_expired(const Held *held, void *data)
{
    GPtrArray *expired = data;
    Held *copy = g_new0(Held, 1);
    *copy = (Held){.number = held->number, .list_number = held->list_number, .list_id = g_strdup(held->list_id),
                   .message_id = g_strdup(held->message_id), .subject = g_strdup(held->subject),
                   .sender = g_strdup(held->sender)};
    g_ptr_array_add(expired, copy);
    return expired->len < EXPIRE_MAX;
}

static bool discard_all(Work *work, const HeldFilter *which, const char *why, int64_t *discarded, GError **error)
{
    g_autoptr(GPtrArray) expired = g_ptr_array_new_with_free_func((GDestroyNotify)held_free);
    if (!held_select(work_store(work), which, note_expired, expired, error))
        return false;
    for (unsigned at = 0; at < expired->len; at++) {
        const Held *held = expired->pdata[at];
        work_log(work, held->list_id, "held=%" G_GINT64_FORMAT " result=discarded (%s)", held->number, why);
        if (!tell_decided(work, held, "discard", "task", error) || /* the runner whose timer it was */
            !held_remove(work_store(work), held->number, error))
            return false;
    }
    *discarded += expired->len;
    return true;
}

bool held_post_expire(Work *work, const List *list, int64_t *discarded, GError **error)
{
    *discarded = 0;
    const HeldFilter unconfirmed = {.list_id = list->list_id, .asked_before = work_now(work)};
    if (!discard_all(work, &unconfirmed, "its sender did not confirm the address", discarded, error))
        return false;
    if (list->settings->max_days_to_hold == 0)
        return true;
    const HeldFilter old = {.list_id = list->list_id,
                            .before = work_now(work) - list->settings->max_days_to_hold * DAY};
    g_autofree char *why = g_strdup_printf("held for max_days_to_hold = %" G_GINT64_FORMAT,
                                           list->settings->max_days_to_hold);
    return discard_all(work, &old, why, discarded, error);
}
