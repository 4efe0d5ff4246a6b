/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/people/request.h"

#include "base/fail.h"
#include "lists/change.h"
#include "lists/event.h"
#include "lists/letters/letter.h"
#include "lists/people/ban.h"
#include "lists/people/leave.h"
#include "lists/people/subscription_internal.h"

static bool decide(Work *work, Pending *request, RequestVerdict verdict, const char *reason,
                   Subscription *subscription, GError **error)
{
    Store *store = work_store(work);
    ActorRole role = work_actor(work)->role;
    bool joins = request->kind == PENDING_JOIN, of_list = joins || request->kind == PENDING_LEAVE;
    g_autoptr(List) list = list_by_id(store, request->list_id, error);
    if (!list)
        return false;
    *subscription = (Subscription){.kind = request->kind};

    /* A holder of one list may confirm in the person's place, but only what concerns that list. */
    if (verdict == REQUEST_CONFIRM && request->waits_for == PENDING_PERSON &&
        (role == ACTOR_OPERATOR || (role == ACTOR_OWNER && of_list))) {
        request->facts |= FACT_VERIFIED | FACT_CONFIRMED;
        if (role != ACTOR_OPERATOR)
            request->facts |= FACT_VOUCHED;
        if (request->kind == PENDING_LEAVE)
            request->way = (int)leave_way_of(work_actor(work)->door);
        if (request->kind == PENDING_CHANGE_ADDRESS) /* for both addresses */
            request->facts |= FACT_APPROVED;
        return subscription_advance(work, list, request, subscription, error);
    }
    if (request->waits_for == PENDING_PERSON && verdict != REQUEST_DISCARD && verdict != REQUEST_BAN)
        return fail(error, FAIL_NEVER,
                    "request %" G_GINT64_FORMAT " waits for %s, who was sent a letter; it can only be discarded",
                    request->number, request->address->text);
    if (verdict == REQUEST_ACCEPT || verdict == REQUEST_CONFIRM) {
        request->facts |= FACT_VERIFIED | FACT_CONFIRMED | FACT_APPROVED;
        return subscription_advance(work, list, request, subscription, error);
    }

    subscription->result = verdict == REQUEST_DEFER ? SUBSCRIPTION_KEPT : SUBSCRIPTION_REFUSED;
    subscription->list_id = g_strdup(list->list_id);
    subscription->address = g_strdup(request->address->text);
    work_log(work, list->list_id, "%s=<%s> by=<%s> result=%s", pending_kind_text(request->kind), request->address->text,
             work_by(work), subscription_result_text(subscription->result));
    if (verdict == REQUEST_DEFER) {
        request->expires_at = work_now(work) + work_site(work)->moderator_request_life;
        return pending_put(store, request, NULL, error);
    }
    if (!pending_remove(store, request->number, TOKEN_EXPIRED, error) ||
        (verdict == REQUEST_BAN && !ban_address(work, list, request->address->text, error)))
        return false;
    if (verdict != REQUEST_REJECT)
        return true;
    g_autofree char *language = letter_language(work, list, request->address);
    g_autofree char *none = letter_sentence(work, list, language, "no_reason", NULL);
    g_autofree char *asked = letter_sentence(work, list, language, joins ? "asked_to_join" : "asked_to_leave", NULL);
    const TemplateValue values[] = {
        {"address", request->address->text}, {"request", asked}, {"reason", reason && *reason ? reason : none}, {0}};
    ListLetter letter = {.template = joins ? "join_rejected" : "leave_rejected",
                         .values = values,
                         .language = language,
                         .to = request->address->text};
    return work_letter(work, list, &letter, error);
}

bool request_decide(Work *work, int64_t number, RequestVerdict verdict, const char *reason,
                    Subscription *subscription, GError **error)
{
    static const char *const words[] = {[REQUEST_ACCEPT] = "accept", [REQUEST_REJECT] = "reject",
                                        [REQUEST_DISCARD] = "discard", [REQUEST_DEFER] = "defer",
                                        [REQUEST_BAN] = "ban", [REQUEST_CONFIRM] = "confirm"};
    g_autoptr(Pending) request = pending_find(work_store(work), number, work_now(work), error);
    if (!request || !decide(work, request, verdict, reason, subscription, error))
        return false;
    if (verdict == REQUEST_DEFER)
        return true;
    event_tell(work, EVENT_REQUEST_DECIDED, request->list_id,
               json_pack("{ss ss sI ss ss}", "kind", pending_kind_text(request->kind), "email", request->address->text,
                         "number", (json_int_t)number, "verdict", words[verdict], "by", work_by(work)));
    g_autofree char *lower = g_utf8_strdown(request->address->text, -1);
    return change_log(work, request->list_id,
                      &(Change){LOG_REQUEST, lower, pending_kind_text(request->kind), words[verdict]}, error);
}
