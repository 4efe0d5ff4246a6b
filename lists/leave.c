/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/leave.h"

#include "base/fail.h"
#include "base/mailbox.h"
#include "lists/subscription_internal.h"
#include "lists/workflow.h"
#include "store/email.h"

bool leave_ask(Work *work, const List *list, const char *address, unsigned facts, Subscription *subscription,
               GError **error)
{
    *subscription = (Subscription){.result = SUBSCRIPTION_BAD_ADDRESS, .kind = PENDING_LEAVE};
    if (!mailbox_valid(address)) {
        subscription->address = g_strdup(address);
        return true;
    }
    Member *found;
    if (!member_look_up(work_store(work), list->list_id, ROLE_MEMBER, address, &found, error))
        return false;
    g_autoptr(Member) member = found;
    if (!member) {
        subscription->result = SUBSCRIPTION_NO_CHANGE;
        subscription->list_id = g_strdup(list->list_id);
        subscription->address = g_strdup(address);
        return true;
    }
    Pending request = {.kind = PENDING_LEAVE, .list_id = list->list_id, .address = member->address,
                       .delivery_mode = -1, .delivery_status = -1, .facts = facts | FACT_VERIFIED};
    return subscription_ask(work, list, &request, subscription, error);
}

/* ---- signatures ---- */

typedef struct MemberSearch {
    const Work *work;
    const List *list;
    VerpRead *read;
    VerpResult result;
} MemberSearch;

static bool try_member(const Member *member, void *data)
{
    MemberSearch *search = data;
    if (verp_hash(member->address) != search->read->hash)
        return true;
    search->result = verp_confirm(work_site(search->work)->keys, VERP_UNSUBSCRIBE, search->list->list_id,
                                  member->address, work_now(search->work), search->read);
    return search->result == VERP_FORGED;
}

static bool leave_read(Work *work, const List *list, VerpResult result, VerpRead *read, Subscription *subscription,
                       GError **error)
{
    if (result == VERP_HASHED) {
        MemberSearch search = {work, list, read, VERP_FORGED};
        if (!member_each(work_store(work), list->list_id, ROLE_MEMBER, try_member, &search, error))
            return false;
        result = search.result;
    }
    *subscription = (Subscription){.result = SUBSCRIPTION_BAD_TOKEN, .kind = PENDING_LEAVE};
    return result != VERP_VALID ||
           leave_ask(work, list, read->recipient, FACT_VERIFIED | FACT_CONFIRMED, subscription, error);
}

bool leave_signed(Work *work, const List *list, const char *detail, Subscription *subscription, GError **error)
{
    g_auto(VerpRead) read = {0};
    g_autofree char *local = list_local(list, "leave", VERP_LIST_MAX);
    VerpList address = {list->list_id, local, list->mail_host, work_site(work)->delimiter};
    VerpResult result =
        verp_parse(work_site(work)->keys, VERP_UNSUBSCRIBE, &address, detail, work_now(work), &read);
    return leave_read(work, list, result, &read, subscription, error);
}

bool leave_token(Work *work, const List *list, const char *token, Subscription *subscription, GError **error)
{
    *subscription = (Subscription){.result = SUBSCRIPTION_BAD_TOKEN, .kind = PENDING_LEAVE};
    g_autoptr(GError) missing = NULL;
    g_autofree char *list_id = verp_token_list(token);
    g_autoptr(List) found = list_id && !list ? list_by_id(work_store(work), list_id, &missing) : NULL;
    if (!list && list_id && !found && !g_error_matches(missing, FAIL, FAIL_MISSING)) {
        g_propagate_error(error, g_steal_pointer(&missing));
        return false;
    }
    if (!list && !found)
        return true;
    list = list ? list : found;
    g_auto(VerpRead) read = {0};
    VerpResult result = verp_token_parse(work_site(work)->keys, VERP_UNSUBSCRIBE, list->list_id, token,
                                         work_now(work), &read);
    return leave_read(work, list, result, &read, subscription, error);
}
