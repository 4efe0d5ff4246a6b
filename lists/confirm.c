/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/confirm.h"

#include <string.h>

#include "base/fail.h"
#include "lists/guessing.h"
#include "lists/held_post.h"
#include "lists/subscription_internal.h"
#include "lists/workflow.h"
#include "store/held.h"

/* *subscription says why the token is not good; one that nobody ever made is a guess. */
static bool refuse(Work *work, const List *list, const char *token, Subscription *subscription, GError **error)
{
    static const char *const fates[] = {"unknown", "used", "expired", "replaced"};
    const char *list_id = list ? list->list_id : "-";
    bool allowed;
    if (!pending_token_fate(work_store(work), token, work_now(work), &subscription->fate, error))
        return false;
    if (subscription->fate == TOKEN_UNKNOWN) {
        if (!guessing_allows(work, NULL, &allowed, error) || !guessing_note(work, list_id, error))
            return false;
        if (!allowed) {
            subscription->result = SUBSCRIPTION_GUESSING; /* the log has it already */
            return true;
        }
    }
    work_log(work, list_id, "by=<%s> result=bad-token (%s)", work_by(work), fates[subscription->fate]);
    return true;
}

bool confirm_token(Work *work, const List *list, const char *token, Consent consent, Subscription *subscription,
                   GError **error)
{
    g_autoptr(GError) missing = NULL;
    *subscription = (Subscription){.result = SUBSCRIPTION_BAD_TOKEN};
    g_autoptr(Pending) request = pending_find_token(work_store(work), token, work_now(work), &missing);
    if (!request && !g_error_matches(missing, FAIL, FAIL_MISSING)) {
        g_propagate_error(error, g_steal_pointer(&missing));
        return false;
    }
    if (!request && !held_post_confirm(work, list, token, &subscription->list_id, error))
        return false;
    if (subscription->list_id) {
        subscription->result = SUBSCRIPTION_POSTED;
        return true;
    }
    if (!request || (list && strcmp(request->list_id, list->list_id) != 0))
        return refuse(work, list, token, subscription, error);
    bool second = request->kind == PENDING_CHANGE_ADDRESS && request->facts & FACT_APPROVED, allowed;
    if (!guessing_allows(work, second ? request->detail : request->address, &allowed, error))
        return false;
    if (!allowed) {
        subscription->result = SUBSCRIPTION_GUESSING;
        return true;
    }
    g_autoptr(List) own = list_by_id(work_store(work), request->list_id, error);
    if (own && request->kind == PENDING_CHANGE_ADDRESS && consent != CONSENT_SAID) {
        subscription->result = SUBSCRIPTION_NOT_SAID;
        subscription_note(work, own, request, subscription);
        return true;
    }
    if (!own || !subscription_answered(work, own, request, error))
        return false;
    if (request->kind != PENDING_CHANGE_ADDRESS)
        request->facts = (request->facts | FACT_VERIFIED | FACT_CONFIRMED) & ~(unsigned)FACT_VOUCHED;
    else /* the address that goes is asked first, then the one that comes */
        request->facts |= second ? FACT_CONFIRMED : FACT_APPROVED;
    return subscription_advance(work, own, request, subscription, error);
}

void confirm_view_clear(ConfirmView *view)
{
    g_free(view->list_id);
    g_free(view->address);
    g_free(view->detail);
    *view = (ConfirmView){0};
}

bool confirm_peek(Work *work, const char *token, ConfirmView *view, GError **error)
{
    g_autoptr(GError) missing = NULL, no_post = NULL;
    g_auto(Subscription) why = {0};
    Store *store = work_store(work);
    *view = (ConfirmView){0};
    g_autoptr(Pending) request = pending_find_token(store, token, work_now(work), &missing);
    if (request) {
        *view = (ConfirmView){.kind = request->kind,
                              .list_id = g_strdup(request->list_id),
                              .address = g_strdup(request->address),
                              .detail = g_strdup(request->detail)};
        return true;
    }
    g_autoptr(Held) held = g_error_matches(missing, FAIL, FAIL_MISSING)
                               ? held_find_token(store, token, work_now(work), &no_post)
                               : NULL;
    if (held) {
        *view = (ConfirmView){.is_post = true, .list_id = g_strdup(held->list_id)};
        return true;
    }
    if (!no_post || !g_error_matches(no_post, FAIL, FAIL_MISSING)) {
        g_propagate_error(error, no_post ? g_steal_pointer(&no_post) : g_steal_pointer(&missing));
        return false;
    }
    if (!refuse(work, NULL, token, &why, error))
        return false;
    view->fate = why.fate;
    view->is_guessing = why.result == SUBSCRIPTION_GUESSING;
    return true;
}
