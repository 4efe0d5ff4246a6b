/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/confirm.h"

#include <string.h>

#include "base/fail.h"
#include "lists/subscription_internal.h"
#include "lists/workflow.h"

bool confirm_token(Work *work, const List *list, const char *token, Subscription *subscription, GError **error)
{
    g_autoptr(GError) missing = NULL;
    *subscription = (Subscription){.result = SUBSCRIPTION_BAD_TOKEN};
    g_autoptr(Pending) request = pending_find_token(work_store(work), token, work_now(work), &missing);
    if (!request && !g_error_matches(missing, FAIL, FAIL_MISSING)) {
        g_propagate_error(error, g_steal_pointer(&missing));
        return false;
    }
    if (!request || (list && strcmp(request->list_id, list->list_id) != 0)) {
        work_log(work, list ? list->list_id : "-", "by=<%s> result=bad-token", work_by(work));
        return true;
    }
    g_autoptr(List) own = list_by_id(work_store(work), request->list_id, error);
    if (!own)
        return false;
    if (request->kind != PENDING_CHANGE_ADDRESS)
        request->facts |= FACT_VERIFIED | FACT_CONFIRMED;
    else /* the address that goes is asked first, then the one that comes */
        request->facts |= request->facts & FACT_APPROVED ? FACT_CONFIRMED : FACT_APPROVED;
    return subscription_advance(work, own, request, subscription, error);
}
