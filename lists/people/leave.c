/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/people/leave.h"

#include "base/fail.h"
#include "lists/people/subscription_internal.h"
#include "store/lists/list_setting.h"
#include "store/people/member.h"

/* ---- asking ---- */

/* Leaver holds the words of somebody who leaves. */
typedef struct Leaver {
    const Mailbox *address;
    unsigned facts;
    LeaveWay way;
} Leaver;

static bool ask(Work *work, const List *list, const Leaver *leaver, Subscription *subscription, GError **error)
{
    *subscription = (Subscription){.result = SUBSCRIPTION_BAD_ADDRESS, .kind = PENDING_LEAVE};
    if (!leaver->address->valid) {
        subscription->address = g_strdup(leaver->address->text);
        return true;
    }
    Member *found;
    if (!member_look_up(work_store(work), list->list_id, ROLE_MEMBER, leaver->address, &found, error))
        return false;
    g_autoptr(Member) member = found;
    if (!member) {
        subscription->result = SUBSCRIPTION_NO_CHANGE;
        subscription->list_id = g_strdup(list->list_id);
        subscription->address = g_strdup(leaver->address->text);
        return true;
    }
    g_autoptr(Mailbox) stored = mailbox_new(member->address); /* by which letters have come */
    Pending request = {.kind = PENDING_LEAVE,
                       .list_id = list->list_id,
                       .address = stored,
                       .delivery_mode = -1,
                       .delivery_status = -1,
                       .facts = leaver->facts | FACT_VERIFIED,
                       .way = (int)leaver->way};
    return subscription_ask(work, list, &request, subscription, error);
}

bool leave_ask(Work *work, const List *list, const Mailbox *address, unsigned facts, Subscription *subscription,
               GError **error)
{
    const Leaver leaver = {address, facts, leave_way_of(work_actor(work)->door)};
    return ask(work, list, &leaver, subscription, error);
}

bool leave_complained(Work *work, const List *list, const Mailbox *address, Subscription *subscription, GError **error)
{
    const Leaver leaver = {address, FACT_CONFIRMED, LEAVE_BY_COMPLAINT};
    return ask(work, list, &leaver, subscription, error);
}

/* ---- signatures ---- */

bool leave_signed(Work *work, const List *list, Hashed *hashed, const char *detail, Subscription *subscription,
                  GError **error)
{
    g_auto(VerpRead) read = {0};
    g_autofree char *local = list_local(list, "leave", VERP_LIST_MAX);
    VerpList address = {list->list_id, local, list->mail_host, work_site(work)->delimiter};
    const HashedProof proof = {work_site(work)->keys, VERP_UNSUBSCRIBE, &address, work_now(work)};
    VerpResult result;
    *subscription = (Subscription){.result = SUBSCRIPTION_BAD_TOKEN, .kind = PENDING_LEAVE};
    if (!hashed_parse(hashed, &proof, detail, &read, &result, error))
        return false;
    g_autoptr(Mailbox) recipient = mailbox_new(read.recipient);
    const Leaver leaver = {recipient, FACT_CONFIRMED, LEAVE_BY_MAIL};
    return result != VERP_VALID || ask(work, list, &leaver, subscription, error);
}

/* Reads the token of a link: *own (list_free()) is its list, else NULL and it is none of ours. */
static bool read_token(const Work *work, const char *token, List **own, VerpRead *read, GError **error)
{
    g_autoptr(GError) missing = NULL;
    g_autofree char *list_id = verp_token_list(token);
    g_autoptr(List) found = list_id ? list_by_id(work_store(work), list_id, &missing) : NULL;
    *own = NULL;
    if (missing && !g_error_matches(missing, FAIL, FAIL_MISSING))
        return fail_with(error, &missing);
    if (!found)
        return true;
    VerpResult result = verp_token_parse(work_site(work)->keys, VERP_UNSUBSCRIBE, found->list_id, token, work_now(work),
                                         read);
    if (result == VERP_VALID)
        *own = g_steal_pointer(&found);
    return true;
}

bool leave_token(Work *work, const char *token, LeaveWay way, Subscription *subscription, GError **error)
{
    List *own;
    g_auto(VerpRead) read = {0};
    *subscription = (Subscription){.result = SUBSCRIPTION_BAD_TOKEN, .kind = PENDING_LEAVE};
    if (!read_token(work, token, &own, &read, error))
        return false;
    g_autoptr(List) found = own;
    g_autoptr(Mailbox) recipient = mailbox_new(read.recipient);
    const Leaver leaver = {recipient, FACT_CONFIRMED, way};
    return !found || ask(work, found, &leaver, subscription, error);
}

void leave_view_clear(LeaveView *view)
{
    g_clear_pointer(&view->list_id, g_free);
    g_clear_pointer(&view->address, g_free);
}

bool leave_peek(const Work *work, const char *token, LeaveView *view, GError **error)
{
    List *own;
    Member *there = NULL;
    g_auto(VerpRead) read = {0};
    *view = (LeaveView){0};
    if (!read_token(work, token, &own, &read, error))
        return false;
    g_autoptr(List) found = own;
    if (!found)
        return true;
    g_autoptr(Mailbox) recipient = mailbox_new(read.recipient);
    if (!member_look_up(work_store(work), found->list_id, ROLE_MEMBER, recipient, &there, error))
        return false;
    view->list_id = g_strdup(found->list_id);
    view->address = g_strdup(read.recipient);
    view->is_member = there != NULL;
    view->moderated = workflow_next(found->settings->unsubscription_policy, FACT_CONFIRMED | FACT_VERIFIED) ==
                      WORKFLOW_ASK_MODERATOR;
    member_free(there);
    return true;
}
