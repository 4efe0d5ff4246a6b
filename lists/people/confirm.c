/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/people/confirm.h"

#include <string.h>

#include "base/fail.h"
#include "lists/people/leave.h"
#include "lists/people/own_address.h"
#include "lists/people/roster.h"
#include "lists/people/subscription_internal.h"
#include "lists/posts/held_post.h"
#include "store/lists/list_setting.h"
#include "store/people/ban.h"
#include "store/people/departure.h"
#include "store/posts/held.h"

/* How many unknown tokens somebody brings does not count: nobody guesses 128 random bits, and a limit would keep those
 * from confirming who share a network, or the name of a sender, with a stranger. */
static bool refuse(Work *work, const List *list, const char *token, Subscription *subscription, GError **error)
{
    static const char *const fates[] = {"unknown", "used", "expired", "replaced"};
    if (!pending_token_fate(work_store(work), token, work_now(work), &subscription->fate, error))
        return false;
    work_log(work, list ? list->list_id : "-", "by=<%s> result=bad-token (%s)", work_by(work),
             fates[subscription->fate]);
    return true;
}

/* Undo the departure that has the token, if nothing hinders it. The result BAD_TOKEN: no departure from this list has
 * the token; if list is NULL, none from any list. */
static bool undo_departure(Work *work, const List *list, const char *token, Consent consent, Subscription *subscription,
                           GError **error)
{
    Store *store = work_store(work);
    g_autoptr(GError) missing = NULL;
    g_autoptr(Departure) departure = departure_find_token(store, token, work_now(work), &missing);
    if (!departure && !g_error_matches(missing, FAIL, FAIL_MISSING))
        return fail_with(error, &missing);
    *subscription = (Subscription){.result = SUBSCRIPTION_BAD_TOKEN};
    if (!departure || (list && strcmp(departure->list_id, list->list_id) != 0))
        return true;
    g_autoptr(List) own = list_by_id(store, departure->list_id, error);
    if (!own)
        return false;

    const char *list_id = own->list_id;
    const Mailbox *address = departure->address;
    SubscriptionResult result = SUBSCRIPTION_NOT_SAID;
    if (consent == CONSENT_SAID) {
        char *sentence;
        g_auto(AddressStanding) standing = {0};
        if (!standing_read(store, list_id, address, &standing, error) ||
            !own_address_bars(work, list_id, ROLE_MEMBER, address->text, &sentence, error))
            return false;
        g_autofree char *why = sentence;
        result = standing.banned      ? SUBSCRIPTION_BANNED
                 : why                ? SUBSCRIPTION_OWN_ADDRESS
                 : standing.is_member ? SUBSCRIPTION_NO_CHANGE
                                      : SUBSCRIPTION_RESTORED;
    }
    if (result == SUBSCRIPTION_RESTORED) {
        const Pending request = {.kind = PENDING_JOIN, .list_id = own->list_id, .address = address};
        if (!departure_undo(store, token, work_now(work), error) ||
            !roster_came(work, list_id, ROLE_MEMBER, address->text, error) ||
            (own->settings->admin_notify_mchanges &&
             !subscription_tell_owners(work, own, &request, "member_joined", NULL, error)))
            return false;
    }
    *subscription = (Subscription){
        .result = result, .kind = PENDING_JOIN, .list_id = g_strdup(list_id), .address = g_strdup(address->text)};
    work_log(work, list_id, "undo=<%s> by=<%s> left-way=%s result=%s", address->text, work_by(work),
             leave_way_text((LeaveWay)departure->way), subscription_result_text(result));
    return true;
}

