/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* This takes over all that waits for somebody: held posts, requests, digests. */
#include <string.h>

#include "base/fail.h"
#include "lists/keys.h"
#include "lists/moving/moving_internal.h"
#include "mail/header.h"
#include "mail/message.h"
#include "store/people/user.h"
#include "store/posts/autoresponse.h"
#include "store/posts/digest.h"
#include "store/posts/ticket.h"
#include "switchboard/meta.h"

typedef struct Same {
    const Held *held;
    int64_t number;
} Same;

static bool see_same(const Held *held, void *data)
{
    Same *same = data;
    if (g_strcmp0(held->message_id, same->held->message_id) == 0)
        same->number = held->number;
    return same->number == 0;
}

bool moving_held(Moving *moving, Held *held, GError **error)
{
    Work *work;
    GError *refusal = NULL;
    Store *store = moving->site.store;
    Same same = {held, 0};
    /* A post of the same time with the same Message-ID is the same: an import that was cut short brought it. */
    const HeldFilter filter = {.list_id = held->list_id, .after = held->held_at, .before = held->held_at + 1};
    g_autoptr(Member) member = NULL;
    if (!moving_try(moving, &work, error))
        return false;
    bool done = held_select(store, &filter, see_same, &same, &refusal) &&
                (!held->sender || !*held->sender ||
                 member_look_up(store, held->list_id, ROLE_MEMBER, held->sender, &member, &refusal));
    held->stranger = !member;
    done = done && (same.number ? fail(&refusal, FAIL_EXISTS, "held") : held_add(store, held, &refusal)) &&
           held_set_told(store, held->number, HELD_TOLD_ALONE, &refusal);
    held->number = done ? held->number : same.number;
    g_autofree char *key = g_strdup_printf("held post <%s>", held->message_id ? held->message_id : "");
    return moving_settle(moving, done, refusal, &(MovingThing){MOVING_HELD, held->list_id, key}, NULL, error);
}

char *moving_post_meta(const List *list, const char *message_id, const char *sender)
{
    g_autoptr(json_t) meta = json_object();
    meta_set_string(meta, META_LIST, list->list_id);
    meta_set_string(meta, KEY_TO, TO_POSTING);
    meta_set_string(meta, KEY_RECIPIENT, list->posting_address);
    meta_set_string(meta, KEY_SENDER, sender ? sender : "");
    meta_set_string(meta, KEY_MESSAGE_ID, message_id);
    return meta_print(meta);
}

bool moving_post(Moving *moving, const List *list, Held *held, const char *sender, GError **error)
{
    g_autoptr(Message) parsed = message_new(held->message);
    g_autofree char *id = message_id_brief(parsed), *raw = message_value(parsed, "Subject");
    g_autofree char *subject = header_decode(raw ? raw : "");
    held->message_id = id;
    held->subject = subject;
    g_autofree char *meta = moving_post_meta(list, held->message_id, sender);
    held->meta = meta;
    bool done = moving_held(moving, held, error);
    held->message_id = held->subject = held->meta = NULL;
    return done;
}

bool moving_request(Moving *moving, const Pending *request, const char *token, GError **error)
{
    Work *work;
    GError *refusal = NULL;
    Pending copy = *request, *there = NULL;
    copy.facts = moving_facts(moving, request->facts);
    copy.as_user = request->as_user && moving->site.of_site;
    if (!moving_try(moving, &work, error))
        return false;
    bool done = pending_find_like(moving->site.store, request, work_now(work), &there, &refusal) &&
                (there ? fail(&refusal, FAIL_EXISTS, "asked")
                       : pending_put(moving->site.store, &copy, token, &refusal));
    pending_free(there);
    g_autofree char *key = g_strdup_printf("request to %s of %s", pending_kind_text(request->kind), request->address);
    return moving_settle(moving, done, refusal, &(MovingThing){MOVING_REQUESTS, request->list_id, key}, NULL, error);
}

bool moving_ticket(Moving *moving, const char *list_id, int64_t held, const char *token, int64_t expires_at,
                   GError **error)
{
    Work *work;
    GError *refusal = NULL;
    Store *store = moving->site.store;
    Ticket ticket = {.list_id = (char *)list_id, .first = held, .last = held, .expires_at = expires_at};
    if (!moving_try(moving, &work, error))
        return false;
    g_autoptr(GError) missing = NULL;
    g_autoptr(Ticket) there = ticket_find(store, token, work_now(work), &missing);
    g_auto(GStrv) moderators = there ? NULL : list_administrators(store, list_id, &refusal);
    bool done = false;
    if (there)
        fail(&refusal, FAIL_EXISTS, "there");
    else if (moderators && !*moderators)
        fail(&refusal, FAIL_NEVER, "the list has neither owner nor moderator who could answer");
    else if (moderators) {
        ticket.moderator = *moderators;
        done = ticket_put(store, &ticket, token, &refusal);
    }
    g_autofree char *key = g_strdup_printf("letter about held post %" G_GINT64_FORMAT, held);
    return moving_settle(moving, done, refusal, &(MovingThing){MOVING_TICKETS, list_id, key}, NULL, error);
}

bool moving_digest_post(Moving *moving, const char *list_id, GBytes *post, int64_t time, GError **error)
{
    Work *work;
    GError *refusal = NULL;
    if (!moving_try(moving, &work, error))
        return false;
    bool done = digest_collect(moving->site.store, list_id, post, time, &refusal);
    return moving_settle(moving, done, refusal, &(MovingThing){MOVING_DIGEST_POSTS, list_id, "digest"}, NULL, error);
}

bool moving_last_digest(Moving *moving, const char *list_id, const char *address, DeliveryMode mode, GError **error)
{
    Work *work;
    bool known;
    g_autoptr(GError) refusal = NULL;
    KnownAddress *found = NULL;
    if (!moving_try(moving, &work, error))
        return false;
    bool done = address_look_up(moving->site.store, address, &found, &refusal) &&
                (found ? carry_row(moving->site.store, "digest_last", list_id, &known, &refusal, TEXT(address),
                                   INTEGER(mode))
                       : fail(&refusal, FAIL_MISSING, "the address %s is not known", address));
    known_address_free(found);
    store_savepoint_end(moving->site.store, done);
    if (!done && g_error_matches(refusal, FAIL, FAIL_LATER))
        return fail_with(error, &refusal);
    if (!done)
        moving_tell(moving, MOVING_LEFT_OUT, list_id, "last digest", "%s", refusal->message);
    return moving_step(moving, error);
}

bool moving_answered(Moving *moving, const char *list_id, const char *kind, const char *address, int64_t time,
                     GError **error)
{
    Work *work;
    bool due = false;
    GError *refusal = NULL;
    const Autoresponse response = {.list_id = list_id,
                                   .kind = kind,
                                   .address = address,
                                   .entry = moving->source,
                                   .now = time,
                                   .grace = INT64_MAX / 2};
    if (!moving_try(moving, &work, error))
        return false;
    bool done = autoresponse_record(moving->site.store, &response, &due, &refusal);
    if (done && !due)
        done = fail(&refusal, FAIL_EXISTS, "answered");
    return moving_settle(moving, done, refusal, &(MovingThing){MOVING_ANSWERS, list_id, address}, NULL, error);
}
