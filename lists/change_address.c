/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/change_address.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mailbox.h"
#include "lists/join.h"
#include "lists/roster.h"
#include "lists/subscription_internal.h"
#include "lists/workflow.h"
#include "mail/address.h"

#define PAGE 100

/* Gives one membership to the new address; where that one has the role already, the old membership goes. */
static bool move_one(Work *work, const Member *member, const char *to, GError **error)
{
    g_autoptr(GError) refusal = NULL;
    if (roster_move(work, member, to, &refusal))
        return true;
    if (!g_error_matches(refusal, FAIL, FAIL_EXISTS)) {
        g_propagate_error(error, g_steal_pointer(&refusal));
        return false;
    }
    return roster_remove(work, member->list_id, member->role, member->address, error);
}

/* *moved: how many memberships there were. */
static bool move_all(Work *work, const char *from, const char *to, unsigned *moved, GError **error)
{
    Store *store = work_store(work);
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    criteria.address = from;
    g_autoptr(GPtrArray) page = NULL;
    *moved = 0;
    do { /* what was moved is not found again */
        g_clear_pointer(&page, g_ptr_array_unref);
        page = member_page(store, &criteria, NULL, PAGE, NULL, error);
        for (unsigned at = 0; page && at < page->len; at++, ++*moved)
            if (!move_one(work, page->pdata[at], to, error))
                return false;
    } while (page && page->len == PAGE);
    return page != NULL;
}

static bool do_change(Work *work, const List *list, Pending *request, SubscriptionResult *result, GError **error)
{
    Store *store = work_store(work);
    const char *from = request->address, *to = request->detail;
    unsigned moved;
    g_autoptr(KnownAddress) old = address_find(store, from, error);
    if (!old || (*old->user_id && !user_link_address(store, old->user_id, to, error)) ||
        (old->preferred && !user_set_preferred(store, to, error)) || !move_all(work, from, to, &moved, error) ||
        ((request->facts & FACT_CONFIRMED) && !address_set_verified(store, to, work_now(work), error)))
        return false;
    *result = SUBSCRIPTION_DONE;
    const TemplateValue values[] = {{"address", from}, {"new_address", to}, {0}};
    ListLetter told = {.template = "address_changed", .values = values, .to = to};
    return subscription_end(work, request, error) && work_letter(work, list, &told, error);
}

bool change_address_advance(Work *work, const List *list, Pending *request, Subscription *subscription, GError **error)
{
    const TemplateValue values[] = {{"new_address", request->detail}, {0}};
    TokenLetter old_is_asked = {"confirm_change_old", request->address, values};
    TokenLetter new_is_asked = {"confirm_change_new", request->detail, values};
    bool done;
    if (!(request->facts & FACT_APPROVED))
        done = subscription_send_token(work, list, request, &old_is_asked, &subscription->result, error);
    else if (!(request->facts & FACT_CONFIRMED))
        done = subscription_send_token(work, list, request, &new_is_asked, &subscription->result, error);
    else
        done = do_change(work, list, request, &subscription->result, error);
    if (done)
        subscription_note(work, list, request, subscription);
    return done;
}

/* Is the address on any list? */
static bool is_anywhere(Work *work, const char *address, bool *found, GError **error)
{
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    criteria.address = address;
    g_autoptr(GPtrArray) page = member_page(work_store(work), &criteria, NULL, 1, NULL, error);
    *found = page && page->len > 0;
    return page != NULL;
}

bool change_address_ask(Work *work, const List *list, const AddressChange *change, Subscription *subscription,
                        GError **error)
{
    bool found;
    g_autoptr(Pending) there = NULL;
    *subscription = (Subscription){.result = SUBSCRIPTION_BAD_ADDRESS, .kind = PENDING_CHANGE_ADDRESS};
    if (!mailbox_valid(change->old_address) || !mailbox_valid(change->new_address) ||
        join_is_own_address(list, change->new_address)) {
        subscription->address = g_strdup(change->new_address);
        return true;
    }
    Pending request = {.kind = PENDING_CHANGE_ADDRESS, .list_id = list->list_id,
                       .address = (char *)change->old_address, .detail = (char *)change->new_address,
                       .delivery_mode = -1, .delivery_status = -1, .made_at = work_now(work),
                       .facts = (change->old_agreed ? FACT_APPROVED : 0) | (change->new_agreed ? FACT_CONFIRMED : 0)};
    if (!is_anywhere(work, change->old_address, &found, error) ||
        !pending_find_like(work_store(work), &request, work_now(work), &there, error))
        return false;
    request.number = there ? there->number : 0;
    if (!found || address_same(change->old_address, change->new_address))
        subscription->result = SUBSCRIPTION_NO_CHANGE;
    else if (there && g_strcmp0(there->detail, request.detail) == 0 && request.facts == 0 &&
             work_now(work) - there->asked_at < SUBSCRIPTION_ASK_AGAIN)
        subscription->result = SUBSCRIPTION_PERSON_WAITS;
    else
        return change_address_advance(work, list, &request, subscription, error);
    subscription_note(work, list, &request, subscription);
    return true;
}