bool confirm_token(Work *work, const List *list, const char *token, Consent consent, Subscription *subscription,
                   GError **error)
{
    g_autoptr(GError) missing = NULL;
    *subscription = (Subscription){.result = SUBSCRIPTION_BAD_TOKEN};
    g_autoptr(Pending) request = pending_find_token(work_store(work), token, work_now(work), &missing);
    if (!request && !g_error_matches(missing, FAIL, FAIL_MISSING))
        return fail_with(error, &missing);
    if (!request && !held_post_confirm(work, list, token, &subscription->list_id, error))
        return false;
    if (subscription->list_id) {
        subscription->result = SUBSCRIPTION_POSTED;
        return true;
    }
    if (!request)
        return undo_departure(work, list, token, consent, subscription, error) &&
               (subscription->result != SUBSCRIPTION_BAD_TOKEN || refuse(work, list, token, subscription, error));
    if (list && strcmp(request->list_id, list->list_id) != 0)
        return refuse(work, list, token, subscription, error);
    bool second = request->kind == PENDING_CHANGE_ADDRESS && request->facts & FACT_APPROVED;
    g_autoptr(List) own = list_by_id(work_store(work), request->list_id, error);
    if (own && request->kind == PENDING_CHANGE_ADDRESS && consent != CONSENT_SAID) {
        subscription->result = SUBSCRIPTION_NOT_SAID;
        subscription_note(work, own, request, subscription);
        return true;
    }
    if (!own || !subscription_answered(work, own, request, error))
        return false;
    if (request->kind != PENDING_CHANGE_ADDRESS)
        request->facts = (request->facts | FACT_VERIFIED | FACT_CONFIRMED | FACT_ANSWERED) & ~(unsigned)FACT_VOUCHED;
    else /* the address that goes is asked first, then the one that comes */
        request->facts |= second ? FACT_CONFIRMED : FACT_APPROVED;
    if (request->kind == PENDING_LEAVE)
        request->way = (int)leave_way_of(work_actor(work)->door);
    return subscription_advance(work, own, request, subscription, error);
}

/* ---- looking ---- */

void confirm_view_clear(ConfirmView *view)
{
    g_clear_pointer(&view->list_id, g_free);
    g_clear_pointer(&view->address, g_free);
    g_clear_pointer(&view->detail, g_free);
}

static bool look_for_request(Work *work, const char *token, ConfirmView *view, GError **error)
{
    g_autoptr(Pending) request = pending_find_token(work_store(work), token, work_now(work), error);
    if (!request)
        return false;
    *view = (ConfirmView){.kind = CONFIRM_REQUEST,
                          .request = request->kind,
                          .list_id = g_steal_pointer(&request->list_id),
                          .address = g_strdup(request->address->text),
                          .detail = g_steal_pointer(&request->detail),
                          .expires_at = request->expires_at};
    return true;
}

static bool look_for_post(Work *work, const char *token, ConfirmView *view, GError **error)
{
    g_autoptr(Held) held = held_find_token(work_store(work), token, work_now(work), error);
    if (!held)
        return false;
    *view = (ConfirmView){.kind = CONFIRM_POST,
                          .list_id = g_strdup(held->list_id),
                          .address = g_strdup(held->sender),
                          .detail = g_strdup(held->subject),
                          .expires_at = held->asked_until};
    return true;
}

static bool look_for_departure(Work *work, const char *token, ConfirmView *view, GError **error)
{
    g_autoptr(Departure) departure = departure_find_token(work_store(work), token, work_now(work), error);
    if (!departure)
        return false;
    *view = (ConfirmView){.kind = CONFIRM_UNDO,
                          .list_id = g_steal_pointer(&departure->list_id),
                          .address = g_strdup(departure->address->text),
                          .expires_at = departure->expires_at};
    return true;
}

bool confirm_peek(Work *work, const List *list, const char *token, ConfirmView *view, GError **error)
{
    static bool (*const looks[])(Work *, const char *, ConfirmView *,
                                 GError **) = {look_for_request, look_for_post, look_for_departure};
    bool found = false;
    *view = (ConfirmView){0};
    for (size_t at = 0; at < G_N_ELEMENTS(looks) && !found; at++) {
        g_autoptr(GError) missing = NULL;
        found = looks[at](work, token, view, &missing);
        if (!found && !g_error_matches(missing, FAIL, FAIL_MISSING))
            return fail_with(error, &missing);
    }
    if (found && (!list || strcmp(view->list_id, list->list_id) == 0))
        return true;
    confirm_view_clear(view);
    *view = (ConfirmView){.kind = CONFIRM_NOTHING};
    return pending_token_fate(work_store(work), token, work_now(work), &view->fate, error);
}
